import { createHash, randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { networkOf } from "../lib/network-of.ts";
import { BucketsInMemory } from "./rate-limits/buckets-in-memory.ts";
import { asAuthRole } from "../database/as-role.ts";

/** Whether a token belongs to a session of the administration that is alive. @param address who sends it */
export type SessionCheck = (token: string, address: string) => Promise<boolean>;

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

/** What one network may ask of sessions in requests to the API. Nobody sends such tokens there, but by mistake. */
const questions = { name: "session-token", capacity: 20, perSecond: 1 };
const sessionToken = /^as_[A-Za-z0-9_-]{43}$/;

/** Makes a check of tokens that come to the API, which anybody may send: few questions about them reach the database. */
export function sessionCheck(pool: Pool): SessionCheck {
  const buckets = new BucketsInMemory();
  return async (token, address) =>
    sessionToken.test(token) &&
    buckets.take(questions, networkOf(address), 1).isAllowed &&
    (await isSessionToken(pool, token));
}

/** Whether a token belongs to a session that is alive. */
export async function isSessionToken(pool: Pool, token: string): Promise<boolean> {
  if (!token.startsWith(sessionTokenPrefix)) return false;
  const { rows } = await asAuthRole(pool, (client) =>
    client.query<{ alive: boolean }>("select auth.is_session($1) as alive", [hashOfToken(token)]),
  );
  return rows[0]!.alive;
}
