import type { Pool } from "pg";
import { readAs } from "../../postgres/as-role.ts";
import type { Bucket, TakeResult } from "./bucket.ts";
import { refillMs, describeBucket } from "./bucket.ts";

/** Milliseconds between two deletions of full buckets. */
const clearEveryMs = 60_000;

/** Buckets that processes share, stored in `auth.bucket`. */
export class BucketsInPostgres {
  readonly #pool: Pool;
  readonly #clearing: NodeJS.Timeout;

  /** @param pool connections of a role that can switch to service_limiter */
  constructor(pool: Pool) {
    this.#pool = pool;
    const clear = () => void this.#run("select auth.clear_full_buckets()", []).catch(() => {});
    this.#clearing = setInterval(clear, clearEveryMs).unref();
  }

  /** Takes points, or none if there are too few. */
  async take(bucket: Bucket, client: string, points: number): Promise<TakeResult> {
    const [taken] = await this.#run<{ is_allowed: boolean; full_in_ms: number }>(
      "select is_allowed, full_in_ms from auth.take_points($1, $2, $3)",
      [`${bucket.name} ${client}`, refillMs(bucket, points), refillMs(bucket, bucket.capacity)],
    );
    return describeBucket(bucket, taken!.full_in_ms, taken!.is_allowed ? 0 : points);
  }

  /** Takes points even if there are too few. */
  async charge(bucket: Bucket, client: string, points: number): Promise<void> {
    await this.#run("select auth.charge_points($1, $2, $3)", [
      `${bucket.name} ${client}`,
      refillMs(bucket, points),
      2 * refillMs(bucket, bucket.capacity),
    ]);
  }

  close(): void {
    clearInterval(this.#clearing);
  }

  #run<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return readAs(this.#pool, "service_limiter", text, values, text);
  }
}
