import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ended, jsonl, startTestBulk, upload } from "../bulk/support.ts";
import { buyingIn } from "../lib/buying.ts";
import { assertProof } from "../lib/proof.ts";
import { refusals } from "../lib/shop.ts";
import { Stocktakes } from "../lib/stocktakes.ts";
import type { ValuationShop } from "../lib/valuation-shop.ts";
import { openValuationShop } from "../lib/valuation-shop.ts";

// Faults with warehouses, bins, totes, files and invoices, and where they end
let shop: ValuationShop;
let buying: ReturnType<typeof buyingIn>;
before(async () => {
  shop = await openValuationShop();
  await shop.owner.query(
    "insert into erp.number_range (technical_name, pattern) values ('stocktake', 'ST-{n}') on conflict do nothing",
  );
  buying = buyingIn(shop);
});
after(async () => {
  await assertProof(shop.owner);
  await shop.close();
});

const valueOf = async (product: string) => {
  const { product: found } = await shop.read(
    "query ($id: ID!) { product(id: $id) { stockValue { quantity value } } }",
    { id: shop.id[product] },
  );
  return [found.stockValue.quantity, Number(found.stockValue.value)];
};

describe("freight that is invoiced a month later, after the period was closed", () => {
  it("counts from the open period on; with the report's day it is refused", async () => {
    await shop.addProduct("oven");
    const receipt = await shop.buy("oven", 10, 100);
    await shop.sell("oven", 4);
    await shop.passDays(30);
    const report = await shop.report(15);
    const freight = (more: object) =>
      shop.mutate(
        "landedCostAllocate",
        { goodsReceiptId: receipt, amount: "50", basis: "by_value", note: "Freight 12", ...more },
        { select: "landedCosts { amount day }" },
      );
    const late = await freight({ day: shop.day(20) });
    assert.deepEqual(refusals(late), [["PERIOD_CLOSED", "day"]]);
    assert.match(late.userErrors[0].message, /closed the period up to .*\. Give a later day\./);
    const booked = await freight({});
    assert.deepEqual(booked.userErrors, []);
    assert.deepEqual(
      booked.landedCosts.map(({ amount, day }: any) => [Number(amount), day]),
      [[50, shop.day(0)]],
    );
    // The share of what was sold is a cost of now; the report stays as it was closed
    assert.deepEqual(await valueOf("oven"), [6, 630]);
    const { stockValuationReport } = await shop.read(
      "query ($id: ID!) { stockValuationReport(id: $id) { quantity value voidedAt } }",
      { id: report.id },
    );
    assert.deepEqual(
      [stockValuationReport.quantity, Number(stockValuationReport.value), stockValuationReport.voidedAt],
      [6, 600, null],
    );
  });
});

