import type { Pool } from "pg";
import type { Logger } from "pino";
import { readAs } from "../postgres/as-role.ts";
import type { OwnerConnection } from "../postgres/client.ts";
import { UserError } from "../errors/user-error.ts";
import { secretKinds } from "./secrets.ts";
import type { SecretKind, Secrets } from "./secrets.ts";

/** A row of auth.stored_secrets: the number of secrets of one kind that are encrypted with the same key. */
export interface StoredSecrets {
  kind: SecretKind;
  /** The id of the key that encrypts them; null for plain text. */
  key_id: string | null;
  count: number;
}

const storedSecretsQuery = "select kind, key_id, count::integer as count from auth.stored_secrets()";

export async function readStoredSecrets(connection: OwnerConnection): Promise<StoredSecrets[]> {
  return (await connection.query<StoredSecrets>(storedSecretsQuery)).rows;
}

/**
 * Checks at the start that this process can decrypt the stored secrets.
 *
 * @param kinds the kinds of secrets that it needs
 * @throws {UserError} when SECRETS_KEY lacks a key
 */
export async function requireSecretsKeys(
  pool: Pool,
  secrets: Secrets,
  kinds: readonly SecretKind[],
  logger: Logger,
): Promise<void> {
  const rows = await readAs<StoredSecrets>(pool, "service_auth", storedSecretsQuery);
  const needed = rows.filter(({ kind }) => kinds.includes(kind));
  requireKeysFor(needed, secrets);
  const plain = needed.filter(({ key_id: keyId }) => keyId === null);
  if (secrets.currentKeyId !== null && plain.length > 0)
    logger.warn(`${describe(plain)} in the database are not encrypted yet: run \`npx erp keys encrypt\``);
}

/** Checks that there is a key for each stored secret. @throws {UserError} when one is missing */
export function requireKeysFor(stored: readonly StoredSecrets[], { keyIds }: Secrets): void {
  const missing = stored.filter(({ key_id: keyId }) => keyId !== null && !keyIds.includes(keyId));
  if (missing.length === 0) return;
  const ids = [...new Set(missing.map(({ key_id: keyId }) => keyId))].join(", ");
  const problem =
    keyIds.length === 0
      ? "SECRETS_KEY is not set, but the database has encrypted secrets"
      : `SECRETS_KEY (${keyIds.join(", ")}) lacks a key that encrypts secrets in the database`;
  throw new UserError(
    `${problem}: ${describe(missing)}, with ${ids}.\n` +
      "Set the key with this id for every process. docs/guides/keys.md says what to do if it is lost.",
  );
}

const describe = (stored: readonly StoredSecrets[]): string =>
  stored.map(({ kind, count }) => `${count} ${secretKinds[kind].plural}`).join(" and ");
