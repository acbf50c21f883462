import { createClientCredentials } from "../../../auth/credentials.ts";
import { hashSecret } from "../../../lib/hash-secret.ts";
import type { ClientCredentials } from "../../../auth/credentials.ts";
import { html } from "../../../html/html.ts";
import { copyable } from "../../formats.ts";
import { choice, form, textField } from "../../forms.ts";
import { badRequest } from "../../problem.ts";
import type { Pages } from "../../section.ts";
import type { Page } from "../../show-page.ts";
import { callForValue } from "../../visit.ts";
import { credentialLink, readCredential } from "./token-rows.ts";

/** The overlaps to choose from, in hours. */
const overlaps = [
  { value: "0", label: "At once", hint: "If the secret may have leaked." },
  { value: "1", label: "After 1 hour", hint: "" },
  { value: "24", label: "After 24 hours", hint: "" },
  { value: "168", label: "After 7 days", hint: "If you update several clients one by one." },
];

/** The form that rotates an API credential, and the page with the new secret. */
export const rotationPages: Pages = {
  "GET /:id/rotate": async (visit, id) => {
    const token = await visit.run((client) => readCredential(client, id));
    if (!token.active) return `/admin/tokens/${id}?done=inactive`;
    const within = credentialLink(token);
    return {
      title: "Rotate API credential",
      within,
      body: form(visit, {
        fields: html`
          <input type="hidden" name="present" value="${token.clientId}" />
          <p>The API credential gets a new client ID and client secret. Its name and access stay.</p>
          ${choice({
            name: "overlap",
            legend: "When do the old client ID and secret stop working?",
            hint: "Their access tokens stop at the same time.",
            options: overlaps,
            chosen: "0",
          })}
        `,
        submit: "Rotate API credential",
        cancel: within.path,
      }),
    };
  },

  "POST /:id/rotate": async (visit, id) => {
    const overlap = overlaps.find(({ value }) => value === textField(visit, "overlap"));
    if (!overlap) throw badRequest();
    const { clientId, clientSecret } = createClientCredentials();
    const values = [id, textField(visit, "present"), clientId, hashSecret(clientSecret), overlap.value];
    return visit.run(async (client) => {
      const token = await readCredential(client, id);
      if (!token.active) return `/admin/tokens/${id}?done=inactive`;
      const call = "rotate_credential($1, $2, $3, $4, make_interval(hours => $5))";
      if (!(await callForValue(client, call, ...values))) return `/admin/tokens/${id}?done=rotated`;
      return secretPage(
        "API credential rotated",
        { id, name: token.name, clientId, clientSecret },
        visit.origin,
      );
    });
  },
};

/** Shows a new client ID and secret. The secret is only in this response: the database has its hash. */
export function secretPage(
  title: string,
  issued: ClientCredentials & { name: string },
  origin: string,
): Page {
  return {
    title,
    within: credentialLink(issued),
    body: html`
      <div class="notice warning" role="status">
        <h2>Copy the secret now</h2>
        <p>
          It is shown only once and can’t be looked up later. Store it where your client keeps its passwords.
          If you lose it, rotate the API credential.
        </p>
      </div>
      <div class="card">
        ${copyable("Client ID", "client_id of the token endpoint; may be logged", issued.clientId, "client-id")}
        ${copyable("Client secret", "client_secret of the token endpoint; keep it secret", issued.clientSecret, "secret")}
        ${copyable("Token endpoint", "exchanges client ID and client secret for access tokens", `${origin}/api/oauth/token`, "endpoint")}
      </div>
      <div class="actions"><a class="button main" href="/admin/tokens/${issued.id}">I have copied it</a></div>
    `,
  };
}
