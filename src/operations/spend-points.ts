import type { RequestHandler } from "express";
import "../http/facts.ts";
import { refuse } from "../http/answers.ts";
import type { RateLimits } from "../rate-limits/rate-limits.ts";

/**
 * Takes what the operation costs from the points of its token, and tells in headers
 * (draft-ietf-httpapi-ratelimit-headers) what is left and when there is more. Without enough of them it answers 429.
 */
export function spendPoints(rates: RateLimits): RequestHandler {
  return async (request, response, next) => {
    const { caller, plan, operation } = response.locals;
    const { bucket, refill } = plan!.limits;
    const seconds = Math.ceil(bucket / refill);
    const { isAllowed, remaining, resetsInSeconds } = await rates.take(
      { name: "points", points: bucket, seconds },
      caller!.credentialId,
      operation!.cost.requested,
    );
    response.setHeader("ratelimit-policy", `"points";q=${bucket};w=${seconds}`);
    response.setHeader("ratelimit", `"points";r=${remaining};t=${resetsInSeconds}`);
    if (isAllowed) return next();
    response.setHeader("retry-after", resetsInSeconds);
    const message = `The token has spent its ${bucket} points. There are new ones in ${resetsInSeconds} s.`;
    refuse(request, response, 429, "THROTTLED", message);
  };
}
