import type { PoolClient } from "pg";
import { credentialColumns } from "../../../auth/credentials.ts";
import type { CredentialOverview } from "../../../auth/credentials.ts";
import { html } from "../../../html/html.ts";
import type { Html } from "../../../html/html.ts";
import { requireFound } from "../../problem.ts";

/** Returns a link to the page of an API credential. */
export const credentialLink = ({ id, name }: { id: string; name: string }) => ({
  title: name,
  path: `/tokens/${id}`,
});

/** Reads all API credentials, by name, or one of them. */
export async function readCredentials(
  client: PoolClient,
  id: string | null = null,
): Promise<CredentialOverview[]> {
  const { rows } = await client.query<CredentialOverview>(
    `select ${credentialColumns} from administration.credentials($1)`,
    [id],
  );
  return rows;
}

/** Reads one API credential. */
export async function readCredential(client: PoolClient, id: string): Promise<CredentialOverview> {
  return requireFound((await readCredentials(client, id))[0]);
}

/** Badges with the state of an API credential. */
export function stateBadges({ active, deactivatedAt, oldKeyEndsAt }: CredentialOverview): Html {
  if (!active) return html`<span class="badge bad">${deactivatedAt ? "Deactivated" : "Expired"}</span>`;
  return html`<span class="badge good">Active</span
    >${oldKeyEndsAt && html` <span class="badge">Two client IDs</span>`}`;
}
