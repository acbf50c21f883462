import type { Limits } from "../../graphql/limits.ts";
import type { RateLimits } from "./rate-limits.ts";

/** What came of spending points. */
export interface Spent {
  isAllowed: boolean;
  /** Points that are left. */
  remaining: number;
  /** Milliseconds until it is worth to try again; 0 when it was allowed. */
  retryAfterMs: number;
}

/** Takes points out of the bucket of a credential: all of them, or none when fewer are there. */
export type Spend = (credentialId: string, points: number) => Promise<Spent>;

/**
 * Spends points of the same buckets that requests are paid from, for what is done on the account of a credential without
 * a request of its own.
 *
 * @param limitsNow the limits that hold now
 */
export function spender(rates: RateLimits, limitsNow: () => Promise<Limits>): Spend {
  return async (credentialId, points) => {
    const { bucket, refill } = await limitsNow();
    const bucketOfPoints = { name: "points", capacity: bucket, perSecond: refill };
    const { isAllowed, remaining, retryInSeconds } = await rates.take(bucketOfPoints, credentialId, points);
    return { isAllowed, remaining, retryAfterMs: retryInSeconds * 1_000 };
  };
}
