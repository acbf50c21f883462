import type { Router } from "express";
import { hashOfSecret, createClientCredentials } from "../../../auth/credentials.ts";
import { csrfField } from "../../csrf.ts";
import { choice, textField } from "../../forms.ts";
import { html } from "../../html.ts";
import { showPage } from "../../page.ts";
import { Problem } from "../../problem.ts";
import { visitOf } from "../../visit.ts";
import { showSecretPage } from "./secret.ts";
import { readToken, tokenTrail } from "./tokens.ts";

/** Overlaps that are offered, in hours. */
const overlaps = [
  { value: "0", label: "At once", hint: "If the secret may have leaked." },
  { value: "1", label: "After 1 hour", hint: "" },
  { value: "24", label: "After 24 hours", hint: "" },
  { value: "168", label: "After 7 days", hint: "When clients get the new credentials one after another." },
];

/** The form to rotate a token's credentials, and the page with the secret. */
export function rotatePages(router: Router): void {
  router.get("/:id/rotate", async (request, response) => {
    const visit = visitOf(response);
    const token = await visit.run((client) => readToken(client, request.params.id));
    if (!token.active) return response.redirect(303, `/admin/tokens/${token.id}?done=inactive`);
    showPage(response, {
      title: "Rotate token",
      trail: tokenTrail(token),
      body: html`
        <form method="post" action="/admin/tokens/${token.id}/rotate" class="card">
          ${csrfField(visit)}
          <input type="hidden" name="present" value="${token.clientId}" />
          <p>The token gets a new access key and secret. Its name and access stay.</p>
          ${choice({
            name: "overlap",
            legend: "When do the old credentials stop?",
            hint: "Access tokens that were issued for it stop at the same time.",
            options: overlaps,
            chosen: "0",
          })}
          <div class="actions">
            <button class="main">Rotate token</button>
            <a class="button" href="/admin/tokens/${token.id}">Cancel</a>
          </div>
        </form>
      `,
    });
  });

  router.post("/:id/rotate", async (request, response) => {
    const { run } = visitOf(response);
    const { id } = request.params;
    const overlap = overlaps.find(({ value }) => value === textField(request, "overlap"));
    if (!overlap) throw new Problem(400, "malformed");
    const issued = createClientCredentials();
    const { token, isDone } = await run(async (client) => {
      const token = await readToken(client, id);
      if (!token.active) return { token, isDone: false };
      const { rows } = await client.query<{ done: boolean }>(
        "select administration.rotate_credential($1, $2, $3, $4, make_interval(hours => $5)) as done",
        [
          id,
          textField(request, "present"),
          issued.clientId,
          hashOfSecret(issued.clientSecret),
          Number(overlap.value),
        ],
      );
      return { token, isDone: rows[0]!.done };
    });
    if (!isDone)
      return response.redirect(303, `/admin/tokens/${id}?done=${token.active ? "rotated" : "inactive"}`);
    showSecretPage(response, "Token rotated", { id, name: token.name, ...issued });
  });
}
