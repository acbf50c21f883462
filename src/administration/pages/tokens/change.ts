import type { Response, Router } from "express";
import type { CredentialOverview } from "../../../auth/credentials.ts";
import { csrfField } from "../../csrf.ts";
import { errorSummary, field, textField } from "../../forms.ts";
import type { FieldErrors } from "../../forms.ts";
import { html } from "../../html.ts";
import { showPage } from "../../page.ts";
import { visitOf } from "../../visit.ts";
import { accessFields, chosenScopes, readScopes } from "./access.ts";
import { nameErrors } from "./names.ts";
import { operationsOption } from "./operations.ts";
import { readToken, tokenTrail } from "./tokens.ts";

/** The form for name and access of a token. */
export function changePages(router: Router): void {
  router.get("/:id/change", async (request, response) => {
    const { run } = visitOf(response);
    const [token, known] = await run(
      async (client) => [await readToken(client, request.params.id), await readScopes(client)] as const,
    );
    show(response, { ...token, token, known });
  });

  router.post("/:id/change", async (request, response) => {
    const { run } = visitOf(response);
    const { id } = request.params;
    const name = textField(request, "name");
    const entered = await run(async (client) => {
      const token = await readToken(client, id);
      const known = await readScopes(client);
      const storedOperationsOnly = textField(request, "operations") === "stored";
      return { token, known, name, scopes: chosenScopes(request, known), storedOperationsOnly };
    });
    const errors = nameErrors(name);
    if (Object.keys(errors).length > 0) return show(response, { ...entered, errors });
    await run(async (client) => {
      await client.query("select administration.change_credential($1, $2, $3)", [id, name, entered.scopes]);
      await client.query("select administration.restrict_operations($1, $2)", [
        ...[id, entered.storedOperationsOnly],
      ]);
    });
    response.redirect(303, `/admin/tokens/${id}?done=changed`);
  });
}

interface Entered {
  token: CredentialOverview;
  known: string[];
  name: string;
  scopes: string[];
  storedOperationsOnly: boolean;
  errors?: FieldErrors;
}

function show(response: Response, entered: Entered): void {
  const { token, known, name, scopes, storedOperationsOnly, errors = {} } = entered;
  const hasErrors = Object.keys(errors).length > 0;
  showPage(response, {
    status: hasErrors ? 422 : 200,
    title: "Change name and access",
    prefix: hasErrors ? "Error: " : "",
    trail: tokenTrail(token),
    body: html`
      ${errorSummary(errors)}
      <form method="post" action="/admin/tokens/${token.id}/change" class="card" novalidate>
        ${csrfField(visitOf(response))}
        ${field({ name: "name", label: "Name", value: name, errors, autocomplete: "off", maxlength: 100 })}
        ${accessFields(known, scopes)}
        <p class="quiet">
          Access that you take away is gone at once. Access that you add comes with the next access token,
          within ten minutes.
        </p>
        ${operationsOption(storedOperationsOnly)}
        <div class="actions">
          <button class="main">Save</button>
          <a class="button" href="/admin/tokens/${token.id}">Cancel</a>
        </div>
      </form>
    `,
  });
}
