import { randomUUID } from "node:crypto";
import { createClientCredentials } from "../../../auth/credentials.ts";
import { hashSecret } from "../../../lib/hash-secret.ts";
import { errorCodeOf } from "../../../errors/postgres-errors.ts";
import { html } from "../../../html/html.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { field, form, hasErrors, textField } from "../../forms.ts";
import type { FieldErrors } from "../../forms.ts";
import type { Pages } from "../../section.ts";
import type { Page } from "../../show-page.ts";
import { callInTransaction, callForValue } from "../../visit.ts";
import type { Visit } from "../../visit.ts";
import { accessErrors, accessFields, chosenScopes, noAccessOption, readScopes } from "./token-access.ts";
import { secretPage } from "./token-rotation.ts";
import { credentialLink, readCredential } from "./token-rows.ts";

/** The forms to create an API credential, and to change its name and access. */
export const credentialForms: Pages = {
  "GET /new": async (visit) => {
    const known = await visit.run(readScopes);
    return newPage(visit, { id: randomUUID(), name: "", scopes: [], known });
  },

  "POST /new": async (visit) => {
    const known = await visit.run(readScopes);
    const given = textField(visit, "id");
    const id = isUuid(given) ? given : randomUUID();
    const name = textField(visit, "name");
    const scopes = chosenScopes(visit, known);
    const errors = { ...nameErrors(name), ...accessErrors(visit, scopes) };
    if (hasErrors(errors)) return newPage(visit, { id, name, scopes, known, errors });
    const { clientId, clientSecret } = createClientCredentials();
    const values = [id, name, scopes, clientId, hashSecret(clientSecret)];
    try {
      await callInTransaction(visit, "create_credential($1, $2, $3, $4, $5)", ...values);
    } catch (error) {
      // unique_violation: the form was sent twice, for example by reloading the page with the secret
      if (errorCodeOf(error) !== "23505") throw error;
      return `/admin/tokens/${id}?done=repeated`;
    }
    return secretPage("API credential created", { id, name, clientId, clientSecret }, visit.origin);
  },

  "GET /:id/change": (visit, id) =>
    visit.run(async (client) => {
      const token = await readCredential(client, id);
      return changePage(visit, token.name, { ...token, known: await readScopes(client) });
    }),

  "POST /:id/change": (visit, id) =>
    visit.run(async (client) => {
      const token = await readCredential(client, id);
      const known = await readScopes(client);
      const name = textField(visit, "name");
      const scopes = chosenScopes(visit, known);
      const storedOperationsOnly = textField(visit, "operations") === "stored";
      const errors = nameErrors(name);
      if (hasErrors(errors))
        return changePage(visit, token.name, { id, name, scopes, storedOperationsOnly, known, errors });
      await callForValue(client, "change_credential($1, $2, $3)", id, name, scopes);
      await callForValue(client, "restrict_operations($1, $2)", id, storedOperationsOnly);
      return `/admin/tokens/${id}?done=changed`;
    }),
};

/** The values entered into a form. */
interface FormValues {
  id: string;
  name: string;
  scopes: string[];
  storedOperationsOnly?: boolean;
  known: string[];
  errors?: FieldErrors;
}

function newPage(visit: Visit, { id, name, scopes, known, errors = {} }: FormValues): Page {
  return {
    title: "New API credential",
    errors,
    body: form(visit, {
      fields: html`
        <input type="hidden" name="id" value="${id}" />
        ${nameField(
          name,
          errors,
          "A name for the client, such as “Warehouse app”. Lists and the activity log show it.",
        )}
        ${accessFields(known, scopes)} ${"access" in errors && noAccessOption(errors.access)}
      `,
      submit: "Create API credential",
      cancel: "/tokens",
    }),
  };
}

/** @param token the name before the change */
function changePage(visit: Visit, token: string, entered: FormValues): Page {
  const { id, name, scopes, storedOperationsOnly, known, errors = {} } = entered;
  const within = credentialLink({ id, name: token });
  return {
    title: "Change name and access",
    within,
    errors,
    body: form(visit, {
      fields: html`
        ${nameField(name, errors)} ${accessFields(known, scopes)}
        <p class="quiet">
          Removed access ends at once. Added access comes with the next access token, within ten minutes.
        </p>
        <label class="option">
          <input type="checkbox" name="operations" value="stored" ${storedOperationsOnly && "checked"} />
          <span
            ><strong>Stored operations only</strong> All other operations are refused.
            <code>npx erp operations</code> stores them.</span
          >
        </label>
      `,
      submit: "Save",
      cancel: within.path,
    }),
  };
}

const nameField = (value: string, errors: FieldErrors, hint?: string) =>
  field({ name: "name", label: "Name", value, hint, errors, autocomplete: "off", maxlength: 100 });

/** Checks the name of an API credential. */
function nameErrors(name: string): FieldErrors {
  if (name === "") return { name: "Enter a name for the API credential." };
  if ([...name].length > 100) return { name: "The name has more than 100 characters." };
  // \p{Cc}: control characters, of which Postgres refuses the null character
  return /\p{Cc}/u.test(name) ? { name: "The name contains a character that can’t be shown." } : {};
}
