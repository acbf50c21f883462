import { LRUCache } from "lru-cache";
import { lruLimit } from "../../../lib/at-most.ts";
import { createPointsBucket } from "../../../auth/rate-limits/bucket.ts";
import type { Bucket, TakeResult } from "../../../auth/rate-limits/bucket.ts";
import type { Meter } from "../../../auth/rate-limits/meter.ts";
import type { RateLimits } from "../../../auth/rate-limits/rate-limits.ts";
import type { EventLoopQueue } from "../../../lib/event-loop-queue.ts";
import { refuse, sendJson } from "../../answers.ts";
import type { Middleware, Request, Response } from "../../pipeline.ts";

/** How much one point pays for: bytes of a body, members of new shapes in it, characters of a new document. */
const perPoint = { bytes: 10_000, newMembers: 50, characters: 500 };
/** Milliseconds by which the response to a repeated refusal is delayed. */
const repeatedRefusalMs = 500;
/** Milliseconds within which a second refusal counts as repeated. */
const refusedRecentlyMs = 1_000;

/** The response to the client that pays. */
type Payer = Response<"caller" | "merchantPlan">;

/** An attempt to take points from a bucket, and its result. */
interface TakeAttempt {
  bucket: Bucket;
  points: number;
  taken: TakeResult;
}

/** Takes points for requests, at the steps where their costs become known. */
export class Spending {
  readonly #rates: RateLimits;
  readonly #meter: Meter;
  readonly #turns: EventLoopQueue;
  readonly #refused = new LRUCache<string, true>({ ...lruLimit(10_000), ttl: refusedRecentlyMs });

  constructor(rates: RateLimits, meter: Meter, turns: EventLoopQueue) {
    this.#turns = turns;
    this.#rates = rates;
    this.#meter = meter;
  }

  /** Takes points for reading a long body, before it is read. Short ones cost nothing. */
  readonly forBody: Middleware<"caller" | "merchantPlan"> = (request, response, next) => {
    const points = Math.floor(Number(request.headers["content-length"] ?? 0) / perPoint.bytes);
    if (!(points > 0)) return next();
    return this.#take(request, response, points, next);
  };

  /**
   * Takes points for those members of a long body that take time to parse ({@link JsonSize.newMembers}), after they have
   * been counted and before they are parsed.
   */
  forMembers(request: Request, response: Payer, newMembers: number, next: () => void): void {
    const points = Math.floor(newMembers / perPoint.newMembers);
    if (points === 0) return next();
    // The body has ended, so no earlier middleware handles the error
    this.#take(request, response, points, next)?.catch(() => response.destroy());
  }

  /** Takes points for reading a new document, before it is read. A known one costs nothing. */
  readonly forDocument: Middleware<"body" | "caller" | "merchantPlan" | "served"> = (
    request,
    response,
    next,
  ) => {
    const { body, merchantPlan, served } = response.locals;
    const { query } = body;
    if (served.current().documents.isKept(query, merchantPlan.limits)) return next();
    const points = Math.floor(query.length / perPoint.characters);
    if (points === 0) return next();
    return this.#take(request, response, points, next);
  };

  /**
   * Takes the operation's points. Headers (draft-ietf-httpapi-ratelimit-headers) state how many are left and when the
   * bucket will be full again. Without enough points it takes nothing and responds with 429, which states when there will
   * be enough.
   */
  readonly forOperation: Middleware<"caller" | "merchantPlan" | "operation"> = (request, response, next) =>
    this.#take(request, response, response.locals.operation.cost.requested, next);

  /** Refuses a request: at once, or a little later if the same API credential was just refused. */
  refuseSlowly(credentialId: string, answer: () => void): void {
    // A client that repeats refused requests at once would occupy the process. Delays may end together, so take turns
    const sendInTurn = () => this.#turns.take(credentialId, answer);
    if (this.#refused.has(credentialId)) setTimeout(sendInTurn, repeatedRefusalMs);
    else answer();
    this.#refused.set(credentialId, true);
  }

  #take(request: Request, response: Payer, points: number, next: () => void): void | Promise<void> {
    const { caller, merchantPlan } = response.locals;
    const bucket = createPointsBucket(merchantPlan.limits);
    const taken = this.#rates.take(bucket, caller.credentialId, points);
    const go = (found: TakeResult) => this.#finish(request, response, { bucket, points, taken: found }, next);
    if (taken instanceof Promise) return taken.then(go);
    go(taken);
  }

  #finish(request: Request, response: Payer, { bucket, points, taken }: TakeAttempt, next: () => void): void {
    const { capacity, perSecond } = bucket;
    const { credentialId } = response.locals.caller;
    response.setHeader("ratelimit-policy", `"points";q=${capacity};w=${Math.ceil(capacity / perSecond)}`);
    response.setHeader("ratelimit", `"points";r=${taken.remaining};t=${taken.fullInSeconds}`);
    if (taken.isAllowed) {
      this.#meter.paid(bucket, credentialId, points);
      return next();
    }
    response.setHeader("retry-after", taken.retryInSeconds);
    const message = formatThrottled(points, perSecond, taken);
    this.refuseSlowly(credentialId, () => refuse(request, response, 429, "THROTTLED", message));
  }
}

const formatThrottled = (
  points: number,
  perSecond: number,
  { remaining, retryInSeconds }: TakeResult,
): string =>
  `This costs ${points} points; the API credential has ${remaining} left and gets back ${perSecond} per second. ` +
  `Try again in ${retryInSeconds} s.`;

/** Returns the cost of an operation without running it, if the header `X-Cost-Only` is set: the explorer shows it. */
export const showCost: Middleware<"operation"> = (request, response, next) => {
  const { refusals, cost } = response.locals.operation;
  if (request.headers["x-cost-only"] === undefined || refusals.length > 0) return next();
  sendJson(response, 200, { extensions: { cost } });
};
