import type { ClientBase } from "pg";
import { UserError } from "../errors/user-error.ts";
import { readStoredSecrets, requireKeysFor } from "./require-keys.ts";
import { secretKinds, secretPlace, UnreadableSecret } from "./secrets.ts";
import type { SecretKind, Secrets } from "./secrets.ts";

/** The number of rows that one transaction changes and locks. */
const batch = 100;

/**
 * Encrypts stored secrets with the current key if they are plain text or encrypted with another key. If it is
 * interrupted, it can be run again.
 *
 * @param connection a connection of the owner
 * @returns the number of encrypted secrets, by kind
 * @throws {UserError} when SECRETS_KEY is not set, or lacks a key for decryption
 */
export async function encryptStored(
  connection: ClientBase,
  secrets: Secrets,
): Promise<Record<SecretKind, number>> {
  if (secrets.currentKeyId === null) {
    throw new UserError(
      "SECRETS_KEY is not set. Generate a key by `openssl rand -base64 32`, keep it apart from the database and its backups, " +
        "and set it for every process and for this command.",
    );
  }
  requireKeysFor(await readStoredSecrets(connection), secrets);
  const counts = { "signing key": 0, "valuation key": 0, "webhook secret": 0, "carrier secret": 0 };
  for (const kind of Object.keys(secretKinds) as SecretKind[]) {
    let count;
    do {
      count = await encryptBatch(connection, secrets, kind);
      counts[kind] += count;
    } while (count === batch);
  }
  return counts;
}

async function encryptBatch(connection: ClientBase, secrets: Secrets, kind: SecretKind): Promise<number> {
  const { table } = secretKinds[kind];
  await connection.query("begin");
  try {
    // Skips expired secrets that are encrypted with a lost key: they will be deleted soon
    const { rows } = await connection.query<{ id: string; secret: string }>(
      `select id, secret from ${table}
       where secret is not null and auth.secrets_key_id(secret) is distinct from $1
         and (auth.secrets_key_id(secret) is null or auth.secrets_key_id(secret) = any ($2))
       order by id limit ${batch} for no key update`,
      [secrets.currentKeyId, secrets.keyIds],
    );
    const sealed = rows.map(({ id, secret }) => {
      const place = secretPlace(kind, id);
      return secrets.seal(secrets.open(secret, place), place);
    });
    await connection.query(
      `update ${table} t set secret = n.secret from unnest($1::uuid[], $2::text[]) n (id, secret) where t.id = n.id`,
      [rows.map(({ id }) => id), sealed],
    );
    await connection.query("commit");
    return rows.length;
  } catch (error) {
    await connection.query("rollback").catch(() => {});
    throw error instanceof UnreadableSecret ? new UserError(error.message) : error;
  }
}
