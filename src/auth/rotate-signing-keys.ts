import type { StoredSecrets } from "../secrets/require-keys.ts";
import { refuseLackingKeys } from "../secrets/require-keys.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { OwnerConnection } from "../postgres/client.ts";
import { UserError } from "../errors/user-error.ts";
import { accessTokenSeconds } from "./access-token.ts";
import { isUuid } from "../lib/uuid.ts";
import { newSigningKey } from "./stored-signing-keys.ts";

/**
 * How long a key is accepted after its replacement, in seconds: the lifetime of its tokens, and a minute for processes
 * that hear of the new key late.
 */
const overlapSeconds = accessTokenSeconds + 60;

/** A key of the database. */
export interface StoredKeyOverview {
  id: string;
  createdAt: Date;
  /** End of its acceptance; null for the key that signs. */
  retiresAt: Date | null;
  state: "signs" | "verifies" | "retired";
  /** Id of the key that encrypts it; null when it is plain, or has been erased. */
  secretsKeyId: string | null;
}

/** Keys of the database, the newest first. */
export async function listSigningKeys(connection: OwnerConnection): Promise<StoredKeyOverview[]> {
  const { rows } = await connection.query<StoredKeyOverview>(
    `select id, created_at as "createdAt", retires_at as "retiresAt", state, key_id as "secretsKeyId"
     from auth.signing_key_overview order by retires_at desc nulls first, created_at desc`,
  );
  return rows;
}

/**
 * Makes a new signing key.
 *
 * @returns its id, and until when the previous one is accepted
 * @throws {UserError} when it can't be stored as the others are
 */
export async function rotateSigningKey(
  connection: OwnerConnection,
  secrets: Secrets,
): Promise<{ id: string; overlapEndsAt: Date }> {
  const { rows: stored } = await connection.query<StoredSecrets>("select * from auth.stored_secrets()");
  refuseLackingKeys(stored, secrets);
  const key = newSigningKey(secrets);
  const { rows } = await connection.query<{ overlapEndsAt: Date }>(
    `select auth.rotate_signing_key($1, $2, make_interval(secs => $3)) as "overlapEndsAt"`,
    [key.id, key.stored, overlapSeconds],
  );
  return { id: key.id, ...rows[0]! };
}

/**
 * Ends the acceptance of a key.
 *
 * @param endsTokens whether unexpired tokens that it has signed may end
 * @throws {UserError} when there is no such key, it signs, or its tokens have not expired
 */
export async function retireSigningKey(
  connection: OwnerConnection,
  id: string,
  endsTokens: boolean,
): Promise<void> {
  const key = isUuid(id) ? (await listSigningKeys(connection)).find((each) => each.id === id) : undefined;
  if (!key)
    throw new UserError(`There is no signing key ${id}. \`npm run keys -- list\` shows the existing ones.`);
  if (key.state === "retired") return;
  if (key.retiresAt === null)
    throw new UserError(`${id} is the key that signs. Make another one sign first: npm run keys -- rotate`);
  if (!endsTokens) {
    throw new UserError(
      `Access tokens that ${id} has signed are valid until ${key.retiresAt.toISOString()}; it retires by itself then.\n` +
        "--now retires it, and ends them, at once.",
    );
  }
  await connection.query("select auth.retire_signing_key($1)", [id]);
}
