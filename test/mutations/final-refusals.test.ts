import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import type { CuttableProxy } from "../lib/cuttable-proxy.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";
import type { TestProcess } from "../lib/service.ts";
import { until } from "../lib/until.ts";

// A call whose client has gone elsewhere may still wait in a process, or on its way to Postgres. Once another process has refused the
// same key, it must not be done, however the stock looks by then.
let shop: Shop;
let proxy: CuttableProxy;
/** Has one connection, through the proxy. */
let slow: TestProcess;
/** The same with FAST_READS=false, so that Grafast runs the mutations. */
let slowWithGrafast: TestProcess;
before(async () => {
  shop = await openShop();
  proxy = await openCuttableProxy(shop.loginUrl);
  slow = await shop.another({ loginUrl: proxy.url, poolSize: 1 });
  slowWithGrafast = await shop.another({ loginUrl: proxy.url, poolSize: 1, settings: { fastReads: false } });
});
after(async () => {
  await Promise.all([slow.close(), slowWithGrafast.close()]);
  await proxy.close();
  await shop.close();
});
let key = "";
let count = 0;
beforeEach(async () => {
  key = `key ${++count}`;
  await shop.empty();
});
afterEach(() => {
  proxy.restore();
  return assertLedgerIsRight(shop);
});

const take = (quantity: number, more: object = {}) => ({
  lines: [shop.line("nail", "A-1", { delta: -quantity })],
  idempotencyKey: key,
  ...more,
});
const add = (quantity: number) =>
  shop.mutate("stockAdjust", { lines: [shop.line("nail", "A-1", { delta: quantity })] });
const adjust = (input: object, process: TestProcess = shop) => shop.mutate("stockAdjust", input, { process });
const insufficient = [["INSUFFICIENT_STOCK", "lines.0.delta"]];

const someoneWaitsForAKey = async () => {
  const { rowCount } = await shop.owner.query(
    `select from pg_locks l join pg_database d on d.oid = l.database
     where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`,
  );
  return rowCount! > 0;
};

/** Sends a call to a process whose way to Postgres is blocked, does something, and opens the way: what the call was answered. */
async function whileItWaits(process: TestProcess, input: object, work: () => Promise<void>): Promise<any> {
  // Its token and its connection are ready, so that nothing but the call waits
  await shop.stockAt("nail", "A-1");
  await adjust({ lines: [shop.line("nail", "A-1", { delta: 1 })], validateOnly: true }, process);
  proxy.freeze();
  const call = adjust(input, process);
  call.catch(() => {});
  await until(() => process.apiPool.idleCount === 0);
  await work();
  proxy.restore();
  return call;
}

/** Does something while the connection of the slow process is taken by a call that waits for a lock. */
async function whileItIsBusy<T>(work: () => Promise<{ call?: Promise<T> }>): Promise<T | undefined> {
  const held = new pg.Client({ connectionString: shop.adminUrl });
  await held.connect();
  await held.query("begin; select from erp.product where product_number = 'hammer' for update");
  const lines = [shop.line("hammer", "A-1", { delta: 1 })];
  const first = shop.mutate("stockAdjust", { lines }, { process: slow });
  await until(() => slow.apiPool.idleCount === 0);
  const { call } = await work();
  await held.end();
  await first;
  return call;
}

