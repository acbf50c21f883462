import type { Limits } from "../../graphql/limits.ts";

/** A kind of bucket of points. Each client has one; spent points flow back evenly until it is full. */
export interface Bucket {
  /** The purpose of the points. A client has a bucket for each name. */
  name: string;
  /** Points that a full bucket holds. */
  capacity: number;
  /** Points that flow back per second. */
  perSecond: number;
}

/** Returns the bucket that pays for operations. */
export const createPointsBucket = ({ bucket, refill }: Pick<Limits, "bucket" | "refill">): Bucket => ({
  name: "points",
  capacity: bucket,
  perSecond: refill,
});

/** The result of taking points. */
export interface TakeResult {
  isAllowed: boolean;
  /** Whole points that are left. */
  remaining: number;
  /** Whole seconds until the bucket is full. */
  fullInSeconds: number;
  /** Whole seconds until the requested points can be taken; 0 when they were. */
  retryInSeconds: number;
}

/** Returns the milliseconds in which a number of points flow back. */
export const refillMs = ({ perSecond }: Bucket, points: number): number => (points / perSecond) * 1_000;

// Rounds off floating-point errors first
const wholeSeconds = (ms: number): number => Math.ceil(Math.round(ms) / 1_000);

/**
 * Returns the result for a bucket that will be full in `fullInMs` milliseconds.
 *
 * @param wanted the points that could not be taken; 0 when they were
 */
export function describeBucket(bucket: Bucket, fullInMs: number, wanted: number): TakeResult {
  const left = bucket.capacity - (fullInMs * bucket.perSecond) / 1_000;
  const retryInMs = wanted > 0 ? fullInMs + refillMs(bucket, wanted) - refillMs(bucket, bucket.capacity) : 0;
  return {
    isAllowed: wanted === 0,
    remaining: Math.max(0, Math.floor(left + 1e-6)),
    fullInSeconds: wholeSeconds(fullInMs),
    retryInSeconds: wanted > 0 ? Math.max(1, wholeSeconds(retryInMs)) : 0,
  };
}
