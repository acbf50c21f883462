import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { sequence } from "../events/support.ts";
import { uuidOf } from "../lib/ids.ts";
import type { ReturnShop } from "../lib/return-shop.ts";
import { figures, openReturnShop } from "../lib/return-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// What returns mean to orders, shipments and customers
let shop: ReturnShop;
before(async () => {
  shop = await openReturnShop({ poolSize: 5 });
  for (const product of ["hammer", "nail"]) {
    await shop.store(product, "A-1", 1_000);
    await shop.store(product, "B-1", 1_000);
  }
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const states = async (order: any) => {
  const { state, deliveryState } = await shop.stateOf(order);
  return [state, deliveryState];
};

describe("an order with returns", () => {
  it("that was shipped in part goes on: returned in part, then the rest is shipped and comes back", async () => {
    const order = await shop.order([{ product: "hammer", quantity: 5 }], [{ lines: [[0, 5]] }]);
    const [work] = order.fulfillmentOrders;
    const lines = [{ fulfillmentOrderLineItemId: work!.lines[0], quantity: 2 }];
    assert.deepEqual((await shop.fulfill(work!, { lines })).userErrors, []);
    const made = await shop.request([[order.lines[0]!, 2]], { isApproved: true });
    await shop.receive([{ line: made.lines[0]!, quantity: 2 }]);
    assert.deepEqual(await states(order), ["in_progress", "returned_partially"]);
    assert.deepEqual((await shop.fulfill(work!)).userErrors, []);
    assert.deepEqual(await states(order), ["completed", "returned_partially"]);
    const rest = await shop.request([[order.lines[0]!, 3]], { isApproved: true });
    await shop.receive([{ line: rest.lines[0]!, quantity: 3 }]);
    assert.deepEqual(await states(order), ["completed", "returned"]);
  });

  it("in two parcels from two warehouses comes back by the lines of its fulfillments", async () => {
    const order = await shop.order(
      [{ product: "nail", quantity: 5 }],
      [{ lines: [[0, 2]] }, { location: "shed", lines: [[0, 3]] }],
    );
    const parcels = [];
    for (const work of order.fulfillmentOrders) parcels.push((await shop.fulfill(work)).fulfillment.id);
    const lineOf = async (id: string) =>
      (
        await shop.read("query ($id: ID!) { fulfillment(id: $id) { lineItems { edges { node { id } } } } }", {
          id,
        })
      ).fulfillment.lineItems.edges[0].node.id;
    const [first, second] = [await lineOf(parcels[0]), await lineOf(parcels[1])];
    const tooMany = await shop.mutate("returnOrderCreate", {
      lineItems: [{ fulfillmentLineItemId: first, quantity: 3 }],
    });
    assert.deepEqual(refusals(tooMany), [["EXCEEDS_SHIPPED", "lineItems.0.quantity"]]);
    const made = await shop.request([
      { fulfillmentLineItemId: first, quantity: 2 },
      { fulfillmentLineItemId: second, quantity: 3, wantedOutcome: "repair" },
    ]);
    const [one, two] = made.lines;
    await shop.receive([{ line: two!, quantity: 3 }]);
    assert.deepEqual(await states(order), ["completed", "returned_partially"]);
    const now = await shop.receive([{ line: one!, quantity: 2 }]);
    assert.deepEqual(figures(now), [
      [2, 2, 2, 0, 0, 0],
      [3, 3, 3, 0, 0, 0],
    ]);
    assert.deepEqual(await states(order), ["completed", "returned"]);
  });

  it("does not lose a shipment that comes back: cancelling it is refused by a code", async () => {
    const order = await shop.order([{ product: "hammer", quantity: 2 }], [{ lines: [[0, 2]] }]);
    const { fulfillment } = await shop.fulfill(order.fulfillmentOrders[0]!);
    const made = await shop.request([[order.lines[0]!, 1]], { isApproved: true });
    const announced = await shop.cancel(fulfillment.id);
    assert.deepEqual(refusals(announced), [["RETURN_EXISTS", "id"]]);
    assert.deepEqual(announced.userErrors[0].details, { returnOrderNumbers: [made.number] });
    await shop.receive([{ line: made.lines[0]!, quantity: 1 }]);
    assert.deepEqual(refusals(await shop.cancel(fulfillment.id)), [["RETURN_EXISTS", "id"]]);
    const other = await shop.order([{ product: "hammer", quantity: 1 }], [{ lines: [[0, 1]] }]);
    const parcel = (await shop.fulfill(other.fulfillmentOrders[0]!)).fulfillment;
    const called = await shop.request([[other.lines[0]!, 1]]);
    await shop.succeed("returnOrderCancel", { id: called.id });
    assert.deepEqual((await shop.cancel(parcel.id)).userErrors, []);
  });

  it("says what it allows: a completed one returns, one whose shipment is cancelled has nothing to", async () => {
    const order = await shop.order([{ product: "hammer", quantity: 1 }], [{ lines: [[0, 1]] }]);
    const { fulfillment } = await shop.fulfill(order.fulfillmentOrders[0]!);
    const completed = await shop.mutate("orderCancel", { id: order.id });
    assert.deepEqual(refusals(completed), [["INVALID_STATE_TRANSITION", null]]);
    assert.deepEqual(completed.userErrors[0].details, {
      state: "completed",
      allowedActions: ["reopen", "return"],
    });
    // Reopened by the cancelled shipment, then cancelled itself
    assert.deepEqual((await shop.cancel(fulfillment.id)).userErrors, []);
    const reopened = await shop.mutate("returnOrderCreate", {
      lineItems: [{ orderLineItemId: order.lines[0], quantity: 1 }],
    });
    assert.deepEqual(refusals(reopened), [["EXCEEDS_SHIPPED", "lineItems.0.quantity"]]);
    assert.equal(reopened.userErrors[0].details.returnable, 0);
    await shop.succeed("orderCancel", { id: order.id });
    const shipping = await shop.ship(order);
    assert.deepEqual(shipping.userErrors[0].details, { state: "cancelled", allowedActions: ["reopen"] });
  });

  it("that was cancelled although its parcel had left takes the parcel back, and stays cancelled", async () => {
    const order = await shop.shipped([{ product: "hammer", quantity: 1 }]);
    await shop.sql(
      "update erp.sales_order set state = 'cancelled', delivery_state = 'cancelled' where id = $1",
      order.id,
    );
    const made = await shop.request([[order.lines[0]!, 1]], { isApproved: true });
    const now = await shop.receive([{ line: made.lines[0]!, quantity: 1 }]);
    assert.equal(now.state, "received");
    assert.deepEqual(await states(order), ["cancelled", "cancelled"]);
  });

  it("is exchanged: the order that replaces the goods knows the return, and the other way round", async () => {
    const order = await shop.shipped([{ product: "hammer", quantity: 1 }]);
    const made = await shop.request([
      { orderLineItemId: order.lines[0], quantity: 1, wantedOutcome: "replacement" },
    ]);
    const replacement = await shop.shipped([{ product: "hammer", quantity: 1, price: 0 }]);
    const itself = await shop.mutate("returnOrderUpdate", { id: made.id, replacementOrderId: order.id });
    assert.deepEqual(refusals(itself), [["INVALID", "replacementOrderId"]]);
    await shop.succeed("returnOrderUpdate", { id: made.id, replacementOrderId: replacement.id });
    const read = await shop.read(
      `query ($id: ID!) { order(id: $id) { replacedReturnOrders { edges { node { order { id }
        replacementOrder { id } } } } } }`,
      { id: replacement.id },
    );
    assert.deepEqual(read.order.replacedReturnOrders.edges, [
      { node: { order: { id: order.id }, replacementOrder: { id: replacement.id } } },
    ]);
  });

  it("costs less when its goods are back, at the value that they left with", async () => {
    const { products } = await shop.succeed(
      "productsUpsert",
      { products: [{ productNumber: "saw" }] },
      "products { id }",
    );
    shop.id["saw"] = products[0].id;
    const lineItems = [{ productId: shop.id["saw"], quantity: 4, unitPrice: 12.5 }];
    const { goodsReceipt } = await shop.succeed(
      "goodsReceiptCreate",
      { type: "Free", warehouseId: shop.id["hall"], currencyId: shop.id["EUR"], taxStatus: "net", lineItems },
      "goodsReceipt { id }",
    );
    await shop.succeed("goodsReceiptApprove", { id: goodsReceipt.id });
    await shop.succeed("goodsReceiptComplete", { id: goodsReceipt.id });
    const order = await shop.shipped([{ product: "saw", quantity: 3 }]);
    const cost = async () => {
      await sequence(shop.owner);
      return Number(
        (await shop.read("query ($id: ID!) { order(id: $id) { costOfGoods } }", { id: order.id })).order
          .costOfGoods,
      );
    };
    assert.equal(await cost(), 37.5);
    const made = await shop.request([[order.lines[0]!, 2]], { isApproved: true });
    await shop.receive(
      [{ line: made.lines[0]!, quantity: 2 }],
      [
        [0, "A-1", 1],
        [0, null, 1, "dispose"],
      ],
    );
    assert.equal(await cost(), 12.5);
  });
});

describe("serial numbers", () => {
  it("come back as they left, and others are refused", async () => {
    const { products } = await shop.succeed(
      "productsUpsert",
      { products: [{ productNumber: "drill", tracking: "serial" }] },
      "products { id }",
    );
    shop.id["drill"] = products[0].id;
    const { batches } = await shop.succeed(
      "batchesUpsert",
      { batches: ["D1", "D2"].map((number) => ({ productNumber: "drill", number })) },
      "batches { id number }",
    );
    for (const { id, number } of batches) shop.id[number] = id;
    for (const number of ["D1", "D2"]) await shop.store("drill", "A-1", 1, number);
    const order = await shop.shipped([{ product: "drill", quantity: 1 }]);
    const [{ number }] = await shop.sql(
      `select t.number from ledger.stock s join ledger.batch_stock b on b.stock_id = s.id and b.quantity > 0
       join erp.batch t on t.id = b.batch_id where s.order_id = $1`,
      order.id,
    );
    const made = await shop.request([[order.lines[0]!, 1]], { isApproved: true });
    const other = number === "D1" ? "D2" : "D1";
    const wrong = await shop.parcel([{ line: made.lines[0]!, quantity: 1, batchId: shop.id[other]! }]);
    assert.deepEqual(refusals(await shop.mutate("goodsReceiptApprove", { id: wrong.id })), [
      ["BATCH_MISMATCH", "id"],
    ]);
    const now = await shop.receive([{ line: made.lines[0]!, quantity: 1, batchId: shop.id[number]! }]);
    assert.equal(now.state, "received");
    const { batch } = await shop.read(
      "query ($id: ID!) { batch(id: $id) { shipments { edges { node { keptQuantity } } } physicalStock } }",
      { id: shop.id[number] },
    );
    assert.equal(batch.physicalStock, 1);
    for (const { node } of batch.shipments.edges) assert.equal(node.keptQuantity, 0);
  });
});

describe("rows that SQL writes", () => {
  it("keep the same figures: a return, its line, and a receipt", async () => {
    const order = await shop.shipped([{ product: "hammer", quantity: 2 }]);
    const [{ id }] = await shop.sql(
      "insert into erp.return_order (number, order_id) values ('SQL-1', $1) returning id",
      order.id,
    );
    const [line] = await shop.sql(
      `insert into erp.return_order_line_item (return_order_id, order_line_item_id, quantity) values ($1, $2, 2)
       returning id, product_id`,
      `gid://service/ReturnOrder/${id}`,
      order.lines[0]!,
    );
    assert.equal(line.product_id, uuidOf(shop.id["hammer"]!));
    const made = await shop.returned(`gid://service/ReturnOrder/${id}`);
    assert.equal(made.state, "open");
    const now = await shop.receive([{ line: made.lines[0]!, quantity: 2 }]);
    assert.deepEqual([now.state, figures(now)], ["received", [[2, 2, 2, 0, 0, 0]]]);
    await assert.rejects(
      shop.sql("update erp.return_order_line_item set quantity = 3 where id = $1", made.lines[0]!.id),
      /order_line_item_returns_no_more_than_shipped/,
    );
    await assert.rejects(
      shop.sql("update erp.sales_order_line_item set shipped_quantity = 1 where id = $1", order.lines[0]!),
      /order_line_item_returns_no_more_than_shipped/,
    );
  });

  it("cannot claim the same units twice at once", async () => {
    const order = await shop.shipped([{ product: "hammer", quantity: 3 }]);
    const claim = () =>
      shop.mutate("returnOrderCreate", { lineItems: [{ orderLineItemId: order.lines[0], quantity: 2 }] });
    const results = await Promise.all([claim(), claim(), claim()]);
    assert.deepEqual(results.map(({ userErrors }) => userErrors[0]?.code ?? "made").toSorted(), [
      "EXCEEDS_SHIPPED",
      "EXCEEDS_SHIPPED",
      "made",
    ]);
  });
});

describe("a customer's return", () => {
  it("is handed over with the rest, and goes on after they were anonymized", async () => {
    await shop.owner.query(`
      insert into erp.customer_group (name) values ('{"en-GB": "All"}');
      insert into erp.country (iso_code, name) values ('FR', '{"en-GB": "France"}');
      insert into erp.payment_method (technical_name) values ('cash');
      insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
        select '{"en-GB": "Till"}', c.id, e.id, g.id, p.id from erp.country c, erp.currency e, erp.customer_group g,
        erp.payment_method p where e.is_default_currency limit 1`);
    const [{ id: customer }] = await shop.sql(
      `insert into erp.customer (customer_number, email, first_name, last_name, group_id, sales_channel_id)
       select 'C-1', 'ada@example.com', 'Ada', 'Lovelace', g.id, s.id from erp.customer_group g, erp.sales_channel s
       limit 1 returning id`,
    );
    const order = await shop.shipped([{ product: "hammer", quantity: 1 }]);
    await shop.owner.query("update erp.sales_order set customer_id = $1 where id = $2", [
      customer,
      uuidOf(order.id),
    ]);
    const made = await shop.request([[order.lines[0]!, 1]], {
      comment: "Ada calls back",
      reference: "Ada 1",
    });
    const exported = await shop.owner.query(
      "select content from erp.export_customer($1) where kind = 'returns'",
      [customer],
    );
    assert.equal(exported.rows[0].content.comment, "Ada calls back");
    assert.equal(exported.rows[0].content.line_items.length, 1);
    await shop.owner.query("select * from erp.anonymize_customer($1, '{}', '{}')", [customer]);
    const { returnOrder } = await shop.read(
      "query ($id: ID!) { returnOrder(id: $id) { comment reference customer { lastName returnOrders { edges { node { id } } } } } }",
      { id: made.id },
    );
    assert.deepEqual(returnOrder, {
      comment: null,
      reference: null,
      customer: { lastName: "Customer", returnOrders: { edges: [{ node: { id: made.id } }] } },
    });
    const now = await shop.receive([{ line: made.lines[0]!, quantity: 1 }]);
    assert.equal(now.state, "received");
    await shop.succeed("returnOrderRefund", { id: made.id });
  });
});
