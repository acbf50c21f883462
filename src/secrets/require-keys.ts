import type { Pool } from "pg";
import type { Logger } from "pino";
import { readAs } from "../postgres/as-role.ts";
import { UserError } from "../errors/user-error.ts";
import type { Secrets } from "./secrets.ts";

/** How many secrets of a kind are stored in the same way: a row of auth.stored_secrets. */
export interface StoredSecrets {
  kind: "signing key" | "webhook secret";
  /** Id of the key that encrypts them; null when they are plain. */
  key_id: string | null;
  count: number;
}

const storedSecretsQuery = "select kind, key_id, count::integer as count from auth.stored_secrets()";

/**
 * Checks, at the start, that this process can decrypt the stored secrets.
 *
 * @param kinds kinds of secrets that it needs
 * @throws {UserError} when SECRETS_KEY lacks a key
 */
export async function requireSecretsKeys(
  pool: Pool,
  secrets: Secrets,
  kinds: readonly StoredSecrets["kind"][],
  logger: Logger,
): Promise<void> {
  const rows = await readAs<StoredSecrets>(pool, "service_auth", storedSecretsQuery);
  const needed = rows.filter(({ kind }) => kinds.includes(kind));
  refuseLackingKeys(needed, secrets);
  const plain = needed.filter(({ key_id: keyId }) => keyId === null);
  if (secrets.currentKeyId !== null && plain.length > 0)
    logger.warn(`${describe(plain)} of the database are not encrypted yet: run \`npx erp keys encrypt\``);
}

/** @throws {UserError} when there is no key for some of the secrets */
export function refuseLackingKeys(stored: readonly StoredSecrets[], { keyIds }: Secrets): void {
  const lacking = stored.filter(({ key_id: keyId }) => keyId !== null && !keyIds.includes(keyId));
  if (lacking.length === 0) return;
  const ids = [...new Set(lacking.map(({ key_id: keyId }) => keyId))].join(", ");
  const problem =
    keyIds.length === 0
      ? "SECRETS_KEY is not set, but the database has secrets that are encrypted"
      : `SECRETS_KEY (${keyIds.join(", ")}) lacks a key that the database has secrets encrypted with`;
  throw new UserError(
    `${problem}: ${describe(lacking)}, with ${ids}.\n` +
      "Give every process the key that has this id; docs/guides/keys.md says what to do when it is lost.",
  );
}

const names: Record<StoredSecrets["kind"], string> = {
  "signing key": "keys that sign access tokens",
  "webhook secret": "secrets of webhooks",
};

function describe(stored: readonly StoredSecrets[]): string {
  return stored.map(({ kind, count }) => `${count} ${names[kind]}`).join(" and ");
}
