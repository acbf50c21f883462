import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { reservingIn } from "../lib/reserving.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop, ShopOrder } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// The smallest cases of what dealings at random have found between orders, promises, returns and counts
let shop: ShippingShop;
let stock: ReturnType<typeof reservingIn>;
before(async () => {
  shop = await openShippingShop();
  stock = reservingIn(shop);
});
after(() => shop.close());

const done = async (name: string, input: object, select = "__typename") => {
  const payload = await shop.mutate(name, input, { select });
  assert.deepEqual(payload.userErrors, [], name);
  return payload;
};
const stateOf = async (order: ShopOrder) => {
  const { state, deliveryState } = await shop.stateOf(order);
  return [state, deliveryState];
};
/** Announces the return of units, and approves the receipt of their parcel. */
async function arrive(order: ShopOrder, product: string, quantity: number, rest: object = {}) {
  const lineItems = [{ orderLineItemId: order.lines[0], quantity }];
  const select = "returnOrder { id lineItems(first: 1) { edges { node { id } } } }";
  const { returnOrder } = await done(
    "returnOrderCreate",
    { orderId: order.id, isApproved: true, lineItems },
    select,
  );
  const returnOrderLineItemId = returnOrder.lineItems.edges[0].node.id;
  const line = { productId: shop.id[product], quantity, returnOrderLineItemId, ...rest };
  const receipt = { type: "Customer", warehouseId: shop.id.hall, lineItems: [line] };
  const { goodsReceipt } = await done("goodsReceiptCreate", receipt, "goodsReceipt { id }");
  await done("goodsReceiptApprove", { id: goodsReceipt.id });
  return { returnOrder, goodsReceipt };
}

test("a returned order that is reopened, and has nothing to ship, stays returned", async () => {
  const product = await stock.newProduct("reopened");
  const order = await shop.order([{ product, quantity: 2 }]);
  await shop.ship(order);
  const { goodsReceipt } = await arrive(order, product, 2);
  await done("goodsReceiptComplete", { id: goodsReceipt.id });
  assert.deepEqual(await stateOf(order), ["completed", "returned"]);
  await done("orderReopen", { id: order.id });
  await done("orderShipmentComplete", { orderId: order.id });
  assert.deepEqual(await stateOf(order), ["completed", "returned"]);
});

test("an order is completed when its lines are lowered to what was shipped, also when units came back", async () => {
  const product = await stock.newProduct("lowered");
  const order = await shop.order([{ product, quantity: 5 }], [{ lines: [[0, 5]] }]);
  const [part] = order.fulfillmentOrders;
  await shop.fulfill(part!, { lines: [{ fulfillmentOrderLineItemId: part!.lines[0], quantity: 3 }] });
  await arrive(order, product, 3);
  assert.deepEqual(await stateOf(order), ["in_progress", "returned_partially"]);
  await done("fulfillmentOrderCancel", { id: part!.id });
  await done("ordersUpsert", {
    orders: [{ id: order.id, lineItems: [{ id: order.lines[0], quantity: 3 }] }],
  });
  assert.deepEqual(await stateOf(order), ["completed", "returned"]);
});

test("a deleted receipt of a return gives the units back to their order", async () => {
  const product = await stock.newProduct("given-back");
  const order = await shop.order([{ product, quantity: 4 }]);
  await shop.ship(order);
  const { goodsReceipt } = await arrive(order, product, 3);
  await done("goodsReceiptDelete", { id: goodsReceipt.id });
  const places = await shop.sql(
    "select place, quantity from ledger.stock where product_id = $1 and quantity > 0 and order_id is not null",
    shop.id[product]!,
  );
  assert.deepEqual(
    places.map(({ quantity }) => quantity),
    [4],
  );
  assert.deepEqual(
    await shop.sql(
      "select id from ledger.stock where product_id = $1 and return_order_id is not null and quantity > 0",
      shop.id[product]!,
    ),
    [],
  );
  assert.deepEqual(await stateOf(order), ["completed", "shipped"]);
});

test("a reopened order whose return did not arrive after all can be completed", async () => {
  const product = await stock.newProduct("reopened-again");
  const order = await shop.order([{ product, quantity: 2 }]);
  await shop.ship(order);
  const { goodsReceipt } = await arrive(order, product, 2);
  await done("orderReopen", { id: order.id });
  await done("goodsReceiptDelete", { id: goodsReceipt.id });
  assert.deepEqual(await stateOf(order), ["in_progress", "shipped_partially"]);
  await done("orderShipmentComplete", { orderId: order.id });
  assert.deepEqual(await stateOf(order), ["completed", "shipped"]);
});

test("units that a fulfillment order gives to another consume no reservation", async () => {
  const product = await stock.newProduct("divided", "A-1", 10);
  await shop.store(product, "B-1", 10);
  const order = await shop.order([{ product, quantity: 9 }], [{ lines: [[0, 5]] }]);
  const orderLineItemId = order.lines[0];
  const here = await stock.reserve(product, "hall", 2, { orderLineItemId });
  const there = await stock.reserve(product, "shed", 2, { orderLineItemId });
  const [part] = order.fulfillmentOrders;
  const lines = [{ fulfillmentOrderLineItemId: part!.lines[0], quantity: 1 }];
  await done("fulfillmentOrderSplit", { id: part!.id, lines });
  await done("fulfillmentOrderMove", { id: part!.id, warehouseId: shop.id.shed, lines });
  await done("fulfillmentOrderMove", { id: part!.id, warehouseId: shop.id.shed });
  assert.deepEqual(await stock.kept(here, there), ["2 active", "2 active"]);
  const figures = [await stock.figures(product), await stock.figures(product, "shed")];
  assert.deepEqual(
    figures.map(({ reservedThere }) => reservedThere),
    [1 + 2, 4 + 2],
  );
  // Those that a new fulfillment order gets are the reserved ones
  await done("fulfillmentOrderCreate", { orderId: order.id });
  assert.deepEqual(await stock.kept(here, there), ["0 consumed", "0 consumed"]);
});

