import type { Pool } from "pg";
import type { Bucket, Taken } from "./bucket.ts";
import { refillMs, takenOf } from "./bucket.ts";

/** Milliseconds between two deletions of full buckets. */
const clearEveryMs = 60_000;

/** Buckets that processes share, in `auth.bucket`. */
export class BucketsInPostgres {
  readonly #pool: Pool;
  readonly #clearing: NodeJS.Timeout;

  /** @param pool connections of the role service_limiter */
  constructor(pool: Pool) {
    this.#pool = pool;
    const clear = () => void this.#pool.query("select auth.clear_full_buckets()").catch(() => {});
    this.#clearing = setInterval(clear, clearEveryMs).unref();
  }

  /** Takes points, or none if there are too few. */
  async take(bucket: Bucket, client: string, points: number): Promise<Taken> {
    const { rows } = await this.#pool.query<{ is_allowed: boolean; full_in_ms: number }>({
      name: "take-points",
      text: "select is_allowed, full_in_ms from auth.take_points($1, $2, $3)",
      values: [`${bucket.name} ${client}`, refillMs(bucket, points), refillMs(bucket, bucket.capacity)],
    });
    const [taken] = rows;
    return takenOf(bucket, taken!.full_in_ms, taken!.is_allowed ? 0 : points);
  }

  /** Takes points even if there are too few. The debt is at most the size of the bucket. */
  async charge(bucket: Bucket, client: string, points: number): Promise<void> {
    await this.#pool.query({
      name: "charge-points",
      text: "select auth.charge_points($1, $2, $3)",
      values: [`${bucket.name} ${client}`, refillMs(bucket, points), 2 * refillMs(bucket, bucket.capacity)],
    });
  }

  close(): void {
    clearInterval(this.#clearing);
  }
}
