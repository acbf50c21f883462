import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import pg from "pg";
import { versions } from "../../src/versions/versions.ts";
import { assertLedgerIsRight, openShop } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

// The answer of a committed mutation, whatever happens while its payload is read. test/end-to-end/payloads.test.ts covers all
// payloads.
let shop: Shop;
before(async () => {
  shop = await openShop({ versions });
  await shop.owner.query(`
    insert into erp.tag (name) values ('heavy');
    insert into erp.product_tag (product_id, tag_id) select p.id, t.id from erp.product p, erp.tag t`);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const line = (delta: number, bin: string) => ({
  productId: shop.id.nail,
  place: { binLocationId: shop.id[bin] },
  delta,
});
const one = (delta: number, bin = "A-1") => ({ lines: [line(delta, bin)] });
const movementIds = ({ stockMovements }: any): string[] => stockMovements.map(({ id }: any) => id);

describe("a repetition after things are gone", () => {
  for (const { slug: version } of versions) {
    it(`answers what is left (${version})`, async () => {
      const { rows } = await shop.owner.query(
        `insert into erp.bin_location (warehouse_id, code) select id, $1 from erp.warehouse where code = 'hall'
         returning 'gid://service/BinLocation/' || id as id`,
        [version],
      );
      shop.id[version] = rows[0].id;
      const input = { lines: [line(1, version), line(1, "A-2")], idempotencyKey: version };
      const first = await shop.mutate("stockAdjust", input, { version });
      assert.equal(first.stocks.length, 2);
      await shop.mutate("stockAdjust", one(-1, version), { version });
      const gone = await shop.mutate("binLocationDelete", { id: rows[0].id }, { version });
      assert.deepEqual(gone.userErrors, []);
      const again = await shop.mutate("stockAdjust", input, { version });
      assert.deepEqual(movementIds(again), movementIds(first));
      assert.deepEqual(again.stocks, [first.stocks[1]]);
    });
  }
});

describe("what fails while the payload is read", () => {
  const selectTags = "stockMovements { id } stocks { product { tags { edges { node { id } } } } }";

  /**
   * Calls, and ends the reading of the payload, which waits for a lock, by a function of Postgres: as often as it is tried.
   */
  const whileReading = async (end: string, input: object) => {
    const client = new pg.Client({ connectionString: shop.adminUrl });
    await client.connect();
    try {
      await client.query("begin; lock table erp.product_tag in access exclusive mode");
      let isAnswered = false;
      const answer = shop
        .tryMutate("stockAdjust", input, { select: selectTags })
        .finally(() => void (isAnswered = true));
      await until(async () => {
        await client.query("select pg_stat_clear_snapshot()");
        await client.query(
          `select ${end}(pid) from pg_stat_activity where datname = current_database()
             and starts_with(application_name, 'service') and wait_event_type = 'Lock'`,
        );
        return isAnswered;
      });
      return await answer;
    } finally {
      await client.end();
    }
  };

  const causes = { pg_terminate_backend: "SERVICE_UNAVAILABLE", pg_cancel_backend: "QUERY_TIMEOUT" };
  for (const [end, cause] of Object.entries(causes)) {
    it(`by ${end}: it was done, and must not be sent again`, async () => {
      const before = await shop.movements();
      const { body } = await whileReading(end, one(1));
      const { path, message, extensions } = body.errors[0];
      assert.ok(path.length > 1);
      assert.equal(body.data.stockAdjust.stockMovements.length, 1);
      assert.equal(extensions.code, "PAYLOAD_UNAVAILABLE");
      assert.equal(extensions.cause, cause);
      assert.equal(extensions.retryable, false);
      assert.match(message, /^The mutation was done.*would do it once more\.$/);
      assert.equal(await shop.movements(), before + 1);
    });

    it(`by ${end}, with a key: it can be sent again`, async () => {
      const before = await shop.movements();
      const input = { ...one(1), idempotencyKey: end };
      const { body, codes } = await whileReading(end, input);
      assert.deepEqual(codes, ["PAYLOAD_UNAVAILABLE"]);
      assert.equal(body.errors[0].extensions.retryable, true);
      assert.match(body.errors[0].message, /safe to send again\.$/);
      const { stockMovements, stocks } = await shop.mutate("stockAdjust", input, { select: selectTags });
      assert.deepEqual([stockMovements.length, stocks.length], [1, 1]);
      assert.equal(await shop.movements(), before + 1);
    });
  }

  it("by a mistake of the client: sending the same again can't help, key or not", async () => {
    const before = await shop.movements();
    const select = 'stocks { product { tags(after: "nonsense") { edges { node { id } } } } }';
    for (const key of [{}, { idempotencyKey: "nonsense" }]) {
      const { body, codes } = await shop.tryMutate("stockAdjust", { ...one(1), ...key }, { select });
      assert.deepEqual(codes, ["PAYLOAD_UNAVAILABLE"]);
      assert.equal(body.errors[0].extensions.cause, "CURSOR_INVALID");
      assert.equal(body.errors[0].extensions.retryable, false);
    }
    assert.equal(await shop.movements(), before + 2);
  });

  it("by a fault of ours: it says that it was done, and the cause is in the log", async () => {
    await shop.owner.query("revoke select on api_unstable.tags from service_api");
    try {
      const { body, codes, text } = await shop.tryMutate("stockAdjust", one(1), { select: selectTags });
      assert.deepEqual(codes, ["PAYLOAD_UNAVAILABLE"], text);
      const { requestId, cause } = body.errors[0].extensions;
      assert.equal(cause, "INTERNAL_SERVER_ERROR");
      assert.ok(shop.log.some((line) => line.requestId === requestId && line.err));
    } finally {
      await shop.owner.query("grant select on api_unstable.tags to service_api");
    }
  });

  it("rows that the caller may not see are left out", async () => {
    await shop.owner.query(
      "create policy hidden on ledger.stock as restrictive to service_api using (false)",
    );
    try {
      const { stocks, stockMovements } = await shop.mutate("stockAdjust", one(1));
      assert.deepEqual([stocks.length, stockMovements.length], [0, 1]);
    } finally {
      await shop.owner.query("drop policy hidden on ledger.stock");
    }
  });

  it("an answer that can't be understood is no internal error either", async () => {
    await shop.mutate("stockAdjust", { ...one(1), idempotencyKey: "odd" });
    await shop.owner.query(
      `update mutation.idempotency_key set payload = payload || '{"stocks": 5}' where key = 'odd'`,
    );
    const { codes } = await shop.tryMutate("stockAdjust", { ...one(1), idempotencyKey: "odd" });
    assert.deepEqual(codes, ["PAYLOAD_UNAVAILABLE"]);
  });
});

describe("several mutations in one operation", () => {
  it("can be sent again as a whole only if each that was done has a key", async () => {
    await shop.owner.query(`
      create function public.collide() returns trigger language plpgsql as $$
      begin raise exception 'collision' using errcode = '40001'; end $$;
      create trigger collide after insert on ledger.stock_movement for each row when (new.quantity = 13)
        execute function public.collide()`);
    const query = `mutation ($one: StockAdjustInput!, $two: StockAdjustInput!) {
      one: stockAdjust(input: $one) { userErrors { code } } two: stockAdjust(input: $two) { userErrors { code } } }`;
    const token = await shop.token({ write: ["stocks"] });
    const retryable = async (one: object, two: object) => {
      const { body, codes } = await shop.ask(token, { query, variables: { one, two } });
      assert.deepEqual(codes, ["CONFLICT_RETRY"]);
      return body.errors[0].extensions.retryable;
    };
    try {
      assert.equal(await retryable(one(1), one(13)), false);
      assert.equal(await retryable({ ...one(1), idempotencyKey: "first" }, one(13)), true);
      assert.equal(await retryable({ ...one(1), validateOnly: true }, one(13)), true);
      assert.equal(await retryable(one(13), { ...one(-10_000) }), true);
    } finally {
      await shop.owner.query("drop function public.collide cascade");
    }
  });
});
