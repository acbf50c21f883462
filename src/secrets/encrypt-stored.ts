import type { ClientBase } from "pg";
import { UserError } from "../errors/user-error.ts";
import type { StoredSecrets } from "./require-keys.ts";
import { requireKeysFor } from "./require-keys.ts";
import type { Secrets } from "./secrets.ts";
import {
  carrierSecretPlace,
  signingKeyPlace,
  UnreadableSecret,
  valuationKeyPlace,
  webhookSecretPlace,
} from "./secrets.ts";

/** The number of rows that one transaction changes and locks. */
const batch = 100;

const tables = [
  { kind: "signing key", name: "auth.signing_key", placeOf: signingKeyPlace },
  { kind: "valuation key", name: "valuation.signing_key", placeOf: valuationKeyPlace },
  { kind: "webhook secret", name: "events.webhook_secret", placeOf: webhookSecretPlace },
  { kind: "carrier secret", name: "erp.carrier", placeOf: carrierSecretPlace },
] as const;
type Table = (typeof tables)[number];

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
): Promise<Record<StoredSecrets["kind"], number>> {
  if (secrets.currentKeyId === null) {
    throw new UserError(
      "SECRETS_KEY is not set. Generate a key by `openssl rand -base64 32`, keep it apart from the database and its backups, " +
        "and set it for every process and for this command.",
    );
  }
  const { rows } = await connection.query<StoredSecrets>("select * from auth.stored_secrets()");
  requireKeysFor(rows, secrets);
  const counts = { "signing key": 0, "valuation key": 0, "webhook secret": 0, "carrier secret": 0 };
  for (const table of tables) {
    let count;
    do {
      count = await encryptBatch(connection, secrets, table);
      counts[table.kind] += count;
    } while (count === batch);
  }
  return counts;
}

async function encryptBatch(
  connection: ClientBase,
  secrets: Secrets,
  { name, placeOf }: Table,
): Promise<number> {
  await connection.query("begin");
  try {
    // Skips expired secrets that are encrypted with a lost key: they will be deleted soon
    const { rows } = await connection.query<{ id: string; secret: string }>(
      `select id, secret from ${name}
       where secret is not null and auth.secrets_key_id(secret) is distinct from $1
         and (auth.secrets_key_id(secret) is null or auth.secrets_key_id(secret) = any ($2))
       order by id limit ${batch} for no key update`,
      [secrets.currentKeyId, secrets.keyIds],
    );
    const sealed = rows.map(({ id, secret }) => secrets.seal(secrets.open(secret, placeOf(id)), placeOf(id)));
    await connection.query(
      `update ${name} t set secret = n.secret from unnest($1::uuid[], $2::text[]) n (id, secret) where t.id = n.id`,
      [rows.map(({ id }) => id), sealed],
    );
    await connection.query("commit");
    return rows.length;
  } catch (error) {
    await connection.query("rollback").catch(() => {});
    throw error instanceof UnreadableSecret ? new UserError(error.message) : error;
  }
}
