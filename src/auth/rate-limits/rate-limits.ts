import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Bucket, Taken } from "./bucket.ts";
import { BucketsInMemory } from "./buckets-in-memory.ts";
import { BucketsInPostgres } from "./buckets-in-postgres.ts";

/** Milliseconds between two lines of the log about buckets that can't be reached. */
const complainEveryMs = 60_000;

/**
 * Counts what clients take. Each process counts for itself, unless they share buckets in Postgres. When those can't be
 * reached, each process counts for itself as well.
 */
export class RateLimits {
  readonly #own = new BucketsInMemory();
  readonly #shared: BucketsInPostgres | null;
  readonly #logger: Logger;
  #complainedAt = -Infinity;

  /** @param shared connections whose role may use the buckets in Postgres; null for counting in memory */
  constructor(shared: Pool | null, logger: Logger) {
    this.#shared = shared && new BucketsInPostgres(shared);
    this.#logger = logger;
  }

  /** Takes points of a client. When fewer are there, it takes none. Without shared buckets the answer is there at once. */
  take(bucket: Bucket, client: string, points: number): Taken | Promise<Taken> {
    if (!this.#shared) return this.#own.take(bucket, client, points);
    return this.#shared.take(bucket, client, points).catch((error: unknown) => {
      this.#complain(error);
      return this.#own.take(bucket, client, points);
    });
  }

  /** Takes points of a client afterwards, whether or not they are there. Nobody waits for it. */
  charge(bucket: Bucket, client: string, points: number): void {
    if (!this.#shared) return this.#own.charge(bucket, client, points);
    this.#shared.charge(bucket, client, points).catch((error: unknown) => {
      this.#complain(error);
      this.#own.charge(bucket, client, points);
    });
  }

  close(): void {
    this.#shared?.close();
  }

  #complain(error: unknown): void {
    const now = performance.now();
    if (now < this.#complainedAt + complainEveryMs) return;
    this.#complainedAt = now;
    this.#logger.error({ err: error }, "can't share what clients have taken; each process counts for itself");
  }
}
