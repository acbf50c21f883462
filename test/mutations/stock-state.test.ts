import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// Goods in quality control, damaged goods, expired batches and safety stock. The hall and the shed sell their stock; the warehouse
// for returns doesn't.

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop({ versions });
});
after(() => shop.close());
afterEach(async () => {
  await shop.sql("update erp.bin_location set stock_state = 'sellable'");
  await assertLedgerIsRight(shop);
});

let product: string;
let lots: string;
let made = 0;
beforeEach(async () => {
  [product, lots] = [`plain-${++made}`, `lots-${made}`];
  const [row] = await shop.sql(
    `with p as (insert into erp.product (product_number, is_batch_managed) values ('${product}', false), ('${lots}', true)
       returning id, is_batch_managed),
     b as (insert into erp.batch (product_id, number) select id, n from p, unnest('{a,b}'::text[]) n where is_batch_managed
       returning id, number)
     select (select id from p where not is_batch_managed) as plain, (select id from p where is_batch_managed) as lots,
       array(select id from b order by number) as batches`,
  );
  shop.id[product] = `gid://service/Product/${row.plain}`;
  shop.id[lots] = `gid://service/Product/${row.lots}`;
  [shop.id.a, shop.id.b] = row.batches.map((id: string) => `gid://service/Batch/${id}`);
});

const bin = "binLocation { id code stockState } warnings { code message field details }";
const turn = (code: string, stockState: string | null) =>
  shop.mutate("binLocationUpdate", { id: shop.id[code], stockState }, { select: bin });
const keep = (safetyStock: number | null, warehouse = "hall", name = product) =>
  shop.mutate(
    "productWarehouseConfigurationSet",
    { productId: shop.id[name], warehouseId: shop.id[warehouse], safetyStock },
    { select: "productWarehouseConfiguration { safetyStock }" },
  );
const move = (from: string, to: string, quantity: number, more = {}) =>
  shop.mutate(
    "stockTransfer",
    { lines: [shop.move(product, from, to, { quantity, ...more })] },
    { select: "warnings { code message field details }" },
  );
const codes = ({ warnings, userErrors }: any): string[] => {
  assert.deepEqual(userErrors, []);
  return warnings.map(({ code }: any) => code);
};
/** What the API shows of a product: [physical, not for sale, safety, available], and of each warehouse [held, safety, available]. */
async function figures(name = product): Promise<Record<string, number[]>> {
  const { product: shown } = await shop.read(
    `query ($id: ID!) { product(id: $id) { physicalStock stockNotAvailableForSale safetyStock availableStock
       warehouseStocks { edges { node { heldQuantity safetyStock availableQuantity warehouse { code } } } } } }`,
    { id: shop.id[name] },
  );
  const warehouses = shown.warehouseStocks.edges.map(({ node }: any) => [
    node.warehouse.code,
    [node.heldQuantity, node.safetyStock, node.availableQuantity],
  ]);
  const { physicalStock, stockNotAvailableForSale, safetyStock, availableStock } = shown;
  return {
    all: [physicalStock, stockNotAvailableForSale, safetyStock, availableStock],
    ...Object.fromEntries(warehouses),
  };
}
/** An order that is promised units of the hall. */
const order = (quantity: number, name = product) =>
  shop.order([{ product: name, quantity }], [{ lines: [[0, quantity]] }]);

