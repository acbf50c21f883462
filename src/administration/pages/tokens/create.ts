import { randomUUID } from "node:crypto";
import type { Response, Router } from "express";
import { hashOfSecret, createClientCredentials } from "../../../auth/credentials.ts";
import { csrfField } from "../../csrf.ts";
import { errorSummary, field, textField } from "../../forms.ts";
import type { FieldErrors } from "../../forms.ts";
import { html } from "../../html.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { showPage } from "../../page.ts";
import { visitOf } from "../../visit.ts";
import { accessErrors, accessFields, chosenScopes, noAccessOption, readScopes } from "./access.ts";
import { nameErrors } from "./names.ts";
import { showSecretPage } from "./secret.ts";
import { tokensTrail } from "./tokens.ts";

interface Entered {
  id: string;
  name: string;
  scopes: string[];
  known: string[];
  errors?: FieldErrors;
}

/** The form for a new token, and the page with its secret. */
export function createPages(router: Router): void {
  router.get("/new", async (_request, response) => {
    const known = await visitOf(response).run(readScopes);
    show(response, { id: randomUUID(), name: "", scopes: [], known });
  });

  router.post("/new", async (request, response) => {
    const { run } = visitOf(response);
    const known = await run(readScopes);
    const given = textField(request, "id");
    const entered = {
      id: isUuid(given) ? given : randomUUID(),
      name: textField(request, "name"),
      scopes: chosenScopes(request, known),
      known,
    };
    const errors = { ...nameErrors(entered.name), ...accessErrors(request, entered.scopes) };
    if (Object.keys(errors).length > 0) return show(response, { ...entered, errors });
    const { id, name, scopes } = entered;
    const issued = createClientCredentials();
    const isNew = await run((client) =>
      client
        .query("select administration.create_credential($1, $2, $3, $4, $5)", [
          ...[id, name, scopes],
          ...[issued.clientId, hashOfSecret(issued.clientSecret)],
        ])
        .then(() => true),
    ).catch((error: unknown) => {
      // unique_violation: the form was sent again, for example by reloading the page with the secret
      if (error instanceof Error && "code" in error && error.code === "23505") return false;
      throw error;
    });
    if (!isNew) return response.redirect(303, `/admin/tokens/${id}?done=repeated`);
    showSecretPage(response, "Token created", { id, name, ...issued });
  });
}

function show(response: Response, { id, name, scopes, known, errors = {} }: Entered): void {
  const hasErrors = Object.keys(errors).length > 0;
  showPage(response, {
    status: hasErrors ? 422 : 200,
    title: "New token",
    prefix: hasErrors ? "Error: " : "",
    trail: [tokensTrail],
    body: html`
      ${errorSummary(errors)}
      <form method="post" action="/admin/tokens/new" class="card" novalidate>
        ${csrfField(visitOf(response))}
        <input type="hidden" name="id" value="${id}" />
        ${field({
          name: "name",
          label: "Name",
          value: name,
          hint: "A name for the client, such as “Warehouse app”. Lists and the activity show it.",
          errors,
          autocomplete: "off",
          maxlength: 100,
        })}
        ${accessFields(known, scopes)} ${"access" in errors && noAccessOption(errors.access)}
        <div class="actions">
          <button class="main">Create token</button>
          <a class="button" href="/admin/tokens">Cancel</a>
        </div>
      </form>
    `,
  });
}
