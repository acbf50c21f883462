/** A bucket of points for each client: what it takes comes back evenly, until the bucket is full. */
export interface Bucket {
  /** What the points are for. Clients have a bucket for each name. */
  name: string;
  /** Points that a full bucket holds. */
  capacity: number;
  /** Points that come back per second. */
  perSecond: number;
}

/** What came of taking points. */
export interface Taken {
  isAllowed: boolean;
  /** Whole points that are left. */
  remaining: number;
  /** Whole seconds until the bucket is full. */
  fullInSeconds: number;
  /** Whole seconds until as much can be taken as was asked for; 0 when it was allowed. */
  retryInSeconds: number;
}

/** Milliseconds that a bucket takes to get back so many points. */
export const refillMs = ({ perSecond }: Bucket, points: number): number => (points / perSecond) * 1_000;

// Moments are numbers with fractions, whose differences have some more
const wholeSeconds = (ms: number): number => Math.ceil(Math.round(ms) / 1_000);

/**
 * What a client has, when its bucket is full again in so many milliseconds.
 *
 * @param wanted points that could not be taken; 0 when they were
 */
export function takenOf(bucket: Bucket, fullInMs: number, wanted: number): Taken {
  const left = bucket.capacity - (fullInMs * bucket.perSecond) / 1_000;
  const retryInMs = wanted > 0 ? fullInMs + refillMs(bucket, wanted) - refillMs(bucket, bucket.capacity) : 0;
  return {
    isAllowed: wanted === 0,
    remaining: Math.max(0, Math.floor(left + 1e-6)),
    fullInSeconds: wholeSeconds(fullInMs),
    retryInSeconds: wanted > 0 ? Math.max(1, wholeSeconds(retryInMs)) : 0,
  };
}
