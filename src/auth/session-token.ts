import { createHash, randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { asAuthRole } from "./as-role.ts";

/** What tokens of the administration's sessions begin with: it tells them from access tokens, and finds leaked ones. */
export const sessionTokenPrefix = "as_";

/** A token for a new session. The database gets its hash only. */
export function newSessionToken(): string {
  return sessionTokenPrefix + randomBytes(32).toString("base64url");
}

/** What the database knows a token by. */
export function hashOfToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Whether a token belongs to a session that is alive. */
export async function isSessionToken(pool: Pool, token: string): Promise<boolean> {
  if (!token.startsWith(sessionTokenPrefix)) return false;
  const { rows } = await asAuthRole(pool, (client) =>
    client.query<{ alive: boolean }>("select auth.is_session($1) as alive", [hashOfToken(token)]),
  );
  return rows[0]!.alive;
}