describe("the state of a bin", () => {
  it("is sellable unless another one is given", async () => {
    const create = (code: string, more = {}) =>
      shop.mutate("binLocationCreate", { warehouseId: shop.id.hall, code, ...more }, { select: bin });
    const states = [
      await create(`N-${made}`),
      await create(`Q-${made}`, { stockState: "quality_control" }),
      await create(`S-${made}`, { stockState: null }),
    ].map(({ binLocation }) => binLocation.stockState);
    assert.deepEqual(states, ["sellable", "quality_control", "sellable"]);
    assert.deepEqual(refusals(await turn("A-1", null)), [["REQUIRED", "stockState"]]);
    const { binLocation } = await turn("A-1", "damaged");
    assert.deepEqual([binLocation.code, binLocation.stockState], ["A-1", "damaged"]);
    const filter = { stockState: { equals: "damaged" } };
    const { binLocations } = await shop.read(
      `query ($filter: BinLocationFilterInput) { binLocations(filter: $filter) { edges { node { code } } } }`,
      { filter },
    );
    assert.deepEqual(
      binLocations.edges.map(({ node }: any) => node.code),
      ["A-1"],
    );
  });

  it("makes moving there the only thing to do, and nothing else changes", async () => {
    await turn("A-2", "quality_control");
    await shop.store(product, "A-1", 10);
    assert.deepEqual(codes(await move("A-1", "A-2", 4)), []);
    assert.deepEqual(await figures(), { all: [10, 4, 0, 6], hall: [4, 0, 6] });
    await turn("A-2", "damaged");
    assert.deepEqual(await figures(), { all: [10, 4, 0, 6], hall: [4, 0, 6] });
    // Counted, disposed of and moved by name as ever
    await shop.store(product, "A-2", -1);
    const counted = await shop.mutate("stockSet", { lines: [shop.line(product, "A-2", { quantity: 2 })] });
    assert.deepEqual(counted.userErrors, []);
    assert.deepEqual(codes(await move("A-2", "A-1", 1)), []);
    assert.deepEqual(await figures(), { all: [8, 1, 0, 7], hall: [1, 0, 7] });
    await turn("A-2", "sellable");
    assert.deepEqual(await figures(), { all: [8, 0, 0, 8], hall: [0, 0, 8] });
  });

  it("and that of a batch count a unit once", async () => {
    await shop.store(lots, "A-1", 5, "a");
    await shop.store(lots, "A-1", 3, "b");
    await shop.store(lots, "A-2", 2, "a");
    await turn("A-1", "damaged");
    await shop.mutate("batchHold", { ids: [shop.id.a], stockState: "damaged" });
    assert.deepEqual(await figures(lots), { all: [10, 10, 0, 0], hall: [10, 0, 0] });
    await turn("A-1", "sellable");
    assert.deepEqual(await figures(lots), { all: [10, 7, 0, 3], hall: [7, 0, 3] });
    await turn("A-1", "quality_control");
    await shop.mutate("batchRelease", { ids: [shop.id.a] });
    assert.deepEqual(await figures(lots), { all: [10, 8, 0, 2], hall: [8, 0, 2] });
  });

  it("keeps its units from shipments, which say so", async () => {
    await shop.store(product, "A-1", 5);
    await shop.store(product, "C-1", 2);
    await turn("A-1", "quality_control");
    const [assigned] = (await order(4)).fulfillmentOrders;
    const refused = await shop.fulfill(assigned!);
    const [{ code, message, details }] = refused.userErrors;
    assert.equal(code, "INSUFFICIENT_STOCK");
    assert.match(message, /Of what lies there, 5 lie in bins that are not sellable\./);
    assert.deepEqual([details.available, details.notSellable, details.held], [2, 5, undefined]);
    const places = [{ place: { binLocationId: shop.id["A-1"] }, quantity: 4 }];
    const lines = [{ fulfillmentOrderLineItemId: assigned!.lines[0], quantity: 4, places }];
    const named = await shop.fulfill(assigned!, { lines });
    assert.deepEqual(refusals(named), [["BIN_NOT_SELLABLE", "lines.0.places.0.place"]]);
    assert.equal(named.userErrors[0].message, "The units in bin A-1 are in quality control.");
    await turn("A-1", "sellable");
    assert.deepEqual((await shop.fulfill(assigned!, { lines })).userErrors, []);
  });

  it("warns if orders wait for its units, when it changes or when they are moved there", async () => {
    await shop.store(product, "A-1", 10);
    await order(8);
    const turned = await turn("A-1", "damaged");
    assert.deepEqual(codes(turned), ["STOCK_PROMISED"]);
    assert.match(turned.warnings[0].message, /Orders wait for 8 units .*; 8 of them are missing now\./);
    assert.deepEqual(turned.warnings[0].field, ["stockState"]);
    assert.deepEqual(codes(await turn("A-1", "quality_control")), []);
    assert.deepEqual(codes(await turn("A-1", "sellable")), []);
    await turn("A-2", "damaged");
    assert.deepEqual(codes(await move("A-1", "A-2", 2)), []);
    const moved = await move("A-1", "A-2", 1);
    assert.deepEqual(codes(moved), ["STOCK_PROMISED"]);
    assert.equal(moved.warnings[0].details.available, -1);
    // Nobody had them, so nobody misses them
    await shop.mutate("stockAdjust", { lines: [shop.line(product, "A-2", { delta: -1 })] });
    assert.deepEqual(codes(await move("A-2", "B-1", 1)), []);
  });
});

