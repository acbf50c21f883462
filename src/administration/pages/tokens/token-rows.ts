import type { PoolClient } from "pg";
import { credentialOf } from "../../../auth/credentials.ts";
import type { CredentialOverview, CredentialRow } from "../../../auth/credentials.ts";
import { html } from "../../../html/html.ts";
import type { Html } from "../../../html/html.ts";
import { missing } from "../../problem.ts";
import { rowsOf } from "../../visit.ts";

/** Links above the pages of tokens. */
export const tokensTrail = { title: "GraphQL API tokens", path: "/tokens" };

/** Links above the pages of one token. */
export const tokenTrail = ({ id, name }: { id: string; name: string }) => [
  tokensTrail,
  { title: name, path: `/tokens/${id}` },
];

/** All tokens, by name. */
export async function readTokens(client: PoolClient): Promise<CredentialOverview[]> {
  return (await rowsOf<CredentialRow>(client, "credentials()")).map(credentialOf);
}

/** One token. */
export async function readToken(client: PoolClient, id: string): Promise<CredentialOverview> {
  const [row] = await rowsOf<CredentialRow>(client, "credentials($1)", id);
  if (!row) throw missing();
  return credentialOf(row);
}

/** Whether a token is active, as a badge. */
export function stateBadges({ active, deactivatedAt, oldKeyEndsAt }: CredentialOverview): Html {
  if (!active) return html`<span class="badge bad">${deactivatedAt ? "Deactivated" : "Expired"}</span>`;
  return html`<span class="badge good">Active</span
    >${oldKeyEndsAt && html` <span class="badge">Two keys</span>`}`;
}
