import type { Limits } from "../../graphql/limits.ts";
import { createPointsBucket } from "./bucket.ts";
import type { TakeResult } from "./bucket.ts";
import type { Meter } from "./meter.ts";
import type { RateLimits } from "./rate-limits.ts";

/** Takes points from the bucket of an API credential: all of them, or none if there are too few. */
export type Spend = (credentialId: string, points: number) => Promise<TakeResult>;

/**
 * Returns a function that spends points for work of an API credential outside requests, from the buckets for requests.
 *
 * @param limitsNow returns the current limits
 * @param meter charges time beyond the points, if the work uses the connections of requests
 */
export function spender(
  rates: RateLimits,
  limitsNow: () => Promise<Limits>,
  meter?: Pick<Meter, "paid">,
): Spend {
  return async (credentialId, points) => {
    const bucket = createPointsBucket(await limitsNow());
    const taken = await rates.take(bucket, credentialId, points);
    if (taken.isAllowed) meter?.paid(bucket, credentialId, points);
    return taken;
  };
}
