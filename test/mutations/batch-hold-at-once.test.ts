import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { uuidOf } from "../lib/ids.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

// A hold beside what changes the same figures. Each pair is tried in both orders: one waits in the middle of its work for a row
// that another transaction has locked, and the other one comes.

let shop: ShippingShop;
let other: pg.Client;
before(async () => {
  shop = await openShippingShop({ poolSize: 20 });
  other = new pg.Client({ connectionString: shop.adminUrl });
  await other.connect();
});
after(async () => {
  await other.end();
  await shop.close();
});

let product: string;
let nth = 0;
beforeEach(async () => {
  product = `made-${++nth}`;
  const [row] = await shop.sql(
    `with p as (insert into erp.product (product_number, is_batch_managed) values ('${product}', true) returning id),
     b as (insert into erp.batch (product_id, number) select id, '${product}' || n from p, unnest('{a,b}'::text[]) n returning id, number)
     select (select id from p) as id, array(select id from b order by number) as batches`,
  );
  shop.id[product] = `gid://service/Product/${row.id}`;
  [shop.id.a, shop.id.b] = row.batches.map((id: string) => `gid://service/Batch/${id}`);
  await shop.store(product, "A-1", 100, "a");
  await shop.store(product, "A-1", 100, "b");
});
afterEach(async () => {
  await other.query("rollback");
  await shop.sql("update erp.warehouse set is_stock_available_for_sale = true where code = 'hall'");
  await assertLedgerIsRight(shop);
});

const call = (name: string, input: object) => () => shop.mutate(name, input);
const hold = (...batches: string[]) => call("batchHold", { ids: batches.map((name) => shop.id[name]) });
const release = (...batches: string[]) => call("batchRelease", { ids: batches.map((name) => shop.id[name]) });
const adjust = (delta: number, batch = "a") =>
  call("stockAdjust", { lines: [shop.line(product, "A-1", { delta, batchId: shop.id[batch] })] });
const transfer = (to: string) =>
  call("stockTransfer", {
    lines: [shop.move(product, "A-1", to, { quantity: 10, batchId: shop.id.a })],
  });
const sells = (isStockAvailableForSale: boolean) =>
  call("warehouseUpdate", { id: shop.id.hall, isStockAvailableForSale });
const shown = async () => {
  const [row] = await shop.sql(
    `select array[p.physical_stock, p.stock_not_available_for_sale, s.held_quantity, s.available_quantity] as figures
     from erp.product p join ledger.warehouse_stock s on s.product_id = p.id
     join erp.warehouse w on w.id = s.warehouse_id where p.id = $1 and w.code = 'hall'`,
    shop.id[product]!,
  );
  return row.figures;
};
/** Waits until so many statements wait for a lock. */
const areWaiting = (count: number) =>
  until(async () => {
    const { rowCount } = await shop.owner.query(
      `select from pg_locks l join pg_stat_activity a using (pid)
       where not l.granted and a.datname = current_database()`,
    );
    return rowCount! >= count;
  });

/** Runs two calls in this order while the product is locked, which both wait for. */
async function inOrder(first: () => Promise<any>, second: () => Promise<any>) {
  await other.query("begin");
  await other.query("select from erp.product where id = $1 for update", [uuidOf(shop.id[product]!)]);
  const one = first();
  await areWaiting(1);
  const two = second();
  await areWaiting(2);
  await other.query("commit");
  return Promise.all([one, two]);
}

