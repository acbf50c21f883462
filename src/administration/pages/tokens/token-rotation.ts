import type { Response, Router } from "express";
import { createClientCredentials, hashOfSecret } from "../../../auth/credentials.ts";
import type { ClientCredentials } from "../../../auth/credentials.ts";
import { html } from "../../../html/html.ts";
import { copyable } from "../../copyable.ts";
import { choice, form, textField } from "../../forms.ts";
import { showPage } from "../../show-page.ts";
import { malformed } from "../../problem.ts";
import { visitOf } from "../../visit.ts";
import { readToken, tokenTrail } from "./token-rows.ts";

/** Overlaps that are offered, in hours. */
const overlaps = [
  { value: "0", label: "At once", hint: "If the secret may have leaked." },
  { value: "1", label: "After 1 hour", hint: "" },
  { value: "24", label: "After 24 hours", hint: "" },
  { value: "168", label: "After 7 days", hint: "When clients get the new credentials one after another." },
];

/** The form to rotate a token's credentials, and the page with the secret. */
export function rotationPages(router: Router): void {
  router.get("/:id/rotate", async (request, response) => {
    const visit = visitOf(response);
    const token = await visit.run((client) => readToken(client, request.params.id));
    if (!token.active) return response.redirect(303, `/admin/tokens/${token.id}?done=inactive`);
    showPage(response, {
      title: "Rotate token",
      trail: tokenTrail(token),
      body: form(visit, {
        action: `/tokens/${token.id}/rotate`,
        fields: html`
          <input type="hidden" name="present" value="${token.clientId}" />
          <p>The token gets a new access key and secret. Its name and access stay.</p>
          ${choice({
            name: "overlap",
            legend: "When do the old credentials stop?",
            hint: "Access tokens that were issued for it stop at the same time.",
            options: overlaps,
            chosen: "0",
          })}
        `,
        submit: "Rotate token",
        cancel: `/tokens/${token.id}`,
      }),
    });
  });

  router.post("/:id/rotate", async (request, response) => {
    const { run } = visitOf(response);
    const { id } = request.params;
    const overlap = overlaps.find(({ value }) => value === textField(request, "overlap"));
    if (!overlap) throw malformed();
    const { clientId, clientSecret } = createClientCredentials();
    const present = textField(request, "present");
    const values = [id, present, clientId, hashOfSecret(clientSecret), Number(overlap.value)];
    const { token, isDone } = await run(async (client) => {
      const token = await readToken(client, id);
      if (!token.active) return { token, isDone: false };
      const { rows } = await client.query<{ done: boolean }>(
        "select administration.rotate_credential($1, $2, $3, $4, make_interval(hours => $5)) as done",
        values,
      );
      return { token, isDone: rows[0]!.done };
    });
    if (!isDone)
      return response.redirect(303, `/admin/tokens/${id}?done=${token.active ? "rotated" : "inactive"}`);
    showSecretPage(response, "Token rotated", { id, name: token.name, clientId, clientSecret });
  });
}

/** Shows new client credentials. The secret is in this answer only: the database has its hash. */
export function showSecretPage(
  response: Response,
  title: string,
  issued: ClientCredentials & { name: string },
): void {
  const { origin } = visitOf(response);
  showPage(response, {
    title,
    trail: tokenTrail(issued),
    body: html`
      <div class="notice warning" role="status">
        <h2>Copy the secret now</h2>
        <p>
          It is shown only now, and cannot be looked up later. Store it where your client keeps its passwords.
          If you lose it, rotate the token.
        </p>
      </div>
      <div class="card">
        ${copyable("Access key", "client_id of the token endpoint; may be logged", issued.clientId, "access-key")}
        ${copyable("Secret access key", "client_secret of the token endpoint; keep it secret", issued.clientSecret, "secret")}
        ${copyable("Token endpoint", "exchanges the two for access tokens", `${origin}/api/oauth/token`, "endpoint")}
      </div>
      <div class="actions"><a class="button main" href="/admin/tokens/${issued.id}">I have copied it</a></div>
    `,
  });
}