describe("a refusal with a key", () => {
  for (const [name, processOf] of [
    ["", () => slow],
    [", also where Grafast runs it", () => slowWithGrafast],
  ] as const) {
    it(`is final for a call that waited on its way to Postgres${name}`, async () => {
      let refused: any;
      const answer = await whileItWaits(processOf(), take(5), async () => {
        refused = await adjust(take(5));
        assert.deepEqual(refusals(refused), insufficient);
        await add(20);
      });
      assert.deepEqual(answer, refused);
      assert.equal(await shop.stockAt("nail", "A-1"), 20);
    });
  }

  it("is final for a call that waited for a connection of its process", async () => {
    let refused: any;
    const answer = await whileItIsBusy(async () => {
      const call = adjust(take(5), slow);
      // Arrives behind it
      await fetch(`${slow.url}/livez`);
      refused = await adjust(take(5));
      await add(20);
      return { call };
    });
    assert.deepEqual(answer, refused);
    assert.equal(await shop.stockAt("nail", "A-1"), 20);
  });

  it("is final for a call with another input that arrived before it", async () => {
    const answer = await whileItWaits(slow, take(3), async () => {
      assert.deepEqual(refusals(await adjust(take(5))), insufficient);
      await add(20);
    });
    assert.deepEqual(refusals(answer), [["IDEMPOTENCY_KEY_MISMATCH", "idempotencyKey"]]);
    assert.equal(await shop.stockAt("nail", "A-1"), 20);
  });

  it("is final for a call that arrived before it, though a later one was done meanwhile", async () => {
    let done: any;
    const answer = await whileItWaits(slow, take(5), async () => {
      assert.deepEqual(refusals(await adjust(take(5))), insufficient);
      await add(20);
      done = await adjust(take(4));
    });
    assert.deepEqual(refusals(done), []);
    assert.deepEqual(refusals(answer), [["IDEMPOTENCY_KEY_MISMATCH", "idempotencyKey"]]);
    assert.equal(await shop.stockAt("nail", "A-1"), 16);
  });

  it("is the answer of a call that waits until it is committed", async () => {
    const other = new pg.Client({ connectionString: shop.adminUrl });
    await other.connect();
    const [product, bin] = [shop.id.nail, shop.id["A-1"]].map((id) => id!.split("/").at(-1));
    const input = { lines: [{ product_id: product, place: { bin_location_id: bin }, delta: -5 }] };
    await adjust(take(1, { validateOnly: true }), slow);
    proxy.freeze();
    const call = adjust(take(5), slow);
    await until(() => slow.apiPool.idleCount === 0);
    await other.query("begin");
    const { rows } = await other.query(
      `select set_config('service.scopes', 'stocks:write', true), set_config('role', 'service_api', true),
         set_config('service.credential_id', c.id::text, true)
       from (select id from auth.credential) c`,
    );
    const answer = await other.query(
      "select mutation.run('api_unstable', 'stock_adjust', $1, $2, false) as answer",
      [input, key],
    );
    assert.equal(rows.length, 1);
    assert.equal(answer.rows[0].answer.userErrors[0].code, "INSUFFICIENT_STOCK");
    await add(20);
    proxy.restore();
    await until(someoneWaitsForAKey);
    await other.query("commit");
    await other.end();
    assert.deepEqual(refusals(await call), insufficient);
    assert.equal(await shop.stockAt("nail", "A-1"), 20);
  });

  it("waits for an earlier call that is under way, and is its answer", async () => {
    await add(5);
    const held = new pg.Client({ connectionString: shop.adminUrl });
    await held.connect();
    await held.query("begin; select from erp.product where product_number = 'nail' for update");
    const calls = [adjust(take(5)), adjust(take(5), slow), adjust(take(5), slowWithGrafast)];
    await until(someoneWaitsForAKey);
    await held.end();
    const [first, ...others] = await Promise.all(calls);
    for (const other of others) assert.deepEqual(other, first);
    assert.deepEqual(refusals(first), []);
    assert.equal(await shop.stockAt("nail", "A-1"), 0);
  });
});