describe("a hold", () => {
  for (const [what, work, figures] of [
    ["units that come", () => adjust(7), [207, 107, 107, 100]],
    ["units that go", () => adjust(-7), [193, 93, 93, 100]],
    ["units that go to another bin", () => transfer("A-2"), [200, 100, 100, 100]],
    ["units that go to another warehouse", () => transfer("shed"), [200, 100, 90, 100]],
    ["units that go where nothing is sold", () => transfer("returns"), [200, 100, 90, 100]],
    ["units of another batch", () => adjust(5, "b"), [205, 100, 100, 105]],
    ["a warehouse that stops to sell", () => sells(false), [200, 200, 100, 100]],
  ] as const)
    for (const isFirst of [true, false])
      it(`${isFirst ? "before" : "after"} ${what}`, async () => {
        const answers = await (isFirst ? inOrder(hold("a"), work()) : inOrder(work(), hold("a")));
        for (const { userErrors } of answers) assert.deepEqual(userErrors, []);
        assert.deepEqual(await shown(), figures);
      });

  it("waits for the product without holding the batch, which a booking locks later", async () => {
    const id = uuidOf(shop.id.a!);
    await other.query("begin");
    await other.query(
      "select from erp.product where id = (select product_id from erp.batch where id = $1) for update",
      [id],
    );
    const held = hold("a")();
    await areWaiting(1);
    await other.query("select from erp.batch where id = $1 for update nowait", [id]);
    await other.query("commit");
    assert.deepEqual((await held).userErrors, []);
  });

  it("beside another one: the batch is held once, and released once", async () => {
    const already = [["INVALID_STATE_TRANSITION", "ids.0"]];
    const [, second] = await inOrder(hold("a"), hold("a"));
    assert.deepEqual(refusals(second), already);
    const [, none] = await inOrder(release("a"), release("a"));
    assert.deepEqual(refusals(none), already);
    const [held, released] = await inOrder(hold("a"), release("a"));
    assert.deepEqual([held.userErrors, released.userErrors], [[], []]);
    assert.deepEqual(await shown(), [200, 0, 0, 200]);
  });

  it("of one batch beside a hold of another", async () => {
    for (const { userErrors } of await inOrder(hold("a"), hold("b"))) assert.deepEqual(userErrors, []);
    assert.deepEqual(await shown(), [200, 200, 200, 0]);
  });

  /** Ships units of batch a, which the shipment names. */
  const shipment = async () => {
    const order = await shop.order([{ product, quantity: 3 }], [{ lines: [[0, 3]] }]);
    const [assigned] = order.fulfillmentOrders;
    const places = [{ place: { binLocationId: shop.id["A-1"] }, quantity: 3, batchId: shop.id.a }];
    const lines = [{ fulfillmentOrderLineItemId: assigned!.lines[0], quantity: 3, places }];
    return call("fulfillmentCreate", { fulfillmentOrderId: assigned!.id, lines });
  };

  it("after a shipment keeps what is left", async () => {
    for (const { userErrors } of await inOrder(await shipment(), hold("a"))) assert.deepEqual(userErrors, []);
    assert.deepEqual(await shown(), [197, 97, 97, 100]);
  });

  it("before a shipment stops it, although it has begun", async () => {
    const [held, shipped] = await inOrder(hold("a"), await shipment());
    assert.deepEqual(held.userErrors, []);
    assert.deepEqual(refusals(shipped), [["BATCH_HELD", "lines.0.places.0.batchId"]]);
    assert.deepEqual(await shown(), [200, 100, 100, 97]);
  });
});

it("many calls at once lose no unit, and none is counted twice", async () => {
  await shop.store(product, "A-1", 100, "a");
  const ids = [shop.id.a!, shop.id.b!];
  const calls = Array.from({ length: 60 }, (_, n) => {
    const batch = n % 2 === 0 ? "a" : "b";
    const list = n % 4 === 0 ? ids : ids.toReversed();
    if (n % 5 === 0) return call(n % 10 === 0 ? "batchHold" : "batchRelease", { ids: list });
    if (n % 5 === 1) return sells(n % 2 === 0);
    if (n % 5 === 2) return transfer(["A-2", "shed", "returns"][n % 3]!);
    return adjust(n % 3 === 0 ? -1 : 2, batch);
  });
  const answers = await Promise.all(calls.map((run) => run()));
  const codes = answers.flatMap((answer) => refusals(answer).map(([code]) => code));
  assert.deepEqual(new Set([...codes, "INVALID_STATE_TRANSITION"]), new Set(["INVALID_STATE_TRANSITION"]));
  assert.ok(answers.filter(({ userErrors }) => userErrors.length === 0).length > 50);
});
