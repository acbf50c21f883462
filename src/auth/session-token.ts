import { createHash, randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { clientNetwork } from "../lib/network-of.ts";
import { BucketsInMemory } from "./rate-limits/buckets-in-memory.ts";
import { readAs } from "../postgres/as-role.ts";

/** Checks whether a token belongs to an active session of the administration. @param address the sender's address */
export type SessionCheck = (token: string, address: string) => Promise<boolean>;

/** The prefix of session tokens: it distinguishes them from access tokens, and helps scanners find leaked ones. */
export const sessionTokenPrefix = "as_";

/** Generates a token for a new session. The database stores only its hash. */
export function newSessionToken(): string {
  return sessionTokenPrefix + randomBytes(32).toString("base64url");
}

/** Returns the hash by which the database finds a token. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/**
 * The limit of session look-ups that one network may cause by requests to the API. Such tokens arrive there only by
 * mistake.
 */
const lookUpLimit = { name: "session-token", capacity: 20, perSecond: 1 };
const sessionToken = /^as_[A-Za-z0-9_-]{43}$/;

/**
 * Returns a check of session tokens that are sent to the API. Anyone may send them, so only a few look-ups reach the
 * database.
 */
export function createSessionCheck(pool: Pool): SessionCheck {
  const buckets = new BucketsInMemory();
  return async (token, address) =>
    sessionToken.test(token) &&
    buckets.take(lookUpLimit, clientNetwork(address), 1).isAllowed &&
    (await isSessionToken(pool, token));
}

/** Checks whether a token belongs to an active session. */
export async function isSessionToken(pool: Pool, token: string): Promise<boolean> {
  if (!token.startsWith(sessionTokenPrefix)) return false;
  const text = "select auth.is_session($1) as alive";
  const [row] = await readAs<{ alive: boolean }>(pool, "service_auth", text, [hashToken(token)]);
  return row!.alive;
}
