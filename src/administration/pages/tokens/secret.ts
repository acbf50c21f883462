import type { Response } from "express";
import type { Content } from "../../html.ts";
import { html } from "../../html.ts";
import { showPage } from "../../page.ts";
import { visitOf } from "../../visit.ts";
import { copyable } from "../../copyable.ts";
import { tokensTrail } from "./tokens.ts";

export interface Issued {
  id: string;
  name: string;
  clientId: string;
  clientSecret: string;
}

/** Shows new client credentials. The secret is in this answer only: the database has its hash. */
export function showSecretPage(
  response: Response,
  title: string,
  { id, name, ...issued }: Issued,
  also?: Content,
): void {
  const { origin } = visitOf(response);
  showPage(response, {
    title,
    trail: [tokensTrail, { title: name, path: `/tokens/${id}` }],
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
      ${also}
      <div class="actions"><a class="button main" href="/admin/tokens/${id}">I have copied it</a></div>
    `,
  });
}