test("no unit is promised by its bin and by its batch", async () => {
  await shop.store("glue", "A-1", 5, "G1");
  await shop.store("glue", "A-2", 5, "G2");
  const ofBatch = await stock.reserve("glue", "hall", 3, { batchId: shop.id.G1 });
  const refused = await stock.tryReserve([["glue", "A-1", 3]]);
  assert.deepEqual(refusals(refused), [["INSUFFICIENT_STOCK", "lines.0.quantity"]]);
  assert.deepEqual(refused.userErrors[0].details, { available: 2, requested: 3 });
  const together = await stock.tryReserve([
    ["glue", "A-1", 2],
    ["glue", "A-1", 1, { batchId: shop.id.G1 }],
  ]);
  assert.deepEqual(refusals(together), [["INSUFFICIENT_STOCK", "lines.1.quantity"]]);
  const ofBin = await stock.reserve("glue", "A-1", 2);
  assert.deepEqual(await stock.kept(ofBatch, ofBin), ["3 active", "2 active"]);
  await done("stockRelease", { lines: [{ id: ofBatch }] });
  await stock.reserve("glue", "A-1", 3);
});

test("a plan counts on units whose reservation is over", async () => {
  const product = await stock.newProduct("overdue", "B-1", 10);
  const overdue = await stock.reserve(product, "shed", 8);
  await stock.outdate(overdue);
  await done("sourcingRulesSet", { rules: ["fullest"] });
  await done("productWarehouseConfigurationSet", {
    productId: shop.id[product],
    warehouseId: shop.id.shed,
    safetyStock: 3,
  });
  const order = await shop.order([{ product, quantity: 9 }]);
  await done("fulfillmentOrderCreate", { orderId: order.id });
  const planned = await shop.sql(
    `select w.code, i.quantity from erp.fulfillment_order f join erp.location l on l.id = f.source_warehouse_location_id
     join erp.warehouse w on w.id = l.warehouse_id join erp.fulfillment_order_line_item i on i.fulfillment_order_id = f.id
     where f.destination_order_id = $1 order by w.code`,
    order.id,
  );
  assert.deepEqual(planned, [
    { code: "hall", quantity: 2 },
    { code: "shed", quantity: 7 },
  ]);
  await done("sourcingRulesSet", { rules: [] });
});

/** Receives what nobody announced, and then finds its order. */
async function findOrder(order: ShopOrder, product: string, quantity: number, batch?: string): Promise<any> {
  const select = "returnOrder { id lineItems(first: 1) { edges { node { id } } } }";
  const lineItems = [{ productId: shop.id[product], quantity }];
  const { returnOrder } = await done("returnOrderCreate", { lineItems, isApproved: true }, select);
  const id = returnOrder.lineItems.edges[0].node.id;
  const line = { ...lineItems[0], batchId: batch && shop.id[batch], returnOrderLineItemId: id };
  const receipt = { type: "Customer", warehouseId: shop.id.hall, lineItems: [line] };
  const { goodsReceipt } = await done("goodsReceiptCreate", receipt, "goodsReceipt { id }");
  await done("goodsReceiptApprove", { id: goodsReceipt.id });
  const found = {
    id: returnOrder.id,
    orderId: order.id,
    lineItems: [{ id, orderLineItemId: order.lines[0] }],
  };
  return shop.mutate("returnOrderUpdate", found);
}
const heldBy = async (order: ShopOrder) =>
  (await shop.sql("select sum(quantity)::int as units from ledger.stock where order_id = $1", order.id))[0]
    .units;

test("units without a batch that show one when they come back leave the order that is found", async () => {
  await shop.store("nail", "A-1", 5);
  const order = await shop.order([{ product: "nail", quantity: 4 }]);
  await shop.ship(order);
  assert.deepEqual((await findOrder(order, "nail", 3, "N1")).userErrors, []);
  assert.equal(await heldBy(order), 1);
});

test("an order that got another batch is not the one that is found", async () => {
  const order = await shop.order([{ product: "glue", quantity: 2 }]);
  const [{ batch }] = await shop
    .ship(order)
    .then(() =>
      shop.sql(
        "select b.number as batch from ledger.stock s join ledger.batch_stock u on u.stock_id = s.id join erp.batch b on b.id = u.batch_id where s.order_id = $1",
        order.id,
      ),
    );
  const payload = await findOrder(order, "glue", 1, batch === "G1" ? "G2" : "G1");
  assert.deepEqual(refusals(payload), [["BATCH_MISMATCH", "orderId"]]);
  assert.equal(await heldBy(order), 2);
});

test("all figures are right after that", () => assertLedgerIsRight(shop));