describe("a warehouse that closes while orders wait for its goods", () => {
  it("sells nothing more, hands its orders and goods over, and is deleted when it is empty", async () => {
    await shop.addProduct("sofa");
    const { warehouse } = await shop.succeed(
      "warehouseCreate",
      { code: "annex", name: "Annex" },
      "warehouse { id }",
    );
    shop.id.annex = warehouse.id;
    const { binLocation } = await shop.succeed(
      "binLocationCreate",
      { warehouseId: warehouse.id, code: "X-1" },
      "binLocation { id }",
    );
    shop.id["X-1"] = binLocation.id;
    await shop.store("sofa", "X-1", 5);
    await shop.store("sofa", "A-1", 1);
    const order = await shop.order(
      [{ product: "sofa", quantity: 3 }],
      [{ location: "annex", lines: [[0, 3]] }],
    );
    const { supplierOrder } = await shop.succeed(
      "supplierOrderCreate",
      { supplierId: shop.id.acme, warehouseId: warehouse.id, lineItems: [buying.line("sofa", 4)] },
      "supplierOrder { id }",
    );
    const remove = async () => {
      const [error] = (await shop.mutate("warehouseDelete", { id: warehouse.id })).userErrors;
      return error && [error.code, error.message.replace(/.*[.:] /, "")];
    };
    const coming = await buying.write([buying.line("sofa", 2)], { warehouseId: warehouse.id });
    // Nothing new comes in
    const closed = await shop.succeed(
      "locationsUpsert",
      { locations: [{ warehouseCode: "annex", active: false }] },
      "warnings { code }",
    );
    assert.deepEqual(closed.warnings, [{ code: "FULFILLMENT_ORDERS_OPEN" }]);
    await shop.succeed("supplierOrderUpdate", { id: supplierOrder.id, warehouseId: shop.id.hall });
    assert.deepEqual(await remove(), [
      "REFERENCE_IN_USE",
      "Give them to another one by fulfillmentOrderMove first.",
    ]);
    await shop.succeed("fulfillmentOrderMove", {
      id: order.fulfillmentOrders[0]!.id,
      warehouseId: shop.id.hall,
    });
    assert.deepEqual(await remove(), ["WAREHOUSE_NOT_EMPTY", "Transfer them to another place first."]);
    await shop.succeed("stockTransfer", { lines: [shop.move("sofa", "X-1", "A-1", { quantity: 5 })] });
    assert.equal(await remove(), undefined);
    assert.deepEqual((await shop.ship(order)).userErrors, []);
    // The truck comes to another gate than was written down
    const nowhere = await shop.mutate("goodsReceiptApprove", { id: coming.id });
    assert.deepEqual(refusals(nowhere), [["REQUIRED", "id"]]);
    assert.match(nowhere.userErrors[0].message, /Name one by goodsReceiptUpdate/);
    await shop.succeed("goodsReceiptUpdate", { id: coming.id, warehouseId: shop.id.hall });
    await buying.put(coming.id);
    assert.deepEqual(await buying.figures("sofa"), [5, 0, 5, 4]);
  });

  it("stays closed when it has a history that needs it", async () => {
    const { warehouse } = await shop.succeed(
      "warehouseCreate",
      { code: "old", name: "Old" },
      "warehouse { id }",
    );
    const remove = async () => (await shop.mutate("warehouseDelete", { id: warehouse.id })).userErrors;
    const { stockContainer } = await shop.succeed(
      "stockContainerCreate",
      { number: "old tote", kind: "tote", warehouseId: warehouse.id },
      "stockContainer { id }",
    );
    const [held] = await remove();
    assert.deepEqual([held.code, held.field], ["REFERENCE_IN_USE", ["id"]]);
    assert.match(held.message, /delete them by stockContainerDelete first/);
    await shop.succeed("stockContainerDelete", { id: stockContainer.id }, "deletedStockContainerId");
    shop.id.old = warehouse.id;
    await shop.store("hammer", "old", 1);
    const stocktakes = await Stocktakes.open(shop);
    await stocktakes.cancel(await stocktakes.make({ warehouseId: warehouse.id }));
    await shop.succeed("stockTransfer", { lines: [shop.move("hammer", "old", "A-1", { quantity: 1 })] });
    const [kept] = await remove();
    assert.deepEqual([kept.code, kept.field], ["REFERENCE_IN_USE", ["id"]]);
    assert.match(kept.message, /Close it instead: warehouseUpdate with isStockAvailableForSale false/);
    await shop.succeed("warehouseUpdate", { id: warehouse.id, isStockAvailableForSale: false });
    await shop.succeed("locationsUpsert", { locations: [{ warehouseCode: "old", active: false }] });
    const order = await shop.order([{ product: "hammer", quantity: 1 }]);
    const assigned = await shop.mutate("fulfillmentOrderCreate", {
      orderId: order.id,
      warehouseId: warehouse.id,
    });
    assert.deepEqual(refusals(assigned), [["INVALID", "warehouseId"]]);
    assert.deepEqual((await shop.ship(order)).userErrors, []);
  });
});

describe("a tote that travels with its goods, and whose goods go to another warehouse", () => {
  it("moves between bins without a booking; its goods go on by a transfer into a tote of the other warehouse", async () => {
    await shop.addProduct("sock");
    await shop.store("sock", "A-1", 6);
    const tote = async (number: string, warehouse: string) => {
      const { stockContainer } = await shop.succeed(
        "stockContainerCreate",
        { number, kind: "tote", warehouseId: shop.id[warehouse] },
        "stockContainer { id }",
      );
      shop.id[number] = stockContainer.id;
    };
    await tote("tote1", "hall");
    await tote("tote2", "shed");
    await shop.succeed("stockTransfer", { lines: [shop.move("sock", "A-1", "tote1", { quantity: 6 })] });
    const movements = await shop.movements();
    for (const bin of ["A-2", "C-1"])
      await shop.succeed(
        "stockContainerMove",
        { id: shop.id.tote1, binLocationId: shop.id[bin] },
        "stockContainer { id }",
      );
    assert.equal(await shop.movements(), movements);
    const away = await shop.mutate(
      "stockContainerMove",
      { id: shop.id.tote1, warehouseId: shop.id.shed },
      { select: "stockContainer { id }" },
    );
    assert.deepEqual(refusals(away), [["NOT_EDITABLE", "warehouseId"]]);
    assert.match(away.userErrors[0].message, /transfer its goods to another one/);
    await shop.succeed("stockTransfer", {
      lines: [shop.move("sock", "tote1", "tote2", { quantity: 6 })],
      reference: "Van 3",
    });
    const order = await shop.order(
      [{ product: "sock", quantity: 4 }],
      [{ location: "shed", lines: [[0, 4]] }],
    );
    assert.deepEqual((await shop.ship(order)).userErrors, []);
    assert.deepEqual(await buying.figures("sock"), [2, 0, 2, 0]);
    await shop.succeed("stockContainerDelete", { id: shop.id.tote1 }, "deletedStockContainerId");
    const full = await shop.mutate(
      "stockContainerDelete",
      { id: shop.id.tote2 },
      { select: "deletedStockContainerId" },
    );
    assert.deepEqual(refusals(full), [["WAREHOUSE_NOT_EMPTY", null]]);
    // Two socks wait in it for the next order
    assert.deepEqual(full.userErrors[0].details, { quantity: 2 });
  });
});

