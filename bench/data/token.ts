import { createCredential, deleteCredential, listCredentials } from "../../src/auth/credentials.ts";
import type { ClientCredentials } from "../../src/auth/credentials.ts";
import { withClient } from "../../src/postgres/client.ts";

const name = "Measurements";

/** Age at which access tokens are renewed, in milliseconds; they are valid for ten minutes. */
const renewedAfter = 4 * 60_000;

/** Creates an API credential with all scopes, and deletes the credentials of earlier runs. */
export function makeCredential(ownerUrl: string): Promise<ClientCredentials> {
  return withClient(ownerUrl, async (client) => {
    const earlier = (await listCredentials(client)).filter((credential) => credential.name === name);
    for (const { id } of earlier) await deleteCredential(client, id);
    return createCredential(client, { name, read: "all", write: "all" });
  });
}

/** Gets access tokens as a client does, from the service's token endpoint. */
export function tokensFrom(
  url: string,
  { clientId, clientSecret }: ClientCredentials,
): () => Promise<string> {
  let token = "";
  let renewAt = 0;
  return async () => {
    if (performance.now() < renewAt) return token;
    const response = await fetch(`${url}/api/oauth/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        grant_type: "client_credentials",
        client_id: clientId,
        client_secret: clientSecret,
      }),
    });
    if (!response.ok) throw new Error(`No token: HTTP ${response.status} ${await response.text()}`);
    token = ((await response.json()) as { access_token: string }).access_token;
    renewAt = performance.now() + renewedAfter;
    return token;
  };
}
