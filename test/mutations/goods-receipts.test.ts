import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";

let shop: Shop;
before(async () => {
  shop = await openShop();
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const receiptFields = `goodsReceipt { id number type state comment currencyFactor currencyFactorOriginType currencyFactorOriginSource
  currencyFactorReferenceDate currencyFactorCapturedAt amountNet amountTotal positionPrice taxStatus currency { isoCode } warehouse { code }
  supplierOrders { edges { node { id } } } lineItems { edges { node { id productId quantity plannedDisposalQuantity unitPrice unitPriceInDefaultCurrency
  totalPriceInDefaultCurrency batch { number } supplierOrder { id } } } } }`;
const bookingFields = `${receiptFields} stockMovements { quantity processTypeTechnicalName source: sourceLocationTypeTechnicalName
  destination: destinationLocationTypeTechnicalName destinationBinLocation { code } destinationSpecialStockLocationTechnicalName } stocks { quantity }`;
const books = ["goodsReceiptApprove", "goodsReceiptComplete"];
const mutate = (name: string, input: object) =>
  shop.mutate(name, input, { select: books.includes(name) ? bookingFields : receiptFields });
const done = async (name: string, input: object) => {
  const payload = await mutate(name, input);
  assert.deepEqual(payload.userErrors, []);
  return payload;
};
const create = async (input: object) =>
  (await done("goodsReceiptCreate", { type: "Free", ...input })).goodsReceipt;
const line = (product: string, quantity: number, rest: object = {}) => ({
  productId: shop.id[product],
  quantity,
  ...rest,
});
const linesOf = ({ lineItems }: any) => lineItems.edges.map(({ node }: any) => node);

async function order(product: string, quantity: number, input: object = {}) {
  const select = "supplierOrder { id lineItems { edges { node { id } } } }";
  const { supplierOrder } = await shop.mutate(
    "supplierOrderCreate",
    { supplierId: shop.id.acme, lineItems: [line(product, quantity, { unitPrice: 2 })], ...input },
    { select },
  );
  await shop.mutate("supplierOrderConfirm", { id: supplierOrder.id });
  return { id: supplierOrder.id as string, line: supplierOrder.lineItems.edges[0].node.id as string };
}
async function orderNow(id: string) {
  const query = `{ supplierOrder(id: "${id}") { state actualDeliveryDate lineItems { edges { node { receivedQuantity openQuantity actualDeliveryDate } } } } }`;
  return (await shop.ask(await shop.token(), { query })).body.data.supplierOrder;
}

describe("a goods receipt", () => {
  it("goes from draft to the shelf: usual bin, own bin, given places, and what is thrown away", async () => {
    await shop.mutate("productWarehouseConfigurationSet", {
      productId: shop.id.nail,
      warehouseId: shop.id.hall,
      defaultBinLocationId: shop.id["A-1"],
    });
    const receipt = await create({
      isDraft: true,
      lineItems: [
        line("nail", 10, { plannedDisposalQuantity: 3 }),
        line("hammer", 4, { destinationBinLocationId: shop.id["A-2"] }),
        line("glue", 6, { batchNumber: "G9" }),
      ],
    });
    assert.equal(receipt.state, "draft");
    const [nail, , glue] = linesOf(receipt);
    assert.equal(glue.batch.number, "G9");
    assert.equal(
      (await done("goodsReceiptUpdate", { id: receipt.id, isDraft: false })).goodsReceipt.state,
      "created",
    );

    const approved = await done("goodsReceiptApprove", { id: receipt.id });
    assert.equal(approved.goodsReceipt.state, "approved");
    assert.deepEqual(
      approved.stockMovements.map((movement: any) => [
        movement.quantity,
        movement.source,
        movement.destination,
        movement.processTypeTechnicalName,
      ]),
      [10, 4, 6].map((quantity) => [
        quantity,
        "special_stock_location",
        "goods_receipt",
        "free_goods_receipt",
      ]),
    );
    assert.equal((await done("goodsReceiptStart", { id: receipt.id })).goodsReceipt.state, "in_progress");

    const completed = await done("goodsReceiptComplete", {
      id: receipt.id,
      putAway: [
        { goodsReceiptLineItemId: glue.id, place: { binLocationId: shop.id["A-2"] }, quantity: 4 },
        { goodsReceiptLineItemId: glue.id, place: { warehouseId: shop.id.hall }, quantity: 2 },
      ],
    });
    assert.equal(completed.goodsReceipt.state, "completed");
    assert.deepEqual(
      completed.stockMovements.map((movement: any) => [
        movement.quantity,
        movement.destinationBinLocation?.code ??
          movement.destinationSpecialStockLocationTechnicalName ??
          movement.destination,
      ]),
      [
        [7, "A-1"],
        [3, "stock_correction"],
        [4, "A-2"],
        [4, "A-2"],
        [2, "warehouse"],
      ],
    );
    assert.equal(
      linesOf(completed.goodsReceipt).find(({ id }: any) => id === nail.id).plannedDisposalQuantity,
      0,
    );
    assert.deepEqual([await shop.stockAt("nail", "A-1"), await shop.stockAt("glue", "hall")], [7, 2]);
  });

  it("is corrected by another one with negative lines", async () => {
    await shop.mutate("stockAdjust", {
      lines: [{ productId: shop.id.hammer, place: { binLocationId: shop.id["B-1"] }, delta: 5 }],
    });
    const receipt = await create({
      warehouseId: shop.id.shed,
      lineItems: [line("hammer", -2, { destinationBinLocationId: shop.id["B-1"] })],
    });
    const { stockMovements } = await done("goodsReceiptApprove", { id: receipt.id });
    assert.deepEqual(
      [stockMovements[0].source, stockMovements[0].destination, stockMovements[0].quantity],
      ["bin_location", "goods_receipt", 2],
    );
    await done("goodsReceiptComplete", { id: receipt.id });
    assert.equal(await shop.stockAt("hammer", "B-1"), 3);
    const tooMuch = await create({
      warehouseId: shop.id.shed,
      lineItems: [line("hammer", -4, { destinationBinLocationId: shop.id["B-1"] })],
    });
    assert.deepEqual(refusals(await mutate("goodsReceiptApprove", { id: tooMuch.id })), [
      ["INSUFFICIENT_STOCK", "id"],
    ]);
  });

  it("of type Customer takes from the return order", async () => {
    const { rows } = await shop.owner.query(`
      with r as (insert into erp.return_order (number) values ('R-' || gen_random_uuid()) returning id)
      insert into ledger.stock_movement (product_id, quantity, source_location_type_technical_name, source_special_stock_location_technical_name,
        destination_location_type_technical_name, destination_return_order_id)
      select p.id, 2, 'special_stock_location', 'unknown', 'return_order', r.id from r, erp.product p where p.product_number = 'hammer'
      returning destination_return_order_id as id`);
    const returnOrderId = `gid://service/ReturnOrder/${rows[0].id}`;
    const receipt = await create({
      type: "Customer",
      warehouseId: shop.id.returns,
      lineItems: [line("hammer", 2, { returnOrderId })],
    });
    const { stockMovements } = await done("goodsReceiptApprove", { id: receipt.id });
    assert.deepEqual(
      [stockMovements[0].source, stockMovements[0].processTypeTechnicalName],
      ["return_order", "return_order"],
    );
    await done("goodsReceiptComplete", { id: receipt.id });
    assert.equal(await shop.stockAt("hammer", "returns"), 2);
    const nameless = await create({ type: "Customer", lineItems: [line("hammer", 1)] });
    assert.deepEqual(refusals(await mutate("goodsReceiptApprove", { id: nameless.id })), [
      ["REQUIRED", "id"],
    ]);
  });

  it("can be deleted until stock has left it; what was approved goes back", async () => {
    const receipt = await create({ lineItems: [line("nail", 5), line("glue", 2, { batchNumber: "G7" })] });
    await done("goodsReceiptApprove", { id: receipt.id });
    const remove = (id: string) =>
      shop.mutate("goodsReceiptDelete", { id }, { select: "deletedGoodsReceiptId" });
    assert.equal((await remove(receipt.id)).deletedGoodsReceiptId, receipt.id);
    const other = await create({ lineItems: [line("nail", 1)] });
    await done("goodsReceiptApprove", { id: other.id });
    await done("goodsReceiptComplete", { id: other.id });
    assert.deepEqual(refusals(await remove(other.id)), [["NOT_EDITABLE", "id"]]);
  });

  it("refuses what does not fit", async () => {
    const { line: orderLine } = await order("nail", 1);
    const payload = await mutate("goodsReceiptCreate", {
      type: "Free",
      lineItems: [
        line("nail", 0),
        line("nail", 1, { plannedDisposalQuantity: 2 }),
        line("nail", 1, { batchId: shop.id.G1 }),
        line("nail", 1, { supplierOrderLineItemId: orderLine }),
        line("nail", 1, { destinationBinLocationId: shop.id["B-1"] }),
        line("nail", 1, { unitPrice: -1 }),
        line("glue", 1, { batchNumber: " " }),
      ],
    });
    assert.deepEqual(refusals(payload), [
      ["OUT_OF_RANGE", "lineItems.0.quantity"],
      ["OUT_OF_RANGE", "lineItems.1.plannedDisposalQuantity"],
      ["BATCH_MISMATCH", "lineItems.2.batchId"],
      ["INVALID", "lineItems.3.supplierOrderLineItemId"],
      ["INVALID", "lineItems.4.destinationBinLocationId"],
      ["OUT_OF_RANGE", "lineItems.5.unitPrice"],
      ["INVALID", "lineItems.6.batchNumber"],
    ]);
    const empty = await create({});
    assert.deepEqual(refusals(await mutate("goodsReceiptApprove", { id: empty.id })), [["REQUIRED", "id"]]);
    const nameless = await create({ lineItems: [line("glue", 1)] });
    assert.deepEqual(refusals(await mutate("goodsReceiptApprove", { id: nameless.id })), [
      ["BATCH_REQUIRED", "id"],
    ]);
    const putAway = await create({ lineItems: [line("nail", 5)] });
    await done("goodsReceiptApprove", { id: putAway.id });
    const entry = {
      goodsReceiptLineItemId: linesOf(putAway)[0].id,
      place: { warehouseId: shop.id.hall },
      quantity: 4,
    };
    assert.deepEqual(refusals(await mutate("goodsReceiptComplete", { id: putAway.id, putAway: [entry] })), [
      ["INVALID", "putAway.0.quantity"],
    ]);
    const elsewhere = { ...entry, place: { warehouseId: shop.id.shed }, quantity: 5 };
    assert.deepEqual(
      refusals(await mutate("goodsReceiptComplete", { id: putAway.id, putAway: [elsewhere] })),
      [["INVALID", "putAway.0.place"]],
    );
  });

  const allowed: Record<string, string[]> = {
    draft: ["Update", "LineItemsSet", "Delete"],
    created: ["Update", "LineItemsSet", "Delete", "Approve"],
    approved: ["Delete", "Start", "Complete"],
    in_progress: ["Delete", "Complete"],
    completed: [],
  };
  const path = ["Approve", "Start", "Complete"];
  for (const [state, actions] of Object.entries(allowed)) {
    it(`that is ${state} allows ${actions.join(", ") || "nothing"}`, async () => {
      for (const action of ["Update", "LineItemsSet", "Delete", "Approve", "Start", "Complete"]) {
        const { id } = await create({ isDraft: state === "draft", lineItems: [line("nail", 1)] });
        for (const step of path.slice(0, Math.max(0, Object.keys(allowed).indexOf(state) - 1)))
          await done(`goodsReceipt${step}`, { id });
        const input = {
          id,
          ...(action === "Update" ? { taxStatus: "gross" } : {}),
          ...(action === "LineItemsSet" ? { lineItems: [line("nail", 2)] } : {}),
        };
        const { userErrors } = await shop.mutate(`goodsReceipt${action}`, input);
        const expected = ["Approve", "Start", "Complete"].includes(action)
          ? "INVALID_STATE_TRANSITION"
          : "NOT_EDITABLE";
        assert.deepEqual(
          userErrors.map(({ code }: any) => code),
          actions.includes(action) ? [] : [expected],
          action,
        );
      }
    });
  }
});

describe("receiving supplier orders", () => {
  it("fills received quantities and moves the orders on", async () => {
    const one = await order("nail", 10);
    const receive = async (quantity: number, by: object) => {
      const receipt = await create({ type: "Supplier", lineItems: [line("nail", quantity, by)] });
      await done("goodsReceiptApprove", { id: receipt.id });
      await done("goodsReceiptComplete", { id: receipt.id });
      return receipt;
    };
    const receipt = await receive(4, { supplierOrderId: one.id });
    assert.deepEqual(
      receipt.supplierOrders.edges.map(({ node }: any) => node.id),
      [one.id],
    );
    assert.deepEqual([linesOf(receipt)[0].unitPrice, receipt.amountNet, receipt.amountTotal], [2, 8, 9.52]);
    let now = await orderNow(one.id);
    assert.deepEqual(
      [now.state, now.lineItems.edges[0].node.receivedQuantity, now.lineItems.edges[0].node.openQuantity],
      ["partially_delivered", 4, 6],
    );
    await receive(6, { supplierOrderLineItemId: one.line });
    now = await orderNow(one.id);
    assert.deepEqual([now.state, now.lineItems.edges[0].node.openQuantity], ["delivered", 0]);
    assert.ok(now.actualDeliveryDate && now.lineItems.edges[0].node.actualDeliveryDate);
  });

  it("by two clients at once gives one success and one clear refusal", async () => {
    const one = await order("hammer", 5);
    const receipt = await create({
      type: "Supplier",
      lineItems: [line("hammer", 5, { supplierOrderId: one.id })],
    });
    await done("goodsReceiptApprove", { id: receipt.id });
    const payloads = await Promise.all(
      Array.from({ length: 10 }, () => mutate("goodsReceiptComplete", { id: receipt.id })),
    );
    const codes = payloads.map(({ userErrors }) => userErrors[0]?.code ?? "done").sort();
    assert.deepEqual(codes, [...Array<string>(9).fill("INVALID_STATE_TRANSITION"), "done"]);
    assert.equal((await orderNow(one.id)).state, "delivered");
  });
});

describe("the exchange rate of a receipt", () => {
  const euro = () => create({ lineItems: [line("nail", 1, { unitPrice: 5 })] });
  const dollars = (rest: object = {}) =>
    create({ currencyId: shop.id.USD, lineItems: [line("nail", 2, { unitPrice: 5 })], ...rest });

  it("is 1 in the default currency, and the shop's own without an import", async () => {
    const receipt = await euro();
    assert.deepEqual([receipt.currencyFactor, receipt.currencyFactorOriginType], [1, "ShopCurrencyFactor"]);
    const foreign = await dollars();
    assert.deepEqual(
      [foreign.currencyFactor, foreign.currencyFactorOriginType, foreign.currencyFactorOriginSource],
      [1.25, "ShopCurrencyFactor", null],
    );
    assert.deepEqual(
      [linesOf(foreign)[0].unitPriceInDefaultCurrency, linesOf(foreign)[0].totalPriceInDefaultCurrency],
      [4, 8],
    );
    assert.ok(foreign.currencyFactorCapturedAt);
  });

  it("is the imported one of the day, with its source", async () => {
    await shop.owner.query(
      "insert into erp.exchange_rate (currency_id, reference_date, factor, source) values ($1, current_date - 1, 2, 'ECB')",
      [uuidOf(shop.id.USD!)],
    );
    const receipt = await dollars();
    assert.deepEqual(
      [receipt.currencyFactor, receipt.currencyFactorOriginType, receipt.currencyFactorOriginSource],
      [2, "ExchangeRateImport", "ECB"],
    );
    assert.ok(receipt.currencyFactorReferenceDate);
    assert.equal(linesOf(receipt)[0].unitPriceInDefaultCurrency, 2.5);
    await shop.owner.query("delete from erp.exchange_rate");
  });

  it("can be set by hand, even when completed, until a stock valuation report counts with it", async () => {
    const receipt = await dollars({ currencyFactor: 4 });
    assert.deepEqual([receipt.currencyFactor, receipt.currencyFactorOriginType], [4, "Manual"]);
    await done("goodsReceiptApprove", { id: receipt.id });
    await done("goodsReceiptComplete", { id: receipt.id });
    const { goodsReceipt } = await done("goodsReceiptUpdate", { id: receipt.id, currencyFactor: 5 });
    assert.equal(linesOf(goodsReceipt)[0].unitPriceInDefaultCurrency, 1);
    assert.deepEqual(refusals(await mutate("goodsReceiptUpdate", { id: receipt.id, currencyFactor: 0 })), [
      ["OUT_OF_RANGE", "currencyFactor"],
    ]);
    await shop.owner.query("insert into valuation.counted_receipt (goods_receipt_id) values ($1)", [
      uuidOf(receipt.id),
    ]);
    const locked = await mutate("goodsReceiptUpdate", { id: receipt.id, currencyFactor: 6 });
    assert.deepEqual(refusals(locked), [["CURRENCY_FACTOR_LOCKED", "currencyFactor"]]);
  });
});
