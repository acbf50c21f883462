import type { Limits } from "../../graphql/limits.ts";
import { bucketOfPoints } from "./bucket.ts";
import type { Taken } from "./bucket.ts";
import type { Meter } from "./meter.ts";
import type { RateLimits } from "./rate-limits.ts";

/** Takes points from the bucket of a credential: all of them, or none if there are too few. */
export type Spend = (credentialId: string, points: number) => Promise<Taken>;

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
    const bucket = bucketOfPoints(await limitsNow());
    const taken = await rates.take(bucket, credentialId, points);
    if (taken.isAllowed) meter?.paid(bucket, credentialId, points);
    return taken;
  };
}
