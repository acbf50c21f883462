import type { KeyObject } from "node:crypto";
import { createSecretKey, randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { asAuthRole } from "../database/as-role.ts";

/** Keys for HMAC-SHA256 over access tokens. As KeyObjects, for a string would be tried as a public key each time. */
export interface SigningKeys {
  /** Id of the key that signs. */
  readonly currentId: string;
  /** All keys whose signatures are accepted, by id. */
  readonly byId: ReadonlyMap<string, KeyObject>;
}

/**
 * The configured key, or else the keys of the database, where the first process to start makes one.
 *
 * @param configured at least 32 characters
 */
export async function loadSigningKeys(pool: Pool, configured: string | undefined): Promise<SigningKeys> {
  if (configured !== undefined) {
    const key = createSecretKey(configured, "utf8");
    return { currentId: "configured", byId: new Map([["configured", key]]) };
  }
  const { rows } = await asAuthRole(pool, (client) =>
    client.query<{ id: string; secret: Buffer }>("select id, secret from auth.signing_keys($1)", [
      randomBytes(32),
    ]),
  );
  const byId = new Map(rows.map(({ id, secret }) => [id, createSecretKey(secret)]));
  return { currentId: rows[0]!.id, byId };
}
