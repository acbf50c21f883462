import { readStoredSecrets, requireKeysFor } from "../secrets/require-keys.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { OwnerConnection } from "../postgres/client.ts";
import { UserError } from "../errors/user-error.ts";
import { accessTokenSeconds } from "./access-token.ts";
import { isUuid } from "../lib/uuid.ts";
import { newSigningKey } from "./stored-signing-keys.ts";

/**
 * Seconds for which a key is accepted after its replacement: the lifetime of its tokens, and a minute for processes that
 * learn of the new key late.
 */
const overlapSeconds = accessTokenSeconds + 60;

/** A signing key in the database. */
export interface StoredKeyOverview {
  id: string;
  createdAt: Date;
  /** When it is no longer accepted; null for the key that signs. */
  retiresAt: Date | null;
  state: "signs" | "verifies" | "retired";
  /** The id of the key that encrypts it; null when it is plain text, or has been erased. */
  secretsKeyId: string | null;
}

/** Returns the signing keys in the database, newest first. */
export async function listSigningKeys(connection: OwnerConnection): Promise<StoredKeyOverview[]> {
  const { rows } = await connection.query<StoredKeyOverview>(
    `select id, created_at as "createdAt", retires_at as "retiresAt", state, key_id as "secretsKeyId"
     from auth.signing_key_overview order by retires_at desc nulls first, created_at desc`,
  );
  return rows;
}

/**
 * Creates a new signing key.
 *
 * @returns its id, and until when the previous key is accepted
 * @throws {UserError} when SECRETS_KEY lacks a key that stored secrets are encrypted with
 */
export async function rotateSigningKey(
  connection: OwnerConnection,
  secrets: Secrets,
): Promise<{ id: string; overlapEndsAt: Date }> {
  requireKeysFor(await readStoredSecrets(connection), secrets);
  const key = newSigningKey(secrets);
  const { rows } = await connection.query<{ overlapEndsAt: Date }>(
    `select auth.rotate_signing_key($1, $2, make_interval(secs => $3)) as "overlapEndsAt"`,
    [key.id, key.stored, overlapSeconds],
  );
  return { id: key.id, ...rows[0]! };
}

/**
 * Retires a signing key.
 *
 * @param endsTokens whether unexpired tokens that it has signed may become invalid
 * @throws {UserError} when there is no such key, it signs, or its tokens have not expired
 */
export async function retireSigningKey(
  connection: OwnerConnection,
  id: string,
  endsTokens: boolean,
): Promise<void> {
  const key = isUuid(id) ? (await listSigningKeys(connection)).find((each) => each.id === id) : undefined;
  if (!key)
    throw new UserError(`There is no signing key ${id}. \`npx erp keys list\` shows the existing keys.`);
  if (key.state === "retired") return;
  if (key.retiresAt === null)
    throw new UserError(`${id} is the key that signs. Replace it first: npx erp keys rotate`);
  if (!endsTokens) {
    throw new UserError(
      `Access tokens that ${id} has signed are valid until ${key.retiresAt.toISOString()}. Then it retires automatically.\n` +
        "--now retires it at once, and makes these tokens invalid.",
    );
  }
  await connection.query("select auth.retire_signing_key($1)", [id]);
}