describe("the state of a batch", () => {
  const select = "batches { stockState isHeld isExpired } warnings { code }";
  const hold = (more = {}) => shop.mutate("batchHold", { ids: [shop.id.a], ...more }, { select });

  it("is quality control unless another one is given, and may change", async () => {
    await shop.store(lots, "A-1", 5, "a");
    assert.deepEqual((await hold()).batches, [
      { stockState: "quality_control", isHeld: true, isExpired: false },
    ]);
    const again = await hold();
    assert.deepEqual(refusals(again), [["INVALID_STATE_TRANSITION", "ids.0"]]);
    assert.deepEqual(again.userErrors[0].details, { allowedActions: ["release"] });
    assert.equal((await hold({ stockState: "damaged" })).batches[0].stockState, "damaged");
    assert.deepEqual(refusals(await hold({ stockState: "damaged" })), [
      ["INVALID_STATE_TRANSITION", "ids.0"],
    ]);
    assert.deepEqual(refusals(await hold({ stockState: "sellable" })), [["INVALID", "stockState"]]);
    assert.deepEqual(await figures(lots), { all: [5, 5, 0, 0], hall: [5, 0, 0] });
    const { batches } = await shop.mutate("batchRelease", { ids: [shop.id.a] }, { select });
    assert.deepEqual(batches, [{ stockState: "sellable", isHeld: false, isExpired: false }]);
  });

  it("is told by SQL in one column", async () => {
    await shop.store(lots, "A-1", 5, "a");
    await shop.sql("update erp.batch set stock_state = 'damaged' where id = $1", shop.id.a!);
    const [row] = await shop.sql(
      "select is_held, held_at is not null as dated from erp.batch where id = $1",
      shop.id.a!,
    );
    assert.deepEqual(row, { is_held: true, dated: true });
    await assert.rejects(
      shop.sql("update erp.batch set stock_state = 'lost' where id = $1", shop.id.a!),
      /batch_stock_state_is_known/,
    );
  });
});

describe("a batch that has expired", () => {
  const update = (bestBeforeDate: string | null) =>
    shop.mutate("batchUpdate", { id: shop.id.a, bestBeforeDate }, { select: "batch { isExpired }" });

  it("is not available, until its date is moved into the future", async () => {
    await shop.store(lots, "A-1", 5, "a");
    await shop.store(lots, "A-1", 2, "b");
    assert.equal((await update("2020-01-01")).batch.isExpired, true);
    assert.deepEqual(await figures(lots), { all: [7, 5, 0, 2], hall: [5, 0, 2] });
    // Held, too: once
    await shop.mutate("batchHold", { ids: [shop.id.a] });
    assert.deepEqual(await figures(lots), { all: [7, 5, 0, 2], hall: [5, 0, 2] });
    assert.equal((await update("9999-01-01")).batch.isExpired, false);
    await shop.mutate("batchRelease", { ids: [shop.id.a] });
    assert.deepEqual(await figures(lots), { all: [7, 0, 0, 7], hall: [0, 0, 7] });
    await update("2020-01-01");
    assert.equal((await update(null)).batch.isExpired, false);
  });

  it("is available as long as it is only short of the promised shelf life", async () => {
    await shop.store(lots, "A-1", 5, "a");
    await shop.sql(
      "update erp.product set minimum_remaining_shelf_life_days = 36500 where id = $1",
      shop.id[lots]!,
    );
    const soon = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
    assert.equal((await update(soon)).batch.isExpired, false);
    assert.deepEqual((await figures(lots)).all, [5, 0, 0, 5]);
  });

  it("is found by the job when the day ends, some at a time, with an event", async () => {
    for (const batch of ["a", "b"]) await shop.store(lots, "A-1", 5, batch);
    // As if the dates had been in the future when they were written
    await shop.sql("alter table erp.batch disable trigger keep_figures_of_state");
    await shop.sql(
      "update erp.batch set best_before_date = '2020-01-01' where product_id = $1",
      shop.id[lots]!,
    );
    await shop.sql("alter table erp.batch enable trigger keep_figures_of_state");
    assert.deepEqual((await figures(lots)).all, [10, 0, 0, 10]);
    // Nothing is shipped by mistake meanwhile
    const shipped = await shop.fulfill((await order(1, lots)).fulfillmentOrders[0]!);
    assert.deepEqual(
      refusals(shipped).map(([code]) => code),
      ["INSUFFICIENT_STOCK"],
    );
    await sequence(shop.owner);
    const end = await endOfLog(shop.owner);
    const expire = async () => {
      await shop.sql("begin");
      await shop.sql("set local role service_worker");
      const [{ marked }] = await shop.sql("select erp.expire_batches(1) as marked");
      await shop.sql("commit");
      return marked;
    };
    assert.deepEqual([await expire(), await expire(), await expire()], [1, 1, 0]);
    assert.deepEqual((await figures(lots)).all, [10, 10, 0, -1]);
    await sequence(shop.owner);
    const log = await logAfter(shop.owner, end);
    assert.deepEqual(
      log
        .filter(({ topic }: any) => topic === "batch.updated")
        .map(({ changed_fields: fields }: any) => fields),
      [["isExpired"], ["isExpired"]],
    );
  });
});

