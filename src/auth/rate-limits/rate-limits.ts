import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Bucket, TakeResult } from "./bucket.ts";
import { BucketsInMemory } from "./buckets-in-memory.ts";
import { BucketsInPostgres } from "./buckets-in-postgres.ts";

/** Milliseconds between two log lines about buckets that can't be reached. */
const logEveryMs = 60_000;

/**
 * Enforces rate limits. Processes count separately, or share buckets in Postgres. While the shared buckets can't be
 * reached, they count separately too.
 */
export class RateLimits {
  readonly #inMemory = new BucketsInMemory();
  readonly #shared: BucketsInPostgres | null;
  readonly #logger: Logger;
  #loggedAt = -Infinity;

  /** @param shared connections whose role may use the buckets in Postgres; null to count in memory */
  constructor(shared: Pool | null, logger: Logger) {
    this.#shared = shared && new BucketsInPostgres(shared);
    this.#logger = logger;
  }

  /** Takes points of a client, or none if there are too few. Without shared buckets it returns synchronously. */
  take(bucket: Bucket, client: string, points: number): TakeResult | Promise<TakeResult> {
    if (!this.#shared) return this.#inMemory.take(bucket, client, points);
    return this.#shared.take(bucket, client, points).catch((error: unknown) => {
      this.#logOutage(error);
      return this.#inMemory.take(bucket, client, points);
    });
  }

  /** Takes points of a client after its work, even if there are too few. Callers don't wait. */
  charge(bucket: Bucket, client: string, points: number): void {
    if (!this.#shared) return this.#inMemory.charge(bucket, client, points);
    this.#shared.charge(bucket, client, points).catch((error: unknown) => {
      this.#logOutage(error);
      this.#inMemory.charge(bucket, client, points);
    });
  }

  close(): void {
    this.#shared?.close();
  }

  #logOutage(error: unknown): void {
    const now = performance.now();
    if (now < this.#loggedAt + logEveryMs) return;
    this.#loggedAt = now;
    this.#logger.warn({ err: error }, "can't reach the shared rate limits; each process counts separately");
  }
}
