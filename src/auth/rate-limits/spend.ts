import type { Limits } from "../../graphql/limits.ts";
import type { RateLimits } from "./rate-limits.ts";

/** The result of spending points. */
export interface Spent {
  isAllowed: boolean;
  /** Points that are left. */
  remaining: number;
  /** Milliseconds until another attempt makes sense; 0 when it was allowed. */
  retryAfterMs: number;
}

/** Takes points from the bucket of a credential: all of them, or none if there are too few. */
export type Spend = (credentialId: string, points: number) => Promise<Spent>;

/**
 * Spends points of the same buckets that pay for requests, for work of a credential without a request.
 *
 * @param limitsNow returns the present limits
 */
export function spender(rates: RateLimits, limitsNow: () => Promise<Limits>): Spend {
  return async (credentialId, points) => {
    const { bucket, refill } = await limitsNow();
    const bucketOfPoints = { name: "points", capacity: bucket, perSecond: refill };
    const { isAllowed, remaining, retryInSeconds } = await rates.take(bucketOfPoints, credentialId, points);
    return { isAllowed, remaining, retryAfterMs: retryInSeconds * 1_000 };
  };
}
