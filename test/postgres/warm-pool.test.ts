import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { pino } from "pino";
import { createPool } from "../../src/postgres/pool.ts";
import { PoolWarmer, getWarmCount } from "../../src/postgres/warm-pool.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

let database: TestDatabase;
let owner: pg.Client;
before(async () => {
  database = await openTestDatabase("template_demo");
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
});
after(async () => {
  await owner.end();
  await database.close();
});

const logger = pino({ level: "silent" });
const openPool = (max: number) => createPool(database.loginUrl, { max, min: getWarmCount(max) });

/** The number of idle connections that have rehearsed. */
async function countWarm(pool: pg.Pool): Promise<number> {
  const clients = await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect()));
  let count = 0;
  for (const client of clients) {
    const { rows } = await client.query(
      "select sum(generic_plans + custom_plans)::int as runs from pg_prepared_statements where statement like '%mutation.rehearse%'",
    );
    if (rows[0].runs === 1) count++;
    client.release();
  }
  return count;
}

const isQuiet = (pool: pg.Pool) => pool.totalCount > 0 && pool.idleCount === pool.totalCount;

const traces = `
  select (select count(*) from ledger.stock_movement) as movements, (select count(*) from events.outbox) as events,
    (select count(*) from mutation.idempotency_key) as keys, (select sum(available_stock) from erp.product) as stock`;

test("four connections have rehearsed mutations, which leaves no trace", async () => {
  const { rows: earlier } = await owner.query(traces);
  const pool = openPool(10);
  const warmer = new PoolWarmer(pool, logger);
  await until(() => isQuiet(pool) && pool.totalCount === 4);
  await until(async () => (await countWarm(pool)) === 4);
  assert.deepEqual((await owner.query(traces)).rows, earlier);
  assert.deepEqual((await owner.query("select * from ledger.proof limit 5")).rows, []);

  // A connection that is opened later is warmed up when it is idle
  const busy = await Promise.all(Array.from({ length: 5 }, () => pool.connect()));
  for (const client of busy) client.release();
  await until(async () => isQuiet(pool) && (await countWarm(pool)) === 5);
  await warmer.close();
  await pool.end();
});

test("the last free connection is left to requests", async () => {
  const pool = openPool(2);
  let looks = 0;
  Object.defineProperty(pool, "waitingCount", { get: () => (looks++, 0) });
  const warmer = new PoolWarmer(pool, logger);
  const request = await pool.connect();
  let others = 0;
  pool.on("acquire", () => others++);
  // At the second check the first one is over
  await until(() => looks >= 2);
  assert.equal(others, 0);
  request.release();
  await warmer.close();
  await pool.end();
  assert.deepEqual([getWarmCount(1), getWarmCount(2), getWarmCount(100)], [0, 1, 4]);
});

test("where no mutation is allowed, or nothing to book, connections stay cold and work", async () => {
  for (const change of ["select auth.set_plan('read_only')", "select auth.set_plan('none')"]) {
    await owner.query(change);
    const pool = openPool(3);
    const warmer = new PoolWarmer(pool, logger);
    await until(() => pool.totalCount > 0 && isQuiet(pool));
    assert.equal((await pool.query("select 1 as one")).rows[0].one, 1);
    await warmer.close();
    await pool.end();
  }
});
