import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import type { Bucket, TakeResult } from "../../src/auth/rate-limits/bucket.ts";
import { BucketsInMemory } from "../../src/auth/rate-limits/buckets-in-memory.ts";
import { BucketsInPostgres } from "../../src/auth/rate-limits/buckets-in-postgres.ts";
import { useDatabase } from "../lib/database.ts";

const bucket: Bucket = { name: "test", capacity: 100, perSecond: 10 };

describe("a bucket in memory", () => {
  let now = 0;
  const buckets = new BucketsInMemory(() => now);
  const take = (client: string, points: number) => buckets.take(bucket, client, points);

  it("is full at first, gives what is asked for, and tells what is left and when it is full again", () => {
    const taken = take("a", 30);
    assert.deepEqual(taken, { isAllowed: true, remaining: 70, fullInSeconds: 3, retryInSeconds: 0 });
    assert.equal(take("b", 0).remaining, 100);
  });

  it("keeps what it has when more is asked for, and tells when there is enough", () => {
    const refused = { isAllowed: false, remaining: 70, fullInSeconds: 3, retryInSeconds: 1 };
    assert.deepEqual(take("a", 80), refused);
    assert.equal(take("a", 70).isAllowed, true);
    assert.deepEqual(take("a", 25), { ...refused, remaining: 0, fullInSeconds: 10, retryInSeconds: 3 });
  });

  it("fills all the time, not at the end of a span of time, and never over", () => {
    now += 100;
    assert.equal(take("a", 1).isAllowed, true);
    assert.equal(take("a", 1).isAllowed, false);
    now += 2_500;
    assert.equal(take("a", 0).remaining, 25);
    now += 3_600_000;
    assert.equal(take("a", 0).remaining, 100);
  });

  it("gives no more than its content and what has flowed back, in any portions", () => {
    let given = 0;
    for (let step = 0; step < 1_000; step++) {
      now += 7;
      if (take("c", 1 + (step % 5)).isAllowed) given += 1 + (step % 5);
    }
    assert.ok(given <= 100 + 7 * 10 && given > 160, `${given}`);
  });
});

describe("a bucket in Postgres", () => {
  const used = useDatabase("template_schema");
  const inTurn = async (pool: pg.Pool, points: number[]): Promise<TakeResult[]> => {
    const buckets = new BucketsInPostgres(pool);
    const taken = [];
    for (const each of points) taken.push(await buckets.take({ ...bucket, perSecond: 0.01 }, "a", each));
    buckets.close();
    return taken;
  };

  it("does the same, for all processes together, however many ask at the same time", async () => {
    const pool = new pg.Pool({ connectionString: used.database.loginUrl, max: 10 });
    try {
      const taken = await inTurn(pool, [30, 80, 0]);
      assert.deepEqual(
        taken.map(({ isAllowed, remaining }) => [isAllowed, remaining]),
        [
          [true, 70],
          [false, 70],
          [true, 70],
        ],
      );
      const many = await Promise.all(Array.from({ length: 10 }, () => inTurn(pool, Array(10).fill(1))));
      assert.equal(many.flat().filter(({ isAllowed }) => isAllowed).length, 70);
    } finally {
      await pool.end();
    }
  });

  it("is forgotten when it is full", async () => {
    const clear = async () => (await used.client.query("select auth.clear_full_buckets() as n")).rows[0].n;
    assert.equal(await clear(), 0);
    await used.client.query("update auth.bucket set full_at = now() - interval '1 second'");
    assert.equal(await clear(), 1);
  });
});