describe("safety stock", () => {
  it("is kept back as far as there are units, where they are sold", async () => {
    await shop.store(product, "A-1", 10);
    await shop.store(product, "B-1", 2);
    await shop.store(product, "R-1", 6);
    const { productWarehouseConfiguration } = await keep(4);
    assert.equal(productWarehouseConfiguration.safetyStock, 4);
    await keep(5, "shed");
    await keep(3, "returns");
    const all = [18, 6, 9, 3];
    assert.deepEqual(await figures(), { all, hall: [0, 4, 6], shed: [0, 5, 0], returns: [0, 3, 3] });
    await shop.mutate("warehouseUpdate", { id: shop.id.shed, isStockAvailableForSale: false });
    assert.deepEqual((await figures()).all, [18, 8, 4, 6]);
    await shop.mutate("warehouseUpdate", { id: shop.id.shed, isStockAvailableForSale: true });
    assert.deepEqual((await figures()).all, all);
    // The frozen version shows the same figure
    const frozen = await shop.ask(
      await shop.token(),
      {
        query: `{ product(id: "${shop.id[product]}") { availableStock stockNotAvailableForSale } }`,
      },
      { version: "2026-06-unstable" },
    );
    assert.equal(frozen.body.data.product.availableStock, 3);
    await keep(0);
    await keep(0, "shed");
    assert.deepEqual((await figures()).all, [18, 6, 0, 12]);
  });

  it("alone makes nothing negative, and nobody is warned of it", async () => {
    await shop.store(product, "A-1", 3);
    await keep(5);
    assert.deepEqual(await figures(), { all: [3, 0, 5, 0], hall: [0, 5, 0] });
    assert.deepEqual(codes(await move("A-1", "B-1", 2)), []);
    await order(1);
    // One unit is left for the order, out of the safety stock
    assert.deepEqual((await figures()).hall, [0, 5, 0]);
    const taken = await move("A-1", "B-1", 1);
    assert.deepEqual(codes(taken), ["STOCK_PROMISED"]);
    assert.deepEqual([taken.warnings[0].details.reserved, taken.warnings[0].details.available], [1, -1]);
    assert.deepEqual((await figures()).hall, [0, 5, -1]);
  });

  it("can be shipped, and waits where there is no stock yet", async () => {
    await keep(5);
    assert.deepEqual(await figures(), { all: [0, 0, 5, 0], hall: [0, 5, 0] });
    await shop.store(product, "A-1", 6);
    assert.deepEqual(await figures(), { all: [6, 0, 5, 1], hall: [0, 5, 1] });
    const [assigned] = (await order(6)).fulfillmentOrders;
    assert.deepEqual((await shop.fulfill(assigned!)).userErrors, []);
    assert.deepEqual(await figures(), { all: [0, 0, 5, 0], hall: [0, 5, 0] });
  });

  it("is at least 0, and has a bound", async () => {
    for (const [value, code] of [
      [-1, "OUT_OF_RANGE"],
      [10_000_001, "OUT_OF_RANGE"],
      [null, "REQUIRED"],
    ] as const)
      assert.deepEqual(refusals(await keep(value)), [[code, "safetyStock"]]);
  });

  it("goes with its warehouse", async () => {
    await shop.store(product, "A-1", 9);
    const { warehouse } = await shop.mutate(
      "warehouseCreate",
      { code: `W${made}`, name: "Short-lived", isStockAvailableForSale: true },
      { select: "warehouse { id }" },
    );
    shop.id.short = warehouse.id;
    await keep(4, "short");
    assert.deepEqual((await figures()).all, [9, 0, 4, 5]);
    const { userErrors } = await shop.mutate("warehouseDelete", { id: warehouse.id });
    assert.deepEqual(userErrors, []);
    assert.deepEqual((await figures()).all, [9, 0, 0, 9]);
  });

  it("goes with its configuration, written by SQL", async () => {
    await shop.store(product, "A-1", 9);
    const ids = [shop.id[product]!, shop.id.hall!] as const;
    await shop.sql(
      "insert into erp.product_warehouse_configuration (product_id, warehouse_id, safety_stock) values ($1, $2, 4)",
      ...ids,
    );
    assert.deepEqual((await figures()).all, [9, 0, 4, 5]);
    await shop.sql(
      "update erp.product_warehouse_configuration set warehouse_id = $3 where product_id = $1 and warehouse_id = $2",
      ...ids,
      shop.id.shed!,
    );
    assert.deepEqual(await figures(), { all: [9, 0, 4, 5], hall: [0, 0, 9], shed: [0, 4, 0] });
    await shop.sql("delete from erp.product_warehouse_configuration where product_id = $1", ids[0]);
    assert.deepEqual((await figures()).all, [9, 0, 0, 9]);
  });
});
