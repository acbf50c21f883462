import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { uuidOf } from "../lib/ids.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

// A bin changes its state beside what changes the same figures. Each pair is tried in both orders: one waits in the middle of its
// work for a row that another transaction has locked, and the other one comes.

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

let plain: string;
let lots: string;
let nth = 0;
beforeEach(async () => {
  [plain, lots] = [`plain-${++nth}`, `lots-${nth}`];
  const [row] = await shop.sql(
    `with p as (insert into erp.product (product_number, is_batch_managed) values ('${plain}', false), ('${lots}', true)
       returning id, is_batch_managed),
     b as (insert into erp.batch (product_id, number) select id, '${nth}' || n from p, unnest('{a,b}'::text[]) n
       where is_batch_managed returning id, number)
     select (select id from p where not is_batch_managed) as plain, (select id from p where is_batch_managed) as lots,
       array(select id from b order by number) as batches`,
  );
  shop.id[plain] = `gid://service/Product/${row.plain}`;
  shop.id[lots] = `gid://service/Product/${row.lots}`;
  [shop.id.a, shop.id.b] = row.batches.map((id: string) => `gid://service/Batch/${id}`);
  await shop.store(plain, "A-1", 100);
  await shop.store(plain, "C-1", 50);
  await shop.store(lots, "A-1", 100, "a");
  await shop.store(lots, "A-1", 100, "b");
});
afterEach(async () => {
  await other.query("rollback");
  await shop.sql("update erp.warehouse set is_stock_available_for_sale = true where code = 'hall'");
  await shop.sql("update erp.bin_location set stock_state = 'sellable'");
  await assertLedgerIsRight(shop);
});

type Work = () => Promise<any>;
const call =
  (name: string, input: object): Work =>
  () =>
    shop.mutate(name, input);
const turn = (bin: string, stockState: string) => call("binLocationUpdate", { id: shop.id[bin], stockState });
const adjust = (product: string, bin: string, delta: number, batch?: string) =>
  call("stockAdjust", {
    lines: [shop.line(product, bin, { delta, batchId: batch && shop.id[batch] })],
  });
const transfer = (from: string, to: string) =>
  call("stockTransfer", { lines: [shop.move(plain, from, to, { quantity: 10 })] });
