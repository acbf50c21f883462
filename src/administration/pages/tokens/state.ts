import type { Response, Router } from "express";
import { csrfField } from "../../csrf.ts";
import { html } from "../../html.ts";
import type { Content } from "../../html.ts";
import { showPage } from "../../page.ts";
import { visitOf } from "../../visit.ts";
import { readToken, tokenTrail } from "./tokens.ts";

/** Confirmations before a token is deactivated or deleted, and these actions. */
export function statePages(router: Router): void {
  const setActive = (id: string, active: boolean, response: Response) =>
    visitOf(response).run((client) =>
      client.query("select administration.set_credential_active($1, $2)", [id, active]),
    );

  router.get("/:id/deactivate", (request, response) =>
    ask(response, request.params.id, {
      action: "deactivate",
      title: "Deactivate token",
      text: html`<p>
        Its client is refused from now on, also with access tokens that it has already. You can activate the
        token again, with the same key and secret.
      </p>`,
    }),
  );
  router.post("/:id/deactivate", async (request, response) => {
    await setActive(request.params.id, false, response);
    response.redirect(303, `/admin/tokens/${request.params.id}?done=deactivated`);
  });
  router.post("/:id/activate", async (request, response) => {
    await setActive(request.params.id, true, response);
    response.redirect(303, `/admin/tokens/${request.params.id}?done=activated`);
  });

  router.get("/:id/delete", (request, response) =>
    ask(response, request.params.id, {
      action: "delete",
      title: "Delete token",
      text: html`<p>
        Its client is refused from now on, and its counts of requests are deleted with it. This can’t be
        undone. What was done with it stays in the activity.
      </p>`,
    }),
  );
  router.post("/:id/delete", async (request, response) => {
    await visitOf(response).run((client) =>
      client.query("select administration.delete_credential($1)", [request.params.id]),
    );
    response.redirect(303, "/admin/tokens?done=deleted");
  });
}

interface Question {
  action: "deactivate" | "delete";
  title: string;
  text: Content;
}

async function ask(response: Response, id: string, { action, title, text }: Question): Promise<void> {
  const visit = visitOf(response);
  const token = await visit.run((client) => readToken(client, id));
  showPage(response, {
    title: `${title} “${token.name}”?`,
    trail: tokenTrail(token),
    body: html`
      <form method="post" action="/admin/tokens/${id}/${action}" class="card narrow">
        ${csrfField(visit)} ${text}
        <div class="actions">
          <button class="danger">${title}</button>
          <a class="button" href="/admin/tokens/${id}">Cancel</a>
        </div>
      </form>
    `,
  });
}
