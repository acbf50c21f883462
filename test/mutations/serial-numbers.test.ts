import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { ended, linesAt, startTestBulk, upload } from "../bulk/support.ts";
import { uuidOf } from "../lib/ids.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

let shop: ShippingShop;
let drill: string;
before(async () => {
  shop = await openShippingShop({ poolSize: 5 });
  drill = await productOf({ productNumber: "drill", tracking: "serial" });
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const upsert = (row: object) =>
  shop.mutate(
    "productsUpsert",
    { products: [row] },
    {
      select:
        "results { outcome userErrors { code field details } } products { id tracking pickOrder minimumRemainingShelfLifeDays }",
    },
  );
/** Makes a product, which the shop then knows by its number. */
async function productOf(row: { productNumber: string; tracking: string }): Promise<string> {
  const made = await upsert(row);
  assert.deepEqual(made.userErrors, []);
  return (shop.id[row.productNumber] = made.products[0].id);
}
/** Records serial numbers of drills, each with the short name by which the shop knows its id. */
async function record(...numbers: string[]): Promise<string[]> {
  const batches = numbers.map((number) => ({ productNumber: "drill", number }));
  const made = await shop.mutate("batchesUpsert", { batches }, { select: "batches { id number }" });
  assert.deepEqual(made.userErrors, []);
  for (const { id, number } of made.batches) shop.id[number] = id;
  return made.batches.map(({ id }: any) => id);
}
const adjust = (...lines: [place: string, number: string, delta: number][]) =>
  shop.mutate("stockAdjust", {
    lines: lines.map(([place, number, delta]) =>
      shop.line("drill", place, { delta, batchId: shop.id[number] }),
    ),
  });
const transfer = (source: string, destination: string, number: string, quantity = 1) =>
  shop.mutate("stockTransfer", {
    lines: [shop.move("drill", source, destination, { quantity, batchId: shop.id[number] })],
  });
/** Where a serial number is: the kind of each place that has units of it, and how many. */
const whereIs = (number: string) =>
  shop.sql(
    `select s.location_type_technical_name as place, b.quantity from ledger.batch_stock b
     join ledger.stock s on s.id = b.stock_id where b.batch_id = $1 and b.quantity <> 0 order by 1`,
    shop.id[number]!,
  );
const receiptFields =
  "goodsReceipt { id state lineItems(first: 250) { edges { node { quantity batch { id number } } } } }";
const receive = (name: string, input: object) => shop.mutate(name, input, { select: receiptFields });
async function receipt(lineItems: object[]): Promise<any> {
  const made = await receive("goodsReceiptCreate", { type: "Free", lineItems });
  assert.deepEqual(made.userErrors, []);
  return made.goodsReceipt;
}
const named = (order: { fulfillmentOrders: { lines: string[] }[] }, ...numbers: string[]) => ({
  lines: [
    {
      fulfillmentOrderLineItemId: order.fulfillmentOrders[0]!.lines[0],
      quantity: numbers.length,
      places: numbers.map((number) => ({
        place: { binLocationId: shop.id["A-1"] },
        quantity: 1,
        batchId: shop.id[number],
      })),
    },
  ],
});
const orderOf = (quantity: number) =>
  shop.order([{ product: "drill", quantity }], [{ lines: [[0, quantity]] }]);

describe("the tracking of a product", () => {
  const trackingOf = async (row: object) => {
    const { userErrors, products } = await upsert({ productNumber: "mode", ...row });
    assert.deepEqual(userErrors, []);
    const { rows } = await shop.owner.query(
      "select is_batch_managed, has_serial_numbers from erp.product where product_number = 'mode'",
    );
    return [products[0].tracking, ...Object.values(rows[0])];
  };

  it("is read and written, and decides whether the product is managed in batches", async () => {
    assert.deepEqual(await trackingOf({}), ["none", false, false]);
    assert.deepEqual(await trackingOf({ tracking: "batch" }), ["batch", true, false]);
    assert.deepEqual(await trackingOf({ tracking: "serial" }), ["serial", true, true]);
    assert.deepEqual(await trackingOf({ name: "Other" }), ["serial", true, true]);
    assert.deepEqual(await trackingOf({ isBatchManaged: true }), ["serial", true, true]);
    assert.deepEqual(await trackingOf({ isBatchManaged: false }), ["none", false, false]);
    assert.deepEqual(await trackingOf({ isBatchManaged: true }), ["batch", true, false]);
    assert.deepEqual(await trackingOf({ isBatchManaged: true, tracking: "serial" }), ["serial", true, true]);
    assert.deepEqual(await trackingOf({ tracking: "none" }), ["none", false, false]);
  });

  it("refuses null, and what contradicts isBatchManaged", async () => {
    for (const [row, code] of [
      [{ tracking: null }, "REQUIRED"],
      [{ tracking: "none", isBatchManaged: true }, "INVALID"],
      [{ tracking: "serial", isBatchManaged: false }, "INVALID"],
    ] as const)
      assert.deepEqual(refusals(await upsert({ productNumber: "mode", ...row })), [
        [code, "products.0.tracking"],
      ]);
  });

  it("takes shelf life from 0 to 36,500 days, and a pick order", async () => {
    const row = { productNumber: "mode", minimumRemainingShelfLifeDays: 30, pickOrder: "first_expired" };
    const { products } = await upsert(row);
    assert.deepEqual(
      [products[0].minimumRemainingShelfLifeDays, products[0].pickOrder],
      [30, "first_expired"],
    );
    const cleared = await upsert({ ...row, minimumRemainingShelfLifeDays: null, pickOrder: null });
    assert.deepEqual(
      [cleared.products[0].minimumRemainingShelfLifeDays, cleared.products[0].pickOrder],
      [null, null],
    );
    for (const days of [-1, 36_501])
      assert.deepEqual(refusals(await upsert({ ...row, minimumRemainingShelfLifeDays: days })), [
        ["OUT_OF_RANGE", "products.0.minimumRemainingShelfLifeDays"],
      ]);
  });

  it("stays while units lie somewhere, also in a goods receipt", async () => {
    await record("T1");
    await adjust(["A-1", "T1", 1]);
    for (const tracking of ["none", "batch"]) {
      const { userErrors } = await upsert({ id: drill, tracking });
      assert.deepEqual(refusals({ userErrors }), [["NOT_EDITABLE", "products.0.tracking"]]);
      assert.deepEqual(userErrors[0].details, { quantity: 1 });
    }
    assert.deepEqual(refusals(await upsert({ id: drill, isBatchManaged: false })), [
      ["NOT_EDITABLE", "products.0.isBatchManaged"],
    ]);
    assert.deepEqual((await upsert({ id: drill, tracking: "serial", name: "Drill" })).userErrors, []);
    await adjust(["A-1", "T1", -1]);
    for (const tracking of ["batch", "serial"])
      assert.deepEqual((await upsert({ id: drill, tracking })).userErrors, []);

    const paint = await productOf({ productNumber: "paint", tracking: "batch" });
    const { id } = await receipt([{ productId: paint, quantity: 5, batchNumber: "P1" }]);
    assert.deepEqual((await receive("goodsReceiptApprove", { id })).userErrors, []);
    const { userErrors } = await upsert({ id: paint, tracking: "serial" });
    assert.deepEqual(
      [refusals({ userErrors }), userErrors[0].details],
      [[["NOT_EDITABLE", "products.0.tracking"]], { quantity: 5 }],
    );
  });
});

describe("files of products", () => {
  it("have tracking, pick order and shelf life", async () => {
    const token = await shop.token({ read: "all", write: "all" });
    const bulk = startTestBulk(shop);
    try {
      const csv =
        "productNumber,tracking,pickOrder,minimumRemainingShelfLifeDays\n" +
        "file 1,serial,first_in,\nfile 2,batch,first_expired,14\nfile 3,lot,bin,\nfile 4,none,fifo,\n";
      const { status, body, text } = await upload(shop, token, "products", csv, { type: "text/csv" });
      assert.equal(status, 202, text);
      const done = await ended(shop, token, body.bulkOperation.id);
      const errors = await linesAt(shop, done.errorsUrl);
      assert.deepEqual(
        errors.map(({ line, field }) => [line, field.join(".")]),
        [
          [4, "tracking"],
          [5, "pickOrder"],
        ],
      );
    } finally {
      await bulk.stop();
    }
    assert.deepEqual(
      await shop.sql(
        `select has_serial_numbers, is_batch_managed, pick_order, minimum_remaining_shelf_life_days as days
         from erp.product where product_number ~ '^file' order by product_number`,
      ),
      [
        { has_serial_numbers: true, is_batch_managed: true, pick_order: "first_in", days: null },
        { has_serial_numbers: false, is_batch_managed: true, pick_order: "first_expired", days: 14 },
      ],
    );
  });
});

describe("a serial number", () => {
  it("has one unit, in one place", async () => {
    await record("S1", "S2");
    assert.deepEqual((await adjust(["A-1", "S1", 1])).userErrors, []);
    for (const place of ["A-1", "A-2", "hall", "B-1", "R-1"]) {
      const { userErrors } = await adjust([place, "S1", 1]);
      assert.deepEqual(userErrors, [
        {
          code: "SERIAL_NUMBER_IN_STOCK",
          message:
            "The unit with the serial number S1 is in stock already. Count it to 0 where the books have it, or correct the number.",
          field: ["lines", "0", "batchId"],
          details: { serialNumber: "S1" },
        },
      ]);
    }
    assert.deepEqual(refusals(await adjust(["A-1", "S2", 2])), [["OUT_OF_RANGE", "lines.0.delta"]]);
    assert.deepEqual(refusals(await adjust(["A-1", "S2", 1], ["A-2", "S2", 1])), [
      ["SERIAL_NUMBER_IN_STOCK", "lines.1.batchId"],
    ]);
    assert.deepEqual(await whereIs("S1"), [{ place: "bin_location", quantity: 1 }]);
    assert.deepEqual(await whereIs("S2"), []);
  });

  it("moves by its number, also in and out within one call", async () => {
    await record("M1", "M2");
    await adjust(["A-1", "M1", 1]);
    assert.deepEqual((await transfer("A-1", "B-1", "M1")).userErrors, []);
    assert.deepEqual(refusals(await transfer("A-1", "B-1", "M1")), [
      ["INSUFFICIENT_STOCK", "lines.0.quantity"],
    ]);
    assert.deepEqual(refusals(await transfer("B-1", "A-1", "M1", 2)), [["OUT_OF_RANGE", "lines.0.quantity"]]);
    assert.deepEqual(refusals(await transfer("B-1", "A-1", "M2")), [
      ["INSUFFICIENT_STOCK", "lines.0.quantity"],
    ]);
    assert.deepEqual(refusals(await transfer("B-1", "A-1", "G1")), [["BATCH_MISMATCH", "lines.0.batchId"]]);
    assert.deepEqual((await adjust(["A-2", "M1", 1], ["B-1", "M1", -1])).userErrors, []);
    assert.deepEqual(
      refusals(await shop.mutate("stockAdjust", { lines: [shop.line("drill", "A-2", { delta: 1 })] })),
      [["BATCH_REQUIRED", "lines.0.batchId"]],
    );
  });

  it("is counted as 0 or 1", async () => {
    await record("C1");
    const count = (place: string, quantity: number) =>
      shop.mutate("stockSet", {
        lines: [shop.line("drill", place, { quantity, batchId: shop.id.C1 })],
      });
    assert.deepEqual(refusals(await count("A-1", 2)), [["OUT_OF_RANGE", "lines.0.quantity"]]);
    assert.deepEqual((await count("A-1", 1)).userErrors, []);
    assert.deepEqual(refusals(await count("A-2", 1)), [["SERIAL_NUMBER_IN_STOCK", "lines.0.batchId"]]);
    const found = await shop.mutate("stockSet", {
      lines: [
        shop.line("drill", "A-2", { quantity: 1, batchId: shop.id.C1 }),
        shop.line("drill", "A-1", { quantity: 0, batchId: shop.id.C1 }),
      ],
    });
    assert.deepEqual(found.userErrors, []);
  });

  it("can be shipped, and come back", async () => {
    await record("B1", "B2");
    await adjust(["A-1", "B1", 1], ["A-1", "B2", 1]);
    const order = await orderOf(1);
    assert.deepEqual(refusals(await shop.fulfill(order.fulfillmentOrders[0]!, named(order, "G1"))), [
      ["BATCH_MISMATCH", "lines.0.places.0.batchId"],
    ]);
    const shipped = await shop.fulfill(order.fulfillmentOrders[0]!, named(order, "B2"));
    assert.deepEqual(shipped.userErrors, []);
    assert.deepEqual(await whereIs("B2"), [{ place: "order", quantity: 1 }]);
    assert.deepEqual((await shop.cancel(shipped.fulfillment.id)).userErrors, []);
    assert.deepEqual(await whereIs("B2"), [{ place: "bin_location", quantity: 1 }]);
  });

  it("does not come back from an order while the merchant has the unit", async () => {
    await record("K1");
    await adjust(["A-1", "K1", 1]);
    const order = await orderOf(1);
    const shipped = await shop.fulfill(order.fulfillmentOrders[0]!, named(order, "K1"));
    // Bought back without its order
    assert.deepEqual((await adjust(["A-2", "K1", 1])).userErrors, []);
    assert.deepEqual(refusals(await shop.cancel(shipped.fulfillment.id)), [["SERIAL_NUMBER_IN_STOCK", "id"]]);
  });
});

describe("a goods receipt of serial numbers", () => {
  it("takes 50 of them, one a line, and makes those that are new", async () => {
    const lot = { productId: drill, supplierLot: "LOT 9", bestBeforeDate: "2030-01-01" };
    const known = Array.from({ length: 20 }, (_, n) => ({ ...lot, number: `R${n}` }));
    const recorded = await shop.mutate("batchesUpsert", { batches: known });
    assert.deepEqual(recorded.userErrors, []);
    const { id, lineItems } = await receipt(
      Array.from({ length: 50 }, (_, n) => ({
        productId: drill,
        quantity: 1,
        batchNumber: `R${n}`,
        destinationBinLocationId: shop.id["A-1"],
      })),
    );
    assert.equal(new Set(lineItems.edges.map(({ node }: any) => node.batch.id)).size, 50);
    for (const step of ["goodsReceiptApprove", "goodsReceiptStart", "goodsReceiptComplete"])
      assert.deepEqual((await receive(step, { id })).userErrors, [], step);
    const lying = await shop.sql(
      "select count(*)::int as count from erp.batch where number ~ '^R' and physical_stock = 1",
    );
    assert.deepEqual(lying, [{ count: 50 }]);
    const { batches } = await shop.read(
      `query ($filter: BatchFilterInput) { batches(first: 50, filter: $filter) { edges { node { number physicalStock } } } }`,
      { filter: { supplierLot: { equals: "LOT 9" }, bestBeforeDate: { lte: "2030-01-01" } } },
    );
    assert.equal(batches.edges.length, 20);
    assert.ok(batches.edges.every(({ node }: any) => node.physicalStock === 1));
  });

  it("refuses more than one unit a line, and a number that is in stock", async () => {
    const line = { productId: drill, batchNumber: "Q1" };
    for (const quantity of [2, -2])
      assert.deepEqual(
        refusals(await receive("goodsReceiptCreate", { type: "Free", lineItems: [{ ...line, quantity }] })),
        [["OUT_OF_RANGE", "lineItems.0.quantity"]],
      );
    const twice = await receipt([
      { ...line, quantity: 1 },
      { ...line, quantity: 1 },
    ]);
    assert.deepEqual(refusals(await receive("goodsReceiptApprove", { id: twice.id })), [
      ["SERIAL_NUMBER_IN_STOCK", "id"],
    ]);
    const first = await receipt([{ ...line, quantity: 1 }]);
    const second = await receipt([{ ...line, quantity: 1 }]);
    assert.deepEqual((await receive("goodsReceiptApprove", { id: first.id })).userErrors, []);
    // The unit is in the receipt, and in no warehouse yet
    assert.deepEqual(refusals(await receive("goodsReceiptApprove", { id: second.id })), [
      ["SERIAL_NUMBER_IN_STOCK", "id"],
    ]);
  });
});

describe("ledger.proof", () => {
  it("finds serial numbers with two units, which only SQL can write", async () => {
    const [id] = await record("P9");
    await shop.owner.query("begin");
    try {
      await shop.owner.query(
        `with moved as (
           insert into ledger.stock_movement (product_id, quantity, process_type_technical_name,
             source_location_type_technical_name, source_special_stock_location_technical_name,
             destination_location_type_technical_name, destination_bin_location_id)
           values ($1, 2, 'incoming', 'special_stock_location', 'import', 'bin_location', $2) returning id)
         insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
         select id, $3, 2 from moved`,
        [uuidOf(drill), uuidOf(shop.id["A-1"]!), uuidOf(id!)],
      );
      const { rows } = await shop.owner.query("select * from ledger.proof");
      assert.deepEqual(rows, [
        { figure: "batch_stock.serial_number", id: uuidOf(id!), stored: "2", expected: "at most 1" },
      ]);
    } finally {
      await shop.owner.query("rollback");
    }
  });
});