describe("a call", () => {
  it("isn't done when its client has gone before it was sent to Postgres", async () => {
    await add(20);
    const token = await shop.token({ read: "all", write: "all" });
    await whileItIsBusy(async () => {
      const query =
        "mutation ($input: StockAdjustInput!) { stockAdjust(input: $input) { userErrors { code } } }";
      const leaving = new AbortController();
      const call = fetch(`${slow.url}/api/graphql/unstable`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ query, variables: { input: take(5) } }),
        signal: leaving.signal,
      });
      call.catch(() => {});
      // Arrives behind it, as does the leave
      await fetch(`${slow.url}/livez`);
      leaving.abort();
      await fetch(`${slow.url}/livez`);
      return {};
    });
    await adjust({ lines: [shop.line("nail", "A-1", { delta: 1 })] }, slow);
    assert.equal(await shop.stockAt("nail", "A-1"), 21);
    assert.deepEqual(
      slow.log.filter(({ level }) => (level as number) >= 50),
      [],
    );
  });
});

describe("a key whose call was refused", () => {
  it("is free for calls that arrive later, at any process, with any input", async () => {
    for (const process of [shop, slow, slowWithGrafast])
      for (const again of [shop, slow, slowWithGrafast])
        for (const quantity of [5, 2]) {
          key = `key ${++count}`;
          assert.deepEqual(refusals(await adjust(take(5), process)), insufficient);
          assert.deepEqual(refusals(await adjust(take(6), again)), insufficient);
          await add(20);
          assert.deepEqual(refusals(await adjust(take(quantity), again)), [], `${quantity}`);
          assert.deepEqual(refusals(await adjust(take(quantity), process)), []);
          assert.equal(await shop.stockAt("nail", "A-1"), 20 - quantity);
          await shop.empty();
        }
  });

  it("is free at once", async () => {
    for (let n = 0; n < 30; n++) {
      key = `key ${++count}`;
      const [one, other] = n % 2 ? [shop, slow] : [slow, shop];
      assert.deepEqual(refusals(await adjust(take(5), one)), insufficient);
      assert.deepEqual(
        refusals(await adjust({ ...take(5), lines: [shop.line("nail", "A-1", { delta: 1 })] }, other)),
        [],
      );
      await shop.empty();
    }
  });

  it("is neither held nor looked at by a trial", async () => {
    const trial = await whileItWaits(slow, take(5, { validateOnly: true }), async () => {
      assert.deepEqual(refusals(await adjust(take(5, { validateOnly: true }))), insufficient);
      assert.deepEqual(refusals(await adjust(take(5))), insufficient);
      await add(20);
    });
    assert.deepEqual(refusals(trial), []);
    const kept = await shop.owner.query("select from mutation.idempotency_key where key = $1", [key]);
    assert.equal(kept.rowCount, 1);
  });

  it("stays with what was done, when a later call with it is refused", async () => {
    await add(5);
    const done = await adjust(take(5));
    assert.deepEqual(refusals(done), []);
    assert.deepEqual(refusals(await adjust(take(4))), [["IDEMPOTENCY_KEY_MISMATCH", "idempotencyKey"]]);
    assert.deepEqual(refusals(await adjust(take(5, { validateOnly: null }))), [["REQUIRED", "validateOnly"]]);
    assert.deepEqual(await adjust(take(5)), done);
  });

  it("was refused by a check that isn't in SQL: that is final, too, and a repetition isn't checked", async () => {
    const create = (url: string, process: TestProcess = shop) =>
      shop.mutate(
        "webhookSubscriptionCreate",
        { topic: "order.updated", url, apiVersion: "unstable", idempotencyKey: key },
        { process, select: "webhookSubscription { id }" },
      );
    assert.deepEqual(refusals(await create("http://10.0.0.1/")), [["URL_FORBIDDEN", "url"]]);
    const { rows } = await shop.owner.query(
      "select refused_at from mutation.idempotency_key where key = $1",
      [key],
    );
    assert.ok(rows[0].refused_at);
    const done = await create("https://shop.example/hooks");
    assert.deepEqual(refusals(done), []);
    assert.deepEqual(refusals(await create("http://10.0.0.1/")), [
      ["IDEMPOTENCY_KEY_MISMATCH", "idempotencyKey"],
    ]);
    assert.deepEqual(await create("https://shop.example/hooks"), done);
  });
});
