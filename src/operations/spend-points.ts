import type { RequestHandler } from "express";
import "../http/facts.ts";
import { refuse } from "../http/answers.ts";
import type { Meter } from "../rate-limits/meter.ts";
import type { RateLimits } from "../rate-limits/rate-limits.ts";

/**
 * Takes what the operation costs from the bucket of its token, and tells in headers
 * (draft-ietf-httpapi-ratelimit-headers) what is left and when it is full again. Without enough of them it answers 429,
 * takes nothing, and says when there will be enough.
 */
export function spendPoints(rates: RateLimits, meter: Meter): RequestHandler {
  return async (request, response, next) => {
    const { caller, plan, operation } = response.locals;
    const { bucket: capacity, refill: perSecond } = plan!.limits;
    const points = operation!.cost.requested;
    const bucket = { name: "points", capacity, perSecond };
    const taken = await rates.take(bucket, caller!.credentialId, points);
    response.setHeader("ratelimit-policy", `"points";q=${capacity};w=${Math.ceil(capacity / perSecond)}`);
    response.setHeader("ratelimit", `"points";r=${taken.remaining};t=${taken.fullInSeconds}`);
    if (taken.isAllowed) {
      meter.paid(bucket, caller!.credentialId, points);
      return next();
    }
    response.setHeader("retry-after", taken.retryInSeconds);
    const message =
      `The operation costs ${points} points; the token has ${taken.remaining} left, and ${perSecond} come back ` +
      `per second. Try again in ${taken.retryInSeconds} s.`;
    refuse(request, response, 429, "THROTTLED", message);
  };
}