describe("two people who count, or put away into, the same bin at once", () => {
  it("book each unit once: the later count is valid, an expected quantity tells, and one receipt is done once", async () => {
    await shop.addProduct("mug");
    await shop.store("mug", "A-2", 10);
    const at = (rest: object) => ({ lines: [shop.line("mug", "A-2", rest)] });
    const both = await Promise.all([
      shop.mutate("stockSet", at({ quantity: 8, expectedQuantity: 10 })),
      shop.mutate("stockSet", at({ quantity: 9, expectedQuantity: 10 })),
    ]);
    assert.deepEqual(both.flatMap(refusals), [["QUANTITY_CHANGED", "lines.0.expectedQuantity"]]);
    const there = await shop.stockAt("mug", "A-2");
    assert.ok(there === 8 || there === 9);
    const [refused] = both.flatMap((payload) => payload.userErrors);
    assert.deepEqual(refused.details, { actual: there, expected: 10 });
    // Counts of two scanners, sent in the wrong order
    const early = await shop.ago("0");
    const later = await shop.ago("0");
    await shop.succeed("stockSet", at({ quantity: 7, countedAt: later }));
    const superseded = await shop.succeed(
      "stockSet",
      at({ quantity: 9, countedAt: early }),
      "warnings { code }",
    );
    assert.deepEqual(superseded.warnings, [{ code: "COUNT_SUPERSEDED" }]);
    assert.equal(await shop.stockAt("mug", "A-2"), 7);

    const receipt = await buying.write([buying.line("mug", 4)]);
    await shop.succeed("goodsReceiptApprove", { id: receipt.id });
    const put = (quantity: number, bin = "A-2") => ({
      id: receipt.id,
      putAway: [
        { goodsReceiptLineItemId: receipt.lines[0].id, place: { binLocationId: shop.id[bin] }, quantity },
      ],
    });
    const done = await Promise.all([
      shop.mutate("goodsReceiptComplete", put(4)),
      shop.mutate("goodsReceiptComplete", put(4, "A-1")),
    ]);
    assert.deepEqual(done.flatMap(refusals), [["INVALID_STATE_TRANSITION", null]]);
    assert.deepEqual(await buying.figures("mug"), [11, 0, 11, 0]);

    const stocktakes = await Stocktakes.open(shop);
    const bin = { binLocationIds: [shop.id["A-2"]], productIds: [shop.id.mug] };
    const id = await stocktakes.make(bin);
    const second = await stocktakes.create(bin);
    assert.equal(second.userErrors[0].code, "IN_OTHER_STOCKTAKE");
    assert.match(second.userErrors[0].message, /Approve or cancel it first/);
    await stocktakes.cancel(id);
    assert.deepEqual((await stocktakes.create(bin)).userErrors, []);
  });
});

describe("a file of counts that is sent twice, and a connection that breaks before the answer", () => {
  it("count once: the repetition changes nothing, with the moment of the count or the key of the call", async () => {
    await shop.addProduct("fork");
    await shop.store("fork", "A-1", 10);
    const bulk = startTestBulk(shop);
    const token = await shop.token({ read: "all", write: "all" });
    const rows = [
      {
        productNumber: "fork",
        warehouseCode: "hall",
        binLocationCode: "A-1",
        quantity: 8,
        countedAt: await shop.ago("0"),
      },
      { productNumber: "fork", warehouseCode: "shed", delta: 5, reference: "Found 1" },
    ];
    const send = async () => {
      const { body } = await upload(shop, token, "stocks", jsonl(rows));
      const { doneCount, refusedCount, state } = await ended(shop, token, body.bulkOperation.id);
      return [state, doneCount, refusedCount];
    };
    assert.deepEqual(await send(), ["completed", 2, 0]);
    const sold = await shop.order([{ product: "fork", quantity: 3 }]);
    await shop.ship(sold);
    const movements = await shop.movements();
    assert.deepEqual(await send(), ["completed", 2, 0]);
    await bulk.stop();
    assert.equal(await shop.movements(), movements);
    assert.deepEqual(await buying.figures("fork"), [10, 0, 10, 0]);

    // The program doesn't know whether its call arrived
    const call = { lines: [shop.line("fork", "A-1", { delta: 6 })], idempotencyKey: "truck 9" };
    const broken = new AbortController();
    const asked = fetch(`${shop.url}/api/graphql/unstable`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({
        query: "mutation ($input: StockAdjustInput!) { stockAdjust(input: $input) { userErrors { code } } }",
        variables: { input: call },
      }),
      signal: broken.signal,
    });
    setImmediate(() => broken.abort());
    await asked.then(
      () => {},
      () => {},
    );
    for (let again = 0; again < 2; again++)
      assert.deepEqual((await shop.mutate("stockAdjust", call)).userErrors, []);
    assert.deepEqual(await buying.figures("fork"), [16, 0, 16, 0]);
    const other = await shop.mutate("stockAdjust", {
      ...call,
      lines: [shop.line("fork", "A-1", { delta: 7 })],
    });
    assert.deepEqual(refusals(other), [["IDEMPOTENCY_KEY_MISMATCH", "idempotencyKey"]]);
  });
});
