import { open, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { ClientBase } from "pg";
import { createAdministrator } from "../auth/administrators.ts";
import { createCredential } from "../auth/credentials.ts";
import type { ClientCredentials } from "../auth/credentials.ts";
import { randomPassword } from "../auth/passwords.ts";
import { withClient } from "../postgres/client.ts";
import type { Identity } from "../cluster/postgres-user.ts";
import { isServed } from "../versions/lifetime.ts";
import { pathOf, versions } from "../versions/versions.ts";
import { say } from "./terminal.ts";

/** Secrets of a new shop. */
export interface FirstSecrets {
  credential: ClientCredentials | null;
  /** Password of the administrator “admin”. */
  password: string | null;
}

const isTableEmpty = async (client: ClientBase, table: string) =>
  (await client.query(`select from ${table} limit 1`)).rowCount === 0;

/** Makes a credential for trying out the service, and an administrator, if there is none. */
export function makeFirstSecrets(ownerUrl: string): Promise<FirstSecrets> {
  return withClient(ownerUrl, async (client) => {
    // Both or none, because none is shown when one fails
    await client.query("begin");
    const credential = (await isTableEmpty(client, "auth.credential"))
      ? await createCredential(client, { name: "First credential", read: "all", write: "all" })
      : null;
    const password = (await isTableEmpty(client, "auth.administrator")) ? randomPassword() : null;
    if (password !== null) await createAdministrator(client, "admin", password);
    await client.query("commit");
    return { credential, password };
  });
}

/** A file for secrets. */
export interface SecretsFile {
  path: string;
  handle: FileHandle;
}

/**
 * Makes a file for the first secrets that only its user may read, where they are to be made and no terminal shows them.
 *
 * @param identity the user whose file it is, when root makes it
 * @returns null when none is needed, or it can't be made
 */
export async function makeSecretsFile(
  ownerUrl: string,
  folder: string,
  identity: Identity | null,
): Promise<SecretsFile | null> {
  if (process.stderr.isTTY) return null;
  const isNeeded = await withClient(
    ownerUrl,
    async (client) =>
      (await isTableEmpty(client, "auth.credential")) || (await isTableEmpty(client, "auth.administrator")),
  );
  if (!isNeeded) return null;
  const path = join(folder, "first-secrets.txt");
  try {
    // One that is there may be open to others
    await rm(path, { force: true });
    const handle = await open(path, "wx", 0o600);
    if (identity !== null) await handle.chown(identity.uid, identity.gid);
    return { path, handle };
  } catch (error) {
    say(`Warning: ${path} can't be written (${(error as Error).message}), so the first secrets are printed.`);
    return null;
  }
}

/**
 * Shows secrets once: in a file, as the output may become a log that is kept, and read by others; or by printing them.
 */
export async function showFirstSecrets(
  secrets: FirstSecrets,
  address: string,
  file: SecretsFile | null,
): Promise<void> {
  const text = [administratorText(secrets), credentialText(secrets, address)].filter(Boolean).join("\n");
  if (text !== "" && file === null) return say(text);
  await file?.handle.writeFile(`${text.trim()}\n`);
  await file?.handle.close();
  if (file !== null)
    say(`
The first credential and the administrator's password are in ${file.path}, as this is no terminal.
Delete it when you have them: nothing else shows them again.`);
}

const administratorText = ({ password }: FirstSecrets): string =>
  password === null
    ? ""
    : `
Log in there as this administrator. The password is shown only now; \`npx erp admin --help\` tells more.

  name      admin
  password  ${password}`;

function credentialText({ credential }: FirstSecrets, address: string): string {
  if (credential === null) return "";
  const { clientId, clientSecret } = credential;
  const first = versions.find((version) => isServed(version, versions, Date.now()))!;
  return `
Here is a credential that may read and write everything. Its secret is shown only now;
\`npx erp credential create --help\` makes more.

  client_id      ${clientId}
  client_secret  ${clientSecret}

Get an access token, then ask something:

TOKEN=$(curl -s ${address}/api/oauth/token -H 'content-type: application/json' \\
  -d '{"grant_type":"client_credentials","client_id":"${clientId}","client_secret":"${clientSecret}"}' \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

curl -s ${address}${pathOf(first)} -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
  -d '{"query":"{ products(first: 3) { edges { node { id productNumber name availableStock } } } }"}'
`;
}
