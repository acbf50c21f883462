import type { Response, Router } from "express";
import { showQuestion } from "../../show-page.ts";
import { visitOf } from "../../visit.ts";
import { readToken, tokenTrail } from "./token-rows.ts";

const questions = {
  deactivate: {
    title: "Deactivate token",
    text: "Its client is refused from now on, also with access tokens that it has already. You can activate the token again, with the same key and secret.",
  },
  delete: {
    title: "Delete token",
    text: "Its client is refused from now on, and its counts of requests are deleted with it. This can’t be undone. What was done with it stays in the activity.",
  },
};

/** Confirmations before a token is deactivated or deleted, and these actions. */
export function statePages(router: Router): void {
  for (const action of ["deactivate", "delete"] as const)
    router.get(`/:id/${action}`, async (request, response) => {
      const token = await visitOf(response).run((client) => readToken(client, request.params.id));
      const { title, text } = questions[action];
      showQuestion(response, {
        title: `${title} “${token.name}”?`,
        trail: tokenTrail(token),
        text,
        action: `/tokens/${token.id}/${action}`,
        submit: title,
        cancel: `/tokens/${token.id}`,
      });
    });

  const call = (response: Response, statement: string, id: string) =>
    visitOf(response).run((client) => client.query(statement, [id]));

  router.post("/:id/deactivate", async (request, response) => {
    const { id } = request.params;
    await call(response, "select administration.set_credential_active($1, false)", id);
    response.redirect(303, `/admin/tokens/${id}?done=deactivated`);
  });
  router.post("/:id/activate", async (request, response) => {
    const { id } = request.params;
    await call(response, "select administration.set_credential_active($1, true)", id);
    response.redirect(303, `/admin/tokens/${id}?done=activated`);
  });
  router.post("/:id/delete", async (request, response) => {
    await call(response, "select administration.delete_credential($1)", request.params.id);
    response.redirect(303, "/admin/tokens?done=deleted");
  });
}
