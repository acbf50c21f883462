import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import type { ReturnShop } from "../lib/return-shop.ts";
import { figures, openReturnShop } from "../lib/return-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// Situations of a merchant's day with returns, through the API only
let shop: ReturnShop;
before(async () => {
  shop = await openReturnShop({ poolSize: 5 });
  for (const product of ["hammer", "nail"]) {
    await shop.store(product, "A-1", 1_000);
    await shop.store(product, "B-1", 1_000);
  }
  await shop.store("glue", "A-2", 50, "G1");
  await shop.store("glue", "A-2", 50, "G2");
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const hammers = (quantity: number) => [{ product: "hammer", quantity }];
const deliveryState = async (order: { id: string }) => (await shop.stateOf(order as any)).deliveryState;

describe("an announced return", () => {
  it("is approved, arrives and goes back to the shelf", async () => {
    const order = await shop.shipped(hammers(3));
    const before = await shop.stockAt("hammer", "A-2");
    const made = await shop.request([[order.lines[0]!, 3]], {
      reference: "RMA 7",
      withdrawalDate: "2026-01-02",
    });
    assert.equal(made.state, "requested");
    const approve = await shop.succeed(
      "returnOrderApprove",
      { id: made.id },
      "returnOrder { state order { id } }",
    );
    assert.deepEqual(approve.returnOrder, { state: "approved", order: { id: order.id } });
    const now = await shop.receive([{ line: made.lines[0]!, quantity: 3 }], [[0, "A-2", 3]]);
    assert.deepEqual(figures(now), [[3, 3, 3, 0, 0, 0]]);
    assert.equal(now.state, "received");
    assert.equal(await shop.stockAt("hammer", "A-2"), before + 3);
    assert.equal(await deliveryState(order), "returned");
    const { returnOrder } = await shop.succeed(
      "returnOrderClose",
      { id: made.id },
      "returnOrder { state closedAt }",
    );
    assert.equal(returnOrder.state, "closed");
    assert.notEqual(returnOrder.closedAt, null);
  });

  it("moves from the order through the return in one booking", async () => {
    const order = await shop.shipped(hammers(2));
    const made = await shop.request([[order.lines[0]!, 2]]);
    const { id } = await shop.parcel([{ line: made.lines[0]!, quantity: 2 }]);
    const { stockMovements } = await shop.succeed(
      "goodsReceiptApprove",
      { id },
      `stockMovements { booking { id } sourceLocationTypeTechnicalName destinationLocationTypeTechnicalName
        sourceReturnOrder { number } destinationReturnOrder { number } sourceOrder { id } }`,
    );
    assert.deepEqual(
      stockMovements.map((m: any) => [
        m.sourceOrder?.id ?? m.sourceReturnOrder.number,
        m.destinationReturnOrder?.number ?? m.destinationLocationTypeTechnicalName,
      ]),
      [
        [order.id, made.number],
        [made.number, "goods_receipt"],
      ],
    );
    assert.equal(new Set(stockMovements.map((m: any) => m.booking.id)).size, 1);
    const { returnOrder } = await shop.read(
      "query ($id: ID!) { returnOrder(id: $id) { goodsReceipts { edges { node { id } } } } }",
      { id: made.id },
    );
    assert.deepEqual(returnOrder.goodsReceipts.edges, [{ node: { id } }]);
  });

  it("arrives in part; what is missing when it is closed can be returned anew", async () => {
    const order = await shop.shipped(hammers(5));
    const made = await shop.request([[order.lines[0]!, 4]], { isApproved: true });
    assert.equal(made.state, "approved");
    const now = await shop.receive([{ line: made.lines[0]!, quantity: 1 }]);
    assert.deepEqual([now.state, figures(now)], ["received_partially", [[4, 1, 1, 0, 0, 0]]]);
    assert.equal(await deliveryState(order), "returned_partially");
    await shop.succeed("returnOrderClose", { id: made.id });
    assert.deepEqual(figures(await shop.returned(made.id)), [[4, 1, 1, 0, 0, 3]]);
    const again = await shop.request([[order.lines[0]!, 4]]);
    await shop.receive([{ line: again.lines[0]!, quantity: 4 }]);
    assert.equal(await deliveryState(order), "returned");
  });

  it("opens again when a parcel arrives after its end", async () => {
    const order = await shop.shipped(hammers(2));
    const made = await shop.request([[order.lines[0]!, 2]], { isApproved: true });
    await shop.succeed("returnOrderClose", { id: made.id });
    const now = await shop.receive([{ line: made.lines[0]!, quantity: 2 }]);
    assert.deepEqual([now.state, figures(now)], ["received", [[2, 2, 2, 0, 0, 0]]]);
  });

  it("never claims more than was shipped: together, later, and in SQL", async () => {
    const order = await shop.shipped(hammers(3));
    const [line] = order.lines;
    const tooMany = await shop.mutate(
      "returnOrderCreate",
      { lineItems: [2, 2].map((quantity) => ({ orderLineItemId: line, quantity })) },
      {},
    );
    assert.deepEqual(refusals(tooMany), [["EXCEEDS_SHIPPED", "lineItems.1.quantity"]]);
    assert.deepEqual(tooMany.userErrors[0].details, { returnable: 3, requested: 4 });
    const made = await shop.request([[line!, 2]]);
    const second = () =>
      shop.mutate("returnOrderCreate", { lineItems: [{ orderLineItemId: line, quantity: 2 }] });
    assert.deepEqual(refusals(await second()), [["EXCEEDS_SHIPPED", "lineItems.0.quantity"]]);
    await assert.rejects(
      shop.sql(
        `insert into erp.return_order_line_item (return_order_id, order_line_item_id, quantity) values ($1, $2, 2)`,
        made.id,
        line!,
      ),
      /order_line_item_returns_no_more_than_shipped/,
    );
    await shop.succeed("returnOrderCancel", { id: made.id });
    assert.deepEqual((await second()).userErrors, []);
  });

  it("is refused with a reason, and takes no goods then", async () => {
    const order = await shop.shipped(hammers(1));
    const made = await shop.request([[order.lines[0]!, 1]]);
    const blank = await shop.mutate("returnOrderRefuse", { id: made.id, refusalReason: " " });
    assert.deepEqual(refusals(blank), [["REQUIRED", "refusalReason"]]);
    const { returnOrder } = await shop.succeed(
      "returnOrderRefuse",
      { id: made.id, refusalReason: "Worn for a year." },
      "returnOrder { state refusalReason }",
    );
    assert.deepEqual(returnOrder, { state: "refused", refusalReason: "Worn for a year." });
    const { id } = await shop.parcel([{ line: made.lines[0]!, quantity: 1 }]);
    const refused = await shop.mutate("goodsReceiptApprove", { id });
    assert.deepEqual(refusals(refused), [["INVALID_STATE_TRANSITION", null]]);
    assert.equal(await deliveryState(order), "shipped");
    assert.deepEqual((await shop.mutate("returnOrderApprove", { id: made.id })).userErrors[0].details, {
      state: "refused",
      allowedActions: [],
    });
  });
});

describe("a parcel that is not as announced", () => {
  it("has another product: that becomes a line of its own", async () => {
    const order = await shop.shipped(hammers(1));
    const made = await shop.request([[order.lines[0]!, 1]], { isApproved: true });
    const wrong = await shop.mutate("goodsReceiptCreate", {
      lineItems: [{ productId: shop.id["nail"], quantity: 1, returnOrderLineItemId: made.lines[0]!.id }],
    });
    assert.deepEqual(refusals(wrong), [["INVALID", "lineItems.0.returnOrderLineItemId"]]);
    await shop.succeed("returnOrderUpdate", {
      id: made.id,
      lineItems: [
        { id: made.lines[0]!.id },
        { productId: shop.id["nail"], quantity: 1, reason: "wrong_item" },
      ],
    });
    const found = (await shop.returned(made.id)).lines[1]!;
    const now = await shop.receive([{ line: found, quantity: 1 }]);
    assert.deepEqual(figures(now), [
      [1, 0, 0, 0, 0, 0],
      [1, 1, 1, 0, 0, 0],
    ]);
    await shop.succeed("returnOrderClose", { id: made.id });
    assert.equal((await shop.returned(made.id)).lines[0]!.missingQuantity, 1);
    assert.equal(await deliveryState(order), "shipped");
  });

  it("was not announced: it is booked from unknown, and matched to its order later", async () => {
    const order = await shop.shipped([...hammers(2), { product: "nail", quantity: 10 }]);
    const made = await shop.request([{ productId: shop.id["nail"], quantity: 4, reason: "undeliverable" }]);
    const now = await shop.receive([{ line: made.lines[0]!, quantity: 4 }]);
    assert.deepEqual([now.state, figures(now)], ["received", [[4, 4, 4, 0, 0, 0]]]);
    assert.equal(await deliveryState(order), "shipped");
    await shop.succeed("returnOrderUpdate", { id: made.id, orderId: order.id });
    assert.equal(await deliveryState(order), "returned_partially");
    const [{ quantity }] = await shop.sql(
      "select quantity from ledger.stock where order_id = $1 and product_id = $2",
      order.id,
      shop.id["nail"]!,
    );
    assert.equal(quantity, 6);
    const { order: read } = await shop.read(
      `query ($id: ID!) { order(id: $id) { returnOrders { edges { node { number } } }
        lineItems { edges { node { returnedQuantity } } } } }`,
      { id: order.id },
    );
    assert.deepEqual(read.returnOrders.edges, [{ node: { number: made.number } }]);
    assert.deepEqual(
      read.lineItems.edges.map(({ node }: any) => node.returnedQuantity),
      [0, 4],
    );
    const other = await shop.shipped(hammers(1));
    const moved = await shop.mutate("returnOrderUpdate", { id: made.id, orderId: other.id });
    assert.deepEqual(refusals(moved), [["NOT_EDITABLE", "orderId"]]);
  });

  it("has more than announced: up to what was shipped, with a warning", async () => {
    const order = await shop.shipped(hammers(3));
    const made = await shop.request([[order.lines[0]!, 1]], { isApproved: true });
    const parcel = await shop.parcel([{ line: made.lines[0]!, quantity: 2 }]);
    const { warnings } = await shop.succeed(
      "goodsReceiptApprove",
      { id: parcel.id },
      "warnings { code details }",
    );
    assert.deepEqual(
      warnings.map((w: any) => [w.code, w.details.quantity]),
      [["SURPLUS", 1]],
    );
    const now = await shop.returned(made.id);
    assert.deepEqual([now.state, now.lines[0]!.receivedQuantity], ["received", 2]);
    const beyond = await shop.parcel([{ line: made.lines[0]!, quantity: 2 }]);
    const refused = await shop.mutate("goodsReceiptApprove", { id: beyond.id });
    assert.deepEqual(refusals(refused), [["EXCEEDS_SHIPPED", "id"]]);
    assert.equal(refused.userErrors[0].details.returnable, 1);
  });
});

describe("goods that come back", () => {
  it("are thrown away when damaged: planned, or found while they are put away", async () => {
    const order = await shop.shipped(hammers(4));
    const made = await shop.request([[order.lines[0]!, 4]], { isApproved: true });
    const before = await shop.stockAt("hammer", "A-1");
    const now = await shop.receive(
      [{ line: made.lines[0]!, quantity: 4, plannedDisposalQuantity: 1 }],
      [
        [0, "A-1", 1, "restock"],
        [0, null, 2, "dispose"],
      ],
    );
    assert.deepEqual(figures(now), [[4, 4, 1, 0, 3, 0]]);
    assert.equal(await shop.stockAt("hammer", "A-1"), before + 1);
  });

  it("wait in quarantine in a batch on hold, and are restocked by releasing it", async () => {
    const order = await shop.shipped([{ product: "glue", quantity: 2 }]);
    const [{ batch_id: batch }] = await shop.sql(
      "select b.batch_id from ledger.stock s join ledger.batch_stock b on b.stock_id = s.id where s.order_id = $1",
      order.id,
    );
    const batchId = `gid://service/Batch/${batch}`;
    const made = await shop.request([[order.lines[0]!, 2]], { isApproved: true });
    const arriving = [{ line: made.lines[0]!, quantity: 2, batchId }];
    const parcel = await shop.parcel(arriving);
    await shop.succeed("goodsReceiptApprove", { id: parcel.id });
    const putAway = [
      {
        goodsReceiptLineItemId: parcel.lines[0],
        quantity: 2,
        place: { warehouseId: shop.id["hall"] },
        outcome: "quarantine",
      },
    ];
    const sellable = await shop.mutate("goodsReceiptComplete", { id: parcel.id, putAway });
    assert.deepEqual(refusals(sellable), [["INVALID", "putAway.0.place"]]);
    await shop.succeed("batchHold", { ids: [batchId] });
    await shop.succeed("goodsReceiptComplete", { id: parcel.id, putAway });
    assert.deepEqual(figures(await shop.returned(made.id)), [[2, 2, 0, 2, 0, 0]]);
    await shop.succeed("batchRelease", { ids: [batchId] });
    assert.deepEqual(figures(await shop.returned(made.id)), [[2, 2, 0, 2, 0, 0]]);
  });

  it("come back in the batch that left, and in no other", async () => {
    const order = await shop.shipped([{ product: "glue", quantity: 1 }]);
    const [{ number }] = await shop.sql(
      `select t.number from ledger.stock s join ledger.batch_stock b on b.stock_id = s.id and b.quantity > 0
       join erp.batch t on t.id = b.batch_id where s.order_id = $1`,
      order.id,
    );
    const other = number === "G1" ? "G2" : "G1";
    const announced = await shop.mutate("returnOrderCreate", {
      lineItems: [{ orderLineItemId: order.lines[0], quantity: 1, batchId: shop.id[other] }],
    });
    assert.deepEqual(refusals(announced), [["BATCH_MISMATCH", "lineItems.0.batchId"]]);
    const made = await shop.request([[order.lines[0]!, 1]]);
    const wrong = await shop.parcel([{ line: made.lines[0]!, quantity: 1, batchId: shop.id[other]! }]);
    assert.deepEqual(refusals(await shop.mutate("goodsReceiptApprove", { id: wrong.id })), [
      ["BATCH_MISMATCH", "id"],
    ]);
    const none = await shop.parcel([{ line: made.lines[0]!, quantity: 1 }]);
    assert.deepEqual(refusals(await shop.mutate("goodsReceiptApprove", { id: none.id })), [
      ["BATCH_REQUIRED", "id"],
    ]);
    const now = await shop.receive([{ line: made.lines[0]!, quantity: 1, batchId: shop.id[number]! }]);
    assert.equal(now.state, "received");
  });

  it("can be taken out again: a correction gives them back to the order", async () => {
    const order = await shop.shipped(hammers(2));
    const made = await shop.request([[order.lines[0]!, 2]], { isApproved: true });
    await shop.receive([{ line: made.lines[0]!, quantity: 2 }]);
    const now = await shop.receive([{ line: made.lines[0]!, quantity: -1 }]);
    assert.deepEqual([now.state, figures(now)], ["received_partially", [[2, 1, 1, 0, 0, 0]]]);
    assert.equal(await deliveryState(order), "returned_partially");
    const [{ quantity }] = await shop.sql("select quantity from ledger.stock where order_id = $1", order.id);
    assert.equal(quantity, 1);
  });

  it("leave an approved receipt that is deleted, and arrive by the next one", async () => {
    const order = await shop.shipped(hammers(1));
    const made = await shop.request([[order.lines[0]!, 1]], { isApproved: true });
    const { id } = await shop.parcel([{ line: made.lines[0]!, quantity: 1 }]);
    await shop.succeed("goodsReceiptApprove", { id });
    await shop.succeed("goodsReceiptDelete", { id });
    const gone = await shop.returned(made.id);
    assert.deepEqual([gone.state, figures(gone)], ["approved", [[1, 0, 0, 0, 0, 0]]]);
    const now = await shop.receive([{ line: made.lines[0]!, quantity: 1 }]);
    assert.equal(now.state, "received");
    assert.equal(uuidOf(now.id), uuidOf(made.id));
  });
});