const insert = (quantity: number) => async () => {
  await shop.sql(
    `insert into ledger.stock_movement (product_id, quantity, process_type_technical_name, source_location_type_technical_name,
       source_special_stock_location_technical_name, destination_location_type_technical_name, destination_bin_location_id)
     values ($1, ${quantity}, 'incoming', 'special_stock_location', 'import', 'bin_location', $2)`,
    shop.id[plain]!,
    shop.id["A-1"]!,
  );
  return { userErrors: [] };
};
/** Physical stock, stock not for sale, and what is held and available in the hall. */
const shown = async (product: string) => {
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

/** Runs two calls in this order while the product is locked, which the first one waits for. */
async function inOrder(product: string, first: Work, second: Work) {
  await other.query("begin");
  await other.query("select from erp.product where id = $1 for update", [uuidOf(shop.id[product]!)]);
  const one = first();
  await areWaiting(1);
  const two = second();
  await areWaiting(2);
  await other.query("commit");
  const answers = await Promise.all([one, two]);
  for (const { userErrors } of answers) assert.deepEqual(userErrors, []);
}

describe("a bin that is damaged", () => {
  const damaged = () => turn("A-1", "damaged");
  for (const [what, product, work, figures] of [
    ["units that come", "plain", () => adjust(plain, "A-1", 7), [157, 107, 107, 50]],
    ["units that go", "plain", () => adjust(plain, "A-1", -7), [143, 93, 93, 50]],
    [
      "a count",
      "plain",
      () => call("stockSet", { lines: [shop.line(plain, "A-1", { quantity: 80 })] }),
      [130, 80, 80, 50],
    ],
    ["units that come from another bin", "plain", () => transfer("C-1", "A-1"), [150, 110, 110, 40]],
    ["units that go to another bin", "plain", () => transfer("A-1", "A-2"), [150, 90, 90, 60]],
    ["units that go to another warehouse", "plain", () => transfer("A-1", "B-1"), [150, 90, 90, 50]],
    ["movements that are inserted", "plain", () => insert(7), [157, 107, 107, 50]],
    ["units of a batch", "lots", () => adjust(lots, "A-1", 7, "a"), [207, 207, 207, 0]],
    ["a batch that is held", "lots", () => call("batchHold", { ids: [shop.id.a] }), [200, 200, 200, 0]],
    [
      "a batch that expires",
      "lots",
      () => call("batchUpdate", { id: shop.id.a, bestBeforeDate: "2020-01-01" }),
      [200, 200, 200, 0],
    ],
    [
      "a warehouse that stops to sell",
      "plain",
      () => call("warehouseUpdate", { id: shop.id.hall, isStockAvailableForSale: false }),
      [150, 150, 100, 50],
    ],
    [
      "safety stock",
      "plain",
      () =>
        call("productWarehouseConfigurationSet", {
          productId: shop.id[plain],
          warehouseId: shop.id.hall,
          safetyStock: 5,
        }),
      [150, 100, 100, 45],
    ],
  ] as const)
    for (const isFirst of [true, false])
      it(`${isFirst ? "before" : "after"} ${what}`, async () => {
        const name = product === "plain" ? plain : lots;
        await (isFirst ? inOrder(name, damaged(), work()) : inOrder(name, work(), damaged()));
        assert.deepEqual(await shown(name), figures);
      });

  it("is sellable again beside units that come and go", async () => {
    await damaged()();
    await inOrder(plain, turn("A-1", "sellable"), adjust(plain, "A-1", 7));
    assert.deepEqual(await shown(plain), [157, 0, 0, 157]);
    await inOrder(plain, damaged(), turn("A-1", "sellable"));
    await inOrder(plain, adjust(plain, "A-1", -7), damaged());
    assert.deepEqual(await shown(plain), [150, 100, 100, 50]);
  });
});

describe("an empty bin", () => {
  it("that is damaged waits for a booking that puts the first units into it", async () => {
    await other.query("begin");
    await other.query(
      `select ledger.post(array[row ('{}', $1, 30, null, 'bin_location', $2, 'bin_location', $3, 'api_relocation')::ledger.draft], null)`,
      [plain, "C-1", "A-2"].map((name) => uuidOf(shop.id[name]!)),
    );
    const turned = turn("A-2", "damaged")();
    await areWaiting(1);
    await other.query("commit");
    assert.deepEqual((await turned).userErrors, []);
    assert.deepEqual(await shown(plain), [150, 30, 30, 120]);
  });

  it("whose new state isn't committed yet lets a booking wait, which then counts by it", async () => {
    await other.query("begin");
    await other.query("update erp.bin_location set stock_state = 'damaged' where id = $1", [
      uuidOf(shop.id["A-2"]!),
    ]);
    const moved = transfer("C-1", "A-2")();
    await areWaiting(1);
    await other.query("commit");
    assert.deepEqual((await moved).userErrors, []);
    assert.deepEqual(await shown(plain), [150, 10, 10, 140]);
  });
});

it("a shipment takes nothing from a bin that was damaged while it waited", async () => {
  const order = await shop.order([{ product: plain, quantity: 60 }], [{ lines: [[0, 60]] }]);
  const [assigned] = order.fulfillmentOrders;
  await other.query("begin");
  await other.query("update erp.bin_location set stock_state = 'damaged' where id = $1", [
    uuidOf(shop.id["A-1"]!),
  ]);
  const shipped = shop.fulfill(assigned!);
  const places = [{ place: { binLocationId: shop.id["A-1"] }, quantity: 60 }];
  const lines = [{ fulfillmentOrderLineItemId: assigned!.lines[0], quantity: 60, places }];
  const named = shop.mutate("fulfillmentCreate", { fulfillmentOrderId: assigned!.id, lines });
  await areWaiting(2);
  await other.query("commit");
  assert.deepEqual(
    refusals(await shipped).map(([code]) => code),
    ["INSUFFICIENT_STOCK"],
  );
  assert.deepEqual(refusals(await named), [["BIN_NOT_SELLABLE", "lines.0.places.0.place"]]);
});

it("many calls at once lose no unit, and none is counted twice", async () => {
  const bins = ["A-1", "A-2", "C-1"];
  const calls: Work[] = Array.from({ length: 60 }, (_, n) => {
    if (n % 6 === 0) return turn(bins[(n / 6) % 3]!, n % 12 === 0 ? "damaged" : "sellable");
    if (n % 6 === 1)
      return call("warehouseUpdate", { id: shop.id.hall, isStockAvailableForSale: n % 12 === 1 });
    if (n % 6 === 2) return transfer("A-1", bins[1 + (n % 2)]!);
    if (n % 6 === 3)
      return n % 12 === 3
        ? call("batchHold", { ids: [shop.id.a] })
        : call("batchRelease", { ids: [shop.id.a] });
    if (n % 6 === 4) return adjust(lots, "A-1", 2, "a");
    return adjust(plain, "A-1", n % 4 === 1 ? 3 : -1);
  });
  const answers = await Promise.all(calls.map((run) => run()));
  const codes = answers.flatMap((answer) => refusals(answer).map(([code]) => code));
  assert.deepEqual(new Set([...codes, "INVALID_STATE_TRANSITION"]), new Set(["INVALID_STATE_TRANSITION"]));
});
