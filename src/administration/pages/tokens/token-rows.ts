import type { PoolClient } from "pg";
import { credentialColumns } from "../../../auth/credentials.ts";
import type { CredentialOverview } from "../../../auth/credentials.ts";
import { html } from "../../../html/html.ts";
import type { Html } from "../../../html/html.ts";
import { found } from "../../problem.ts";

/** The page of a token. */
export const linkTo = ({ id, name }: { id: string; name: string }) => ({
  title: name,
  path: `/tokens/${id}`,
});

/** All tokens, by name, or one. */
export async function readTokens(
  client: PoolClient,
  id: string | null = null,
): Promise<CredentialOverview[]> {
  const { rows } = await client.query<CredentialOverview>(
    `select ${credentialColumns} from administration.credentials($1)`,
    [id],
  );
  return rows;
}

/** One token. */
export async function readToken(client: PoolClient, id: string): Promise<CredentialOverview> {
  return found((await readTokens(client, id))[0]);
}

/** Whether a token is active, as a badge. */
export function stateBadges({ active, deactivatedAt, oldKeyEndsAt }: CredentialOverview): Html {
  if (!active) return html`<span class="badge bad">${deactivatedAt ? "Deactivated" : "Expired"}</span>`;
  return html`<span class="badge good">Active</span
    >${oldKeyEndsAt && html` <span class="badge">Two keys</span>`}`;
}
