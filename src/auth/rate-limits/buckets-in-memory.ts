import { LRUCache } from "lru-cache";
import type { Bucket, Taken } from "./bucket.ts";
import { refillMs, takenOf } from "./bucket.ts";

/** Buckets that a process remembers. One that is forgotten counts as full. */
const maxBuckets = 100_000;

/**
 * Buckets that a process keeps for itself, by the generic cell rate algorithm: of each bucket only the moment is kept at
 * which it is full again.
 */
export class BucketsInMemory {
  readonly #fullAt = new LRUCache<string, number>({ max: maxBuckets });
  readonly #now: () => number;

  /** @param now milliseconds that never go back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes points; when fewer are there, takes none. */
  take(bucket: Bucket, client: string, points: number): Taken {
    const key = `${bucket.name} ${client}`;
    const now = this.#now();
    const fullAt = Math.max(now, this.#fullAt.get(key) ?? now);
    const fullInMs = fullAt + refillMs(bucket, points) - now;
    if (fullInMs > refillMs(bucket, bucket.capacity)) return takenOf(bucket, fullAt - now, points);
    this.#fullAt.set(key, now + fullInMs);
    return takenOf(bucket, fullInMs, 0);
  }

  /** Takes points whether or not they are there. A bucket owes as much as it holds, at most. */
  charge(bucket: Bucket, client: string, points: number): void {
    const key = `${bucket.name} ${client}`;
    const now = this.#now();
    const fullAt = Math.max(now, this.#fullAt.get(key) ?? now) + refillMs(bucket, points);
    this.#fullAt.set(key, Math.min(fullAt, now + 2 * refillMs(bucket, bucket.capacity)));
  }
}
