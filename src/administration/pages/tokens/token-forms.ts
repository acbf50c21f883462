import { codeOf } from "../../../errors/postgres-errors.ts";
import { randomUUID } from "node:crypto";
import type { Response, Router } from "express";
import { createClientCredentials, hashOfSecret } from "../../../auth/credentials.ts";
import type { CredentialOverview } from "../../../auth/credentials.ts";
import { html } from "../../../html/html.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { field, form, hasErrors, textField } from "../../forms.ts";
import type { FieldErrors } from "../../forms.ts";
import { showPage } from "../../show-page.ts";
import { visitOf } from "../../visit.ts";
import { accessErrors, accessFields, chosenScopes, noAccessOption, readScopes } from "./token-access.ts";
import { showSecretPage } from "./token-rotation.ts";
import { readToken, tokensTrail, tokenTrail } from "./token-rows.ts";

/** The forms for a new token, and for name and access of one. */
export function tokenForms(router: Router): void {
  router.get("/new", async (_request, response) => {
    const known = await visitOf(response).run(readScopes);
    showNew(response, { id: randomUUID(), name: "", scopes: [], known });
  });

  router.post("/new", async (request, response) => {
    const { run } = visitOf(response);
    const known = await run(readScopes);
    const given = textField(request, "id");
    const id = isUuid(given) ? given : randomUUID();
    const name = textField(request, "name");
    const scopes = chosenScopes(request, known);
    const errors = { ...nameErrors(name), ...accessErrors(request, scopes) };
    if (hasErrors(errors)) return showNew(response, { id, name, scopes, known, errors });
    const { clientId, clientSecret } = createClientCredentials();
    const values = [id, name, scopes, clientId, hashOfSecret(clientSecret)];
    try {
      await run((client) =>
        client.query("select administration.create_credential($1, $2, $3, $4, $5)", values),
      );
    } catch (error) {
      // unique_violation: the form was sent again, for example by reloading the page with the secret
      if (codeOf(error) !== "23505") throw error;
      return response.redirect(303, `/admin/tokens/${id}?done=repeated`);
    }
    showSecretPage(response, "Token created", { id, name, clientId, clientSecret });
  });

  router.get("/:id/change", async (request, response) => {
    const { run } = visitOf(response);
    const [token, known] = await run(
      async (client) => [await readToken(client, request.params.id), await readScopes(client)] as const,
    );
    showChange(response, token, { ...token, known });
  });

  router.post("/:id/change", async (request, response) => {
    const { run } = visitOf(response);
    const { id } = request.params;
    const [token, known] = await run(
      async (client) => [await readToken(client, id), await readScopes(client)] as const,
    );
    const name = textField(request, "name");
    const scopes = chosenScopes(request, known);
    const storedOperationsOnly = textField(request, "operations") === "stored";
    const errors = nameErrors(name);
    if (hasErrors(errors))
      return showChange(response, { ...token, storedOperationsOnly }, { id, name, scopes, known, errors });
    await run(async (client) => {
      await client.query("select administration.change_credential($1, $2, $3)", [id, name, scopes]);
      await client.query("select administration.restrict_operations($1, $2)", [id, storedOperationsOnly]);
    });
    response.redirect(303, `/admin/tokens/${id}?done=changed`);
  });
}

/** Entered into a form. */
interface Entered {
  id: string;
  name: string;
  scopes: string[];
  known: string[];
  errors?: FieldErrors;
}

function showNew(response: Response, { id, name, scopes, known, errors = {} }: Entered): void {
  showPage(response, {
    title: "New token",
    trail: [tokensTrail],
    errors,
    body: form(visitOf(response), {
      action: "/tokens/new",
      fields: html`
        <input type="hidden" name="id" value="${id}" />
        ${nameField(
          name,
          errors,
          "A name for the client, such as “Warehouse app”. Lists and the activity show it.",
        )}
        ${accessFields(known, scopes)} ${"access" in errors && noAccessOption(errors.access)}
      `,
      submit: "Create token",
      cancel: "/tokens",
    }),
  });
}

function showChange(response: Response, token: CredentialOverview, entered: Entered): void {
  const { id, name, scopes, known, errors = {} } = entered;
  showPage(response, {
    title: "Change name and access",
    trail: tokenTrail(token),
    errors,
    body: form(visitOf(response), {
      action: `/tokens/${id}/change`,
      fields: html`
        ${nameField(name, errors)} ${accessFields(known, scopes)}
        <p class="quiet">
          Access that you take away is gone at once. Access that you add comes with the next access token,
          within ten minutes.
        </p>
        <label class="option">
          <input
            type="checkbox"
            name="operations"
            value="stored"
            ${token.storedOperationsOnly && "checked"}
          />
          <span
            ><strong>Stored operations only</strong> All others are refused.
            <code>npx erp operations</code> stores them.</span
          >
        </label>
      `,
      submit: "Save",
      cancel: `/tokens/${id}`,
    }),
  });
}

const nameField = (value: string, errors: FieldErrors, hint?: string) =>
  field({ name: "name", label: "Name", value, hint, errors, autocomplete: "off", maxlength: 100 });

/** Errors in a token's name. */
function nameErrors(name: string): FieldErrors {
  if (name === "") return { name: "Enter a name for the token." };
  if ([...name].length > 100) return { name: "The name has more than 100 characters." };
  // \p{Cc}: control characters, of which Postgres refuses the null character
  return /\p{Cc}/u.test(name) ? { name: "The name contains a character that can’t be shown." } : {};
}
