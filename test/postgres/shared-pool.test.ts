import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { createPool, untilIdle } from "../../src/postgres/pool.ts";
import { serviceClient, SharedPool } from "../../src/postgres/shared-pool.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

let database: TestDatabase;
let pool: pg.Pool;
before(async () => {
  database = await openTestDatabase("template_schema");
  pool = createPool(database.loginUrl, { max: 5 });
});
after(async () => {
  await pool.end();
  await database.close();
});

const isQuiet = () => pool.totalCount > 0 && pool.idleCount === pool.totalCount;

test("no client waits for a new connection while others are open", async () => {
  const shared = new SharedPool(pool);
  const first = await shared.connection("a");
  await until(() => pool.idleCount === 1); // One more than are in use
  const second = await shared.connection("b");
  const third = shared.connection("c");
  assert.equal(pool.totalCount, 3, "another one is being opened");
  first.release();
  assert.equal((await third).connection, first.connection, "the one that is free first");
  second.release();
  (await third).release();
  await until(isQuiet);
});

test("as many are opened as are wanted, and no more than there may be", async () => {
  const shared = new SharedPool(pool);
  // Each client may have two
  const wanted = Array.from({ length: 8 }, (_, n) => shared.connection(`client ${n % 4}`));
  const given: pg.PoolClient[] = [];
  for (const each of wanted)
    void each.then(({ connection, release }) => {
      given.push(connection);
      setImmediate(release);
    });
  await Promise.all(wanted);
  await until(isQuiet);
  assert.equal(given.length, 8);
  assert.ok(pool.totalCount <= 5);
  assert.deepEqual(shared.queue.counts, { running: 0, waiting: 0 });
});

test("a broken connection is not lent again", async () => {
  const shared = new SharedPool(pool);
  const all = await Promise.all(Array.from({ length: 5 }, (_, n) => shared.connection(String(n))));
  const next = shared.connection("next");
  all[0]!.release(true);
  const { connection, release } = await next;
  assert.notEqual(connection, all[0]!.connection);
  assert.deepEqual((await connection.query("select 1 as one")).rows, [{ one: 1 }]);
  release();
  for (const { release: giveBack } of all.slice(1)) giveBack();
  await until(isQuiet);
});

test("a client of quick statements has all connections when it is alone, and else two in five", async () => {
  const shared = new SharedPool(pool);
  const have = async (client: string) => {
    const got: (() => void)[] = [];
    for (let n = 0; n < 5; n++)
      shared.connect(client, (error, _connection, release) => error ?? got.push(release!));
    await until(() => shared.queue.counts.running === got.length && pool.totalCount === 5);
    const { length } = got;
    while (shared.queue.counts.running > 0) {
      got.shift()!();
      await sleep(0);
    }
    return length;
  };
  for (let n = 0; n < 25; n++) (await shared.connection("quick")).release();
  await until(async () => (await have("quick")) === 5);
  (await shared.connection("other")).release();
  assert.equal(await have("quick"), 2);
});

test("where statements are few, one client leaves some to another, and its quick reads don't wait for its others", async (t) => {
  let most = 2;
  const few = {
    ...{ mustYield: () => false, mayGrow: () => true, noteUse: () => {} },
    mostStatements: () => most,
  };
  const shared = new SharedPool(pool, () => {}, few);
  const began: string[] = [];
  const releases = new Map<string, () => void>();
  const end = (...names: string[]) => {
    for (const name of names) {
      releases.get(name)?.();
      releases.delete(name);
    }
  };
  // One that begins as another ends, too
  t.after(() => until(() => (end(...releases.keys()), shared.queue.counts.running === 0)));
  const begin = (client: string, name: string, isQuick = false) =>
    shared.connect(
      client,
      (error, _connection, release) => {
        began.push(error ? `no ${name}` : name);
        if (release) releases.set(name, release);
      },
      { client, isQuick: () => isQuick },
    );
  const hasBegun = (name: string) => until(() => began.includes(name));
  for (const n of [1, 2, 3]) begin("busy", `report ${n}`);
  begin("busy", "quick", true);
  begin("other", "mutation");
  await hasBegun("mutation");
  await hasBegun("quick");
  assert.deepEqual(shared.queue.counts, { running: 3, waiting: 2 });
  assert.ok(!began.includes("report 2"));
  // The service books for all clients
  end("report 1", "mutation", "quick");
  await hasBegun("report 2");
  begin(serviceClient, "group");
  await hasBegun("group");
  assert.ok(!began.includes("report 3"));
  end("group");
  most = Infinity;
  shared.queue.proceed();
  await hasBegun("report 3");
  end("report 2", "report 3");
  await until(isQuiet);
  assert.deepEqual(shared.queue.counts, { running: 0, waiting: 0 });
});

test("where statements are few, clients of slow ones leave one to others", async () => {
  const few = { mustYield: () => false, mayGrow: () => true, noteUse: () => {}, mostStatements: () => 2 };
  const shared = new SharedPool(pool, () => {}, few);
  for (const client of ["slow", "as slow"]) {
    const { release } = await shared.connection(client);
    // A statement that takes long
    await sleep(50);
    release();
  }
  const slow = await shared.connection("slow");
  const waiting = shared.connection("as slow");
  const other = await shared.connection("other");
  assert.deepEqual(shared.queue.counts, { running: 2, waiting: 1 });
  other.release();
  assert.deepEqual(shared.queue.counts, { running: 1, waiting: 1 });
  slow.release();
  (await waiting).release();
  await until(isQuiet);
});

test("what holds up the event loop waits until requests that run have been answered, but not for ever", async () => {
  const order: string[] = [];
  const shared = new SharedPool(pool);
  const { connection, release } = await shared.connection("a");
  const isIdle = untilIdle(pool, Infinity).then(() => order.push("idle"));
  await untilIdle(pool, 0);
  await connection.query("select pg_sleep(0.01)");
  order.push("answered");
  release();
  await isIdle;
  assert.deepEqual(order, ["answered", "idle"]);
});
