import { LRUCache } from "lru-cache";
import { lruLimit } from "../../lib/at-most.ts";
import type { Bucket, TakeResult } from "./bucket.ts";
import { refillMs, describeBucket } from "./bucket.ts";

/** The maximum number of buckets that a process remembers. A forgotten bucket counts as full. */
const maxBuckets = 100_000;

/**
 * The buckets of one process, by the generic cell rate algorithm: each is stored as the time at which it will be full.
 */
export class BucketsInMemory {
  readonly #fullAt = new LRUCache<string, number>(lruLimit(maxBuckets));
  readonly #now: () => number;

  /** @param now milliseconds that never go back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes points, or none if there are too few. */
  take(bucket: Bucket, client: string, points: number): TakeResult {
    const key = `${bucket.name} ${client}`;
    const now = this.#now();
    const fullAt = Math.max(now, this.#fullAt.get(key) ?? now);
    const fullInMs = fullAt + refillMs(bucket, points) - now;
    if (fullInMs > refillMs(bucket, bucket.capacity)) return describeBucket(bucket, fullAt - now, points);
    this.#fullAt.set(key, now + fullInMs);
    return describeBucket(bucket, fullInMs, 0);
  }

  /** Takes points even if there are too few. The debt is at most the size of the bucket. */
  charge(bucket: Bucket, client: string, points: number): void {
    const key = `${bucket.name} ${client}`;
    const now = this.#now();
    const fullAt = Math.max(now, this.#fullAt.get(key) ?? now) + refillMs(bucket, points);
    this.#fullAt.set(key, Math.min(fullAt, now + 2 * refillMs(bucket, bucket.capacity)));
  }
}
