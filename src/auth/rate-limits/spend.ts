import type { Limits } from "../../graphql/limits.ts";
import type { Meter } from "./meter.ts";
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
 * @param meter charges what the work takes beyond its points, if it uses the connections of requests
 */
export function spender(
  rates: RateLimits,
  limitsNow: () => Promise<Limits>,
  meter?: Pick<Meter, "paid">,
): Spend {
  return async (credentialId, points) => {
    const { bucket, refill } = await limitsNow();
    const bucketOfPoints = { name: "points", capacity: bucket, perSecond: refill };
    const { isAllowed, remaining, retryInSeconds } = await rates.take(bucketOfPoints, credentialId, points);
    if (isAllowed) meter?.paid(bucketOfPoints, credentialId, points);
    return { isAllowed, remaining, retryAfterMs: retryInSeconds * 1_000 };
  };
}
