import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { reservingIn } from "../lib/reserving.ts";
import type { ShippingShop, ShopOrder } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// The table "What becomes of a promise" of docs/guides/promises.md: a test for each row, which has its name
let shop: ShippingShop;
let calls: ReturnType<typeof reservingIn>;
before(async () => {
  shop = await openShippingShop();
  calls = reservingIn(shop);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

let made = 0;
let product: string;
let order: ShopOrder;
/** For the line of the order, of 4 units, which nothing has yet. */
let ofLine: { orderLineItemId: string };
beforeEach(async () => {
  product = await calls.newProduct(`fate-${++made}`, "A-1", 10);
  order = await shop.order([{ product, quantity: 4 }]);
  ofLine = { orderLineItemId: order.lines[0]! };
});

const warnings = async (name: string, lines: object[]): Promise<string[]> => {
  const payload = await shop.mutate(name, { lines }, { select: "warnings { code }" });
  assert.deepEqual(payload.userErrors, []);
  return payload.warnings.map(({ code }: any) => code);
};
const done = async (name: string, input: object): Promise<any> => {
  const payload = await shop.mutate(name, input);
  assert.deepEqual(payload.userErrors, [], name);
  return payload;
};
const upsertLine = (line: object) =>
  done("ordersUpsert", { orders: [{ id: order.id, lineItems: [{ id: order.lines[0], ...line }] }] });
/** Makes a fulfillment order of a warehouse for units of the order's line. */
const assign = (warehouse: string, quantity: number) => {
  const lines = [{ orderLineItemId: order.lines[0], quantity }];
  return done("fulfillmentOrderCreate", { orderId: order.id, warehouseId: shop.id[warehouse], lines });
};
/** Makes a bin with 10 units of the product. */
async function newBin(): Promise<string> {
  const code = `Z-${made}`;
  const [row] = await shop.sql(
    `insert into erp.bin_location (warehouse_id, code) values ($1, '${code}') returning 'gid://service/BinLocation/' || id as id`,
    shop.id.hall!,
  );
  shop.id[code] = row.id;
  await shop.store(product, code, 10);
  return code;
}
const emptied = (bin: string) =>
  done("stockTransfer", { lines: [shop.move(product, bin, "A-2", { quantity: 10 })] });
/** Makes a batch of a product with batches, with 5 units in a bin. */
async function newBatch(bestBefore = "null"): Promise<[product: string, batchId: string]> {
  const name = `fate-${++made}`;
  const [row] = await shop.sql(
    `with p as (insert into erp.product (product_number, is_batch_managed) values ('${name}', true) returning id),
       b as (insert into erp.batch (product_id, number, best_before_date) select id, '${name}', ${bestBefore} from p returning id)
     select 'gid://service/Product/' || p.id as product, 'gid://service/Batch/' || b.id as batch from p, b`,
  );
  shop.id[name] = row.product;
  await done("stockAdjust", { lines: [shop.line(name, "A-1", { delta: 5, batchId: row.batch })] });
  return [name, row.batch];
}

const fates: Record<string, () => Promise<void>> = {
  async "The warehouse goes off sale"() {
    const ids = [await calls.reserve(product, "hall", 3), await calls.reserve(product, "hall", 2, ofLine)];
    await shop.sql(
      "update erp.warehouse set is_stock_available_for_sale = false where id = $1",
      shop.id.hall!,
    );
    assert.deepEqual(await calls.kept(...ids), ["3 active", "2 active"]);
    assert.equal((await calls.figures(product)).reservedThere, 5);
    const payload = await calls.tryReserve([[product, "hall", 1]]);
    assert.deepEqual(refusals(payload), [["INSUFFICIENT_STOCK", "lines.0.quantity"]]);
    await calls.reserve(product, "hall", 1, ofLine);
    await shop.sql(
      "update erp.warehouse set is_stock_available_for_sale = true where id = $1",
      shop.id.hall!,
    );
  },
  async "The location becomes inactive"() {
    const id = await calls.reserve(product, "hall", 3, ofLine);
    await shop.sql("update erp.location set active = false where warehouse_id = $1", shop.id.hall!);
    assert.deepEqual(await calls.kept(id), ["3 active"]);
    await assign("shed", 1);
    assert.deepEqual(await calls.kept(id), ["3 active"]);
    await assign("shed", 2);
    assert.deepEqual(await calls.kept(id), ["1 active"]);
    await shop.sql("update erp.location set active = true where warehouse_id = $1", shop.id.hall!);
  },
  async "The warehouse is deleted"() {
    await done("productsUpsert", { products: [{ id: shop.id[product], allowsBackorders: true }] });
    const { warehouse } = await shop.mutate(
      "warehouseCreate",
      { code: `gone-${made}`, name: "Gone" },
      { select: "warehouse { id }" },
    );
    shop.id.gone = warehouse.id;
    const id = await calls.reserve(product, "gone", 2);
    assert.deepEqual(refusals(await shop.mutate("warehouseDelete", { id: warehouse.id })), [
      ["REFERENCE_IN_USE", "id"],
    ]);
    await shop.sql("delete from erp.warehouse where id = $1", warehouse.id);
    assert.deepEqual(await calls.kept(id), ["gone"]);
    assert.equal((await calls.figures(product)).reserved, 4);
  },
  async "The bin is deleted"() {
    const bin = await newBin();
    const id = await calls.reserve(product, bin, 3);
    await emptied(bin);
    assert.deepEqual(await calls.kept(id), ["3 active, 3 missing"]);
    await done("binLocationDelete", { id: shop.id[bin] });
    assert.deepEqual(await calls.kept(id), ["3 active"]);
  },
  async "The bin moves to another warehouse"() {
    const bin = await newBin();
    const id = await calls.reserve(product, bin, 3);
    await emptied(bin);
    await shop.sql(
      "update erp.bin_location set warehouse_id = $2 where id = $1",
      shop.id[bin]!,
      shop.id.shed!,
    );
    assert.deepEqual(await calls.kept(id), ["3 active"]);
    assert.equal((await calls.figures(product)).reservedThere, 3);
  },
  async "The batch is put on hold"() {
    const [name, batchId] = await newBatch();
    const id = await calls.reserve(name, "hall", 3, { batchId });
    await done("batchHold", { ids: [batchId] });
    assert.deepEqual(await calls.kept(id), ["3 active, 3 missing"]);
    await done("batchRelease", { ids: [batchId] });
    assert.deepEqual(await calls.kept(id), ["3 active"]);
  },
  async "The batch expires"() {
    const [name, batchId] = await newBatch("current_date + 10");
    const id = await calls.reserve(name, "hall", 3, { batchId });
    await shop.sql("update erp.batch set best_before_date = current_date - 2 where id = $1", batchId);
    assert.deepEqual(await calls.kept(id), ["3 active, 3 missing"]);
    const payload = await calls.tryReserve([[name, "A-1", 1]]);
    assert.deepEqual(refusals(payload), [["INSUFFICIENT_STOCK", "lines.0.quantity"]]);
  },
  async "The batch is deleted"() {
    await done("productsUpsert", { products: [{ id: shop.id[product], allowsBackorders: true }] });
    const [row] = await shop.sql(
      `insert into erp.batch (product_id, number) values ($1, 'none') returning 'gid://service/Batch/' || id as id`,
      shop.id[product]!,
    );
    const id = await calls.reserve(product, "hall", 2, { batchId: row.id });
    assert.deepEqual(await calls.kept(id), ["2 active, 2 missing"]);
    await shop.sql("delete from erp.batch where id = $1", row.id);
    assert.deepEqual(await calls.kept(id), ["2 active"]);
  },
  async "The units are counted down"() {
    const id = await calls.reserve(product, "hall", 6);
    assert.deepEqual(await warnings("stockSet", [shop.line(product, "A-1", { quantity: 4 })]), [
      "STOCK_PROMISED",
    ]);
    assert.deepEqual(await calls.kept(id), ["6 active, 2 missing"]);
  },
  async "The units are shipped for another order"() {
    const id = await calls.reserve(product, "hall", 6);
    const other = await shop.order([{ product, quantity: 7 }]);
    assert.deepEqual((await shop.ship(other)).userErrors, []);
    assert.deepEqual(await calls.kept(id), ["6 active, 3 missing"]);
  },
  async "The product no longer allows backorders"() {
    const allow = (allowsBackorders: boolean) =>
      done("productsUpsert", { products: [{ id: shop.id[product], allowsBackorders }] });
    await allow(true);
    const id = await calls.reserve(product, "hall", 12);
    await allow(false);
    assert.deepEqual(await calls.kept(id), ["12 active, 2 missing"]);
    const payload = await calls.tryReserve([[product, "hall", 1]]);
    assert.deepEqual(refusals(payload), [["INSUFFICIENT_STOCK", "lines.0.quantity"]]);
    assert.deepEqual(payload.userErrors[0].details, { available: 0, requested: 1 });
  },
  async "The time is over"() {
    const id = await calls.reserve(product, "hall", 6);
    await calls.outdate(id);
    await calls.reserve(product, "hall", 5);
    assert.deepEqual(await calls.kept(id), ["0 expired"]);
    assert.equal((await calls.figures(product)).reservedThere, 5);
  },
  async "The order is cancelled"() {
    const id = await calls.reserve(product, "hall", 3, ofLine);
    await done("orderCancel", { id: order.id });
    assert.deepEqual(await calls.kept(id), ["0 released"]);
    assert.equal((await calls.figures(product)).reservedThere, 0);
  },
  async "The order is opened again"() {
    const id = await calls.reserve(product, "hall", 3, ofLine);
    await done("orderCancel", { id: order.id });
    await shop.sql("update erp.sales_order set state = 'open' where id = $1", order.id);
    assert.deepEqual(await calls.kept(id), ["0 released"]);
    await calls.reserve(product, "hall", 4, ofLine);
  },
  async "The order line is reduced"() {
    const ids = [
      await calls.reserve(product, "hall", 1, ofLine),
      await calls.reserve(product, "hall", 3, ofLine),
    ];
    await upsertLine({ quantity: 2 });
    assert.deepEqual(await calls.kept(...ids), ["1 active", "1 active"]);
    await upsertLine({ quantity: 1 });
    assert.deepEqual(await calls.kept(...ids), ["1 active", "0 released"]);
  },
  async "The order line is deleted"() {
    const id = await calls.reserve(product, "hall", 3, ofLine);
    await done("ordersUpsert", { orders: [{ id: order.id, lineItems: [] }] });
    assert.deepEqual(await calls.kept(id), ["0 released"]);
    const { stockReservation } = await shop.read(`{ stockReservation(id: "${id}") { orderLineItemId } }`);
    assert.equal(stockReservation.orderLineItemId, null);
  },
  async "The order line gets another product"() {
    const id = await calls.reserve(product, "hall", 3, ofLine);
    await upsertLine({ productId: shop.id.nail });
    assert.deepEqual(await calls.kept(id), ["0 released"]);
  },
  async "The fulfillment order that got it is cancelled"() {
    const id = await calls.reserve(product, "hall", 3, ofLine);
    await assign("hall", 4);
    assert.deepEqual(await calls.kept(id), ["0 consumed"]);
    const { order: read } = await shop.read(
      `{ order(id: "${order.id}") { fulfillmentOrders { edges { node { id } } } } }`,
    );
    await done("fulfillmentOrderCancel", { id: read.fulfillmentOrders.edges[0].node.id });
    assert.deepEqual(await calls.kept(id), ["0 consumed"]);
    assert.equal((await calls.figures(product)).reservedThere, 0);
    await calls.reserve(product, "hall", 4, ofLine);
  },
  async "The product is deleted"() {
    await done("stockSet", { lines: [shop.line(product, "A-1", { quantity: 0 })] });
    await done("productsUpsert", { products: [{ id: shop.id[product], allowsBackorders: true }] });
    const id = await calls.reserve(product, "hall", 3);
    await shop.sql("delete from erp.product where id = $1", shop.id[product]!);
    assert.deepEqual(await calls.kept(id), ["gone"]);
  },
};

describe("what becomes of a promise", () => {
  for (const [row, becomes] of Object.entries(fates)) it(row, becomes);

  it("has a row for each test, and a test for each row", () => {
    const guide = readFileSync(new URL("../../docs/guides/promises.md", import.meta.url), "utf8");
    const table = guide.split("## What becomes of a promise")[1]!.split("\n## ")[0]!;
    const rows = [...table.matchAll(/^\| ([^|]+?) +\|/gm)].map(([, row]) => row!);
    assert.deepEqual(rows.slice(2), Object.keys(fates));
  });
});
