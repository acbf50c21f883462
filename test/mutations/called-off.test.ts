import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { missingId } from "../lib/ids.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import type { ShopOrder, ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

// Open units of a cancelled fulfillment order belong to none, and others can ship them
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop({ versions, poolSize: 12 });
});
after(() => shop.close());
afterEach(async () => {
  await assertLedgerIsRight(shop);
  await shop.sql("delete from erp.fulfillment");
  await shop.sql("delete from erp.fulfillment_order");
  await shop.sql("delete from erp.sales_order");
  await shop.empty();
});

const frozen = "2026-06-unstable";
const nails = (quantity: number) => ({ product: "nail", quantity });
const hammers = (quantity: number) => ({ product: "hammer", quantity });
const first = (order: ShopOrder) => order.fulfillmentOrders[0]!;
const sources = (payload: any) => shop.moves(payload).map(([quantity, source]) => [quantity, source]);

const callOff = async ({ id }: { id: string }) =>
  shop.mutate(
    "fulfillmentOrderCancel",
    { id },
    { select: "fulfillmentOrder { id state isPartiallyFulfilled }" },
  );
const assign = (order: ShopOrder, warehouse: string, rest: object = {}, options: object = {}) =>
  shop.mutate(
    "fulfillmentOrderCreate",
    { orderId: order.id, warehouseId: shop.id[warehouse], ...rest },
    {
      select:
        "fulfillmentOrder { id state sourceWarehouseLocation { warehouse { code } } lineItems { edges { node { id quantity } } } }",
      ...options,
    },
  );
/** Reserved quantities of a product by warehouse. */
const reserved = async (product = "nail") => {
  const rows = await shop.sql(
    `select w.code, s.reserved_quantity as quantity from ledger.warehouse_stock s join erp.warehouse w on w.id = s.warehouse_id
     where s.product_id = $1 and s.reserved_quantity > 0`,
    shop.id[product]!,
  );
  return Object.fromEntries(rows.map(({ code, quantity }) => [code, quantity]));
};
/** An order of nails whose fulfillment order at the hall was cancelled. */
const calledOff = async (quantity: number, state = "Open") => {
  const order = await shop.order([nails(quantity)], [{ lines: [[0, quantity]], state }]);
  assert.deepEqual((await callOff(first(order))).userErrors, []);
  return order;
};

describe("orderShipmentComplete after a fulfillment order was cancelled", () => {
  for (const state of ["Open", "InProgress", "OnHold"])
    it(`ships from another warehouse what was ${state}`, async () => {
      await shop.store("nail", "A-1", 9);
      await shop.store("nail", "B-1", 5);
      const order = await calledOff(5, state);
      assert.deepEqual(await reserved(), {});
      const payload = await shop.ship(order);
      assert.deepEqual([payload.userErrors, sources(payload)], [[], [[5, "B-1"]]]);
      assert.deepEqual(await shop.stateOf(order), {
        state: "completed",
        deliveryState: "shipped",
        shipped: [5],
        fulfillmentOrders: [
          ["Cancelled", false],
          ["Closed", false],
        ],
        trackingCodes: [],
      });
    });

  it("does so in the frozen version as well", async () => {
    await shop.store("nail", "A-1", 5);
    await shop.store("nail", "B-1", 5);
    const order = await calledOff(5);
    const { order: shipped } = await shop.mutate(
      "orderShipmentComplete",
      { orderId: order.id },
      { select: "order { state }", version: frozen },
    );
    assert.equal(shipped.state, "completed");
    assert.equal(await shop.stockAt("nail", "A-1"), 5);
  });

  it("ships the rest of what was shipped in part", async () => {
    await shop.store("nail", "A-1", 9);
    await shop.store("nail", "B-1", 5);
    const order = await shop.order([nails(5)], [{ lines: [[0, 5]] }]);
    const line = { fulfillmentOrderLineItemId: first(order).lines[0], quantity: 2 };
    await shop.fulfill(first(order), { lines: [line] });
    const { fulfillmentOrder } = await callOff(first(order));
    assert.deepEqual([fulfillmentOrder.state, fulfillmentOrder.isPartiallyFulfilled], ["Cancelled", true]);
    assert.deepEqual(await reserved(), {});
    assert.deepEqual(sources(await shop.ship(order)), [[3, "B-1"]]);
    assert.deepEqual((await shop.stateOf(order)).shipped, [5]);
  });

  it("leaves what the other fulfillment orders have where it is, and prefers their warehouse", async () => {
    await shop.sql(`insert into erp.warehouse (code, name) values ('annex', 'Annex')`);
    await shop.sql(
      `insert into erp.location (name, warehouse_id) select name, id from erp.warehouse where code = 'annex'`,
    );
    const [annex] = await shop.sql("select id from erp.warehouse where code = 'annex'");
    shop.id.annex = `gid://service/Warehouse/${annex.id}`;
    for (const place of ["A-1", "B-1", "annex"]) await shop.store("nail", place, 9);
    const order = await shop.order([nails(5)], [{ lines: [[0, 3]] }, { location: "shed", lines: [[0, 2]] }]);
    await callOff(first(order));
    assert.deepEqual(sources(await shop.ship(order)), [
      [2, "B-1"],
      [3, "B-1"],
    ]);
    // Without other reasons, by the code of the warehouse
    assert.deepEqual(sources(await shop.ship(await calledOff(1))), [[1, "annex"]]);
    await shop.sql("update erp.location set active = false where warehouse_id = $1", shop.id.annex);
    assert.deepEqual(sources(await shop.ship(await calledOff(1))), [[1, "B-1"]]);
  });

  it("ships lines that were never called off from the default warehouse", async () => {
    for (const place of ["A-1", "B-1"])
      for (const product of ["nail", "hammer"]) await shop.store(product, place, 9);
    const order = await shop.order([nails(1), hammers(2)], [{ lines: [[0, 1]] }]);
    await callOff(first(order));
    const payload = await shop.ship(order);
    assert.deepEqual(sources(payload), [
      [1, "B-1"],
      [2, "A-1"],
    ]);
    assert.equal(payload.fulfillmentOrders.length, 2);
  });

  it("takes no units that others are promised, that are not for sale, or that were called off there, too", async () => {
    await shop.store("nail", "A-1", 9);
    await shop.store("nail", "B-1", 5);
    await shop.store("nail", "R-1", 9);
    await shop.order([nails(2)], [{ location: "shed", lines: [[0, 2]] }]);
    const order = await calledOff(4);
    const payload = await shop.ship(order);
    assert.deepEqual(refusals(payload), [["INSUFFICIENT_STOCK", "orderId"]]);
    assert.deepEqual(payload.userErrors[0].details, { requested: 4 });
    assert.equal((await shop.stateOf(order)).fulfillmentOrders.length, 1);

    const twice = await shop.order([nails(2)], [{ lines: [[0, 1]] }, { location: "shed", lines: [[0, 1]] }]);
    for (const fulfillmentOrder of twice.fulfillmentOrders) await callOff(fulfillmentOrder);
    assert.deepEqual(refusals(await shop.ship(twice)), [["INSUFFICIENT_STOCK", "orderId"]]);
  });

  it("ships from the warehouse that is named, even the one where it was called off", async () => {
    await shop.store("nail", "A-1", 9);
    await shop.store("nail", "R-1", 4);
    const order = await calledOff(4);
    assert.deepEqual(sources(await shop.ship(order, { warehouseId: shop.id.returns })), [[4, "R-1"]]);
    const again = await calledOff(4);
    assert.deepEqual(sources(await shop.ship(again, { warehouseId: shop.id.hall })), [[4, "A-1"]]);
  });

  it("refuses warehouses that are not there, don't ship or don't have it", async () => {
    await shop.store("nail", "A-1", 9);
    const order = await calledOff(4);
    const refused = async (warehouseId: string) => refusals(await shop.ship(order, { warehouseId }));
    assert.deepEqual(await refused(missingId("Warehouse")), [["NOT_FOUND", "warehouseId"]]);
    assert.deepEqual(await refused(shop.id.shed!), [["INSUFFICIENT_STOCK", "orderId"]]);
    await shop.sql("update erp.location set active = false where warehouse_id = $1", shop.id.shed!);
    assert.deepEqual(await refused(shop.id.shed!), [["INVALID", "warehouseId"]]);
    await shop.sql("update erp.location set active = true");
    assert.deepEqual((await shop.stateOf(order)).fulfillmentOrders, [["Cancelled", false]]);
  });

  it("leaves external fulfillment orders to others", async () => {
    await shop.store("nail", "B-1", 9);
    const order = await shop.order(
      [nails(5)],
      [{ lines: [[0, 2]] }, { type: "ExternalToOrder", lines: [[0, 3]] }],
    );
    await callOff(first(order));
    assert.deepEqual(sources(await shop.ship(order)), [[2, "B-1"]]);
    assert.equal((await shop.stateOf(order)).deliveryState, "shipped_partially");
  });
});

describe("fulfillmentOrderCreate", () => {
  it("has another warehouse ship what was called off, by fulfillmentCreate", async () => {
    await shop.store("nail", "B-1", 9);
    const order = await calledOff(5);
    const { fulfillmentOrder, userErrors } = await assign(order, "shed");
    assert.deepEqual(userErrors, []);
    assert.deepEqual(
      [fulfillmentOrder.state, fulfillmentOrder.sourceWarehouseLocation.warehouse.code],
      ["Open", "shed"],
    );
    assert.deepEqual(
      fulfillmentOrder.lineItems.edges.map(({ node }: any) => node.quantity),
      [5],
    );
    assert.deepEqual(await reserved(), { shed: 5 });
    const topics = await shop.sql(
      "select topic from events.outbox where topic like 'fulfillment_order.%' union all select topic from events.event where topic like 'fulfillment_order.%'",
    );
    assert.deepEqual(
      new Set(topics.map(({ topic }) => topic)).isSupersetOf(
        new Set(["fulfillment_order.cancelled", "fulfillment_order.created"]),
      ),
      true,
    );
    assert.deepEqual(sources(await shop.fulfill(fulfillmentOrder)), [[5, "B-1"]]);
    assert.deepEqual(await reserved(), {});
    assert.equal((await shop.stateOf(order)).state, "completed");
  });

  it("can divide it among warehouses, the old one included", async () => {
    await shop.store("nail", "A-1", 3);
    await shop.store("nail", "B-1", 2);
    const order = await calledOff(5);
    const lines = (quantity: number) => ({ lines: [{ orderLineItemId: order.lines[0], quantity }] });
    assert.deepEqual((await assign(order, "shed", lines(2))).userErrors, []);
    assert.deepEqual((await assign(order, "hall", lines(3))).userErrors, []);
    assert.deepEqual(await reserved(), { hall: 3, shed: 2 });
    assert.deepEqual(sources(await shop.ship(order)), [
      [2, "B-1"],
      [3, "A-1"],
    ]);
  });

  it("continues after a fulfillment of a cancelled fulfillment order is taken back", async () => {
    await shop.store("nail", "A-1", 5);
    await shop.store("nail", "B-1", 5);
    const order = await shop.order([nails(5)], [{ lines: [[0, 5]] }]);
    const line = { fulfillmentOrderLineItemId: first(order).lines[0], quantity: 2 };
    const { fulfillment } = await shop.fulfill(first(order), { lines: [line] });
    await callOff(first(order));
    await assign(order, "shed");
    assert.deepEqual((await shop.cancel(fulfillment.id)).userErrors, []);
    assert.deepEqual(await reserved(), { shed: 3 });
    assert.deepEqual((await shop.stateOf(order)).fulfillmentOrders, [
      ["Cancelled", false],
      ["Open", false],
    ]);
    assert.deepEqual(sources(await shop.ship(order)), [
      [3, "B-1"],
      [2, "B-1"],
    ]);
  });

  it("refuses more than is open, and what cannot be shipped", async () => {
    const order = await shop.order(
      [nails(5), hammers(1), { quantity: 1, type: "custom" }],
      [{ lines: [[0, 3]] }],
    );
    const line = (n: number, quantity: number) => ({ orderLineItemId: order.lines[n], quantity });
    const refused = async (rest: object, to = order) => refusals(await assign(to, "shed", rest));
    const { userErrors } = await assign(order, "shed", { lines: [line(0, 3), line(1, 1)] });
    assert.deepEqual(
      [userErrors[0].code, userErrors[0].field.join("."), userErrors[0].details],
      ["OVER_FULFILLMENT", "lines.0.quantity", { open: 2, requested: 3 }],
    );
    const nothing = missingId("OrderLineItem");
    assert.deepEqual(await refused({ lines: [{ orderLineItemId: nothing, quantity: 1 }] }), [
      ["NOT_FOUND", "lines.0.orderLineItemId"],
    ]);
    assert.deepEqual(await refused({ lines: [line(2, 1)] }), [["INVALID", "lines.0.orderLineItemId"]]);
    assert.deepEqual(await refused({ lines: [] }), [["REQUIRED", "lines"]]);
    assert.deepEqual(await refused({ lines: [line(1, 0)] }), [["OUT_OF_RANGE", "lines.0.quantity"]]);
    assert.deepEqual(await refused({ lines: [line(1, 1), line(1, 1)] }), [
      ["NOT_UNIQUE", "lines.1.orderLineItemId"],
    ]);
    const many = Array.from({ length: 251 }, () => line(1, 1));
    assert.deepEqual(await refused({ lines: many }), [["TOO_MANY_LINES", "lines"]]);
    assert.deepEqual(await refused({ orderId: missingId("Order") }), [["NOT_FOUND", "orderId"]]);
    assert.deepEqual(await refused({ warehouseId: missingId("Warehouse") }), [["NOT_FOUND", "warehouseId"]]);
    assert.equal((await shop.stateOf(order)).fulfillmentOrders.length, 1);
    const done = await shop.order([nails(1)], [{ lines: [[0, 1]] }]);
    assert.deepEqual(await refused({}, done), [["INVALID_STATE_TRANSITION", "orderId"]]);
    const cancelled = await shop.order([nails(1)], [], { state: "cancelled" });
    assert.deepEqual(await refused({}, cancelled), [["INVALID_STATE_TRANSITION", null]]);
  });

  it("needs orders:write, and is not in the frozen version", async () => {
    const order = await shop.order([nails(1)]);
    const input = { orderId: order.id, warehouseId: shop.id.shed };
    const token = await shop.token({ read: "all" });
    assert.deepEqual((await shop.tryMutate("fulfillmentOrderCreate", input, { token })).codes, ["FORBIDDEN"]);
    const { codes } = await shop.tryMutate("fulfillmentOrderCreate", input, { version: frozen });
    assert.ok(codes.every((code) => code === "GRAPHQL_VALIDATION_FAILED") && codes.length > 0);
  });
});

describe("calling off and shipping at the same time", () => {
  it("ships each unit once, from one of the two", async () => {
    await shop.store("nail", "A-1", 100);
    await shop.store("nail", "B-1", 100);
    const orders: ShopOrder[] = [];
    for (let n = 0; n < 8; n++) orders.push(await shop.order([nails(3)], [{ lines: [[0, 3]] }]));
    const ends = await Promise.all(
      orders.map(async (order) => {
        const [cancelled, shipped, assigned] = await Promise.all([
          callOff(first(order)),
          shop.ship(order),
          assign(order, "shed"),
        ]);
        if (shipped.userErrors.length > 0) assert.deepEqual((await shop.ship(order)).userErrors, []);
        return [cancelled, shipped, assigned].map(({ userErrors }) => userErrors.length);
      }),
    );
    assert.equal(ends.length, 8);
    for (const order of orders) {
      const { state, shipped } = await shop.stateOf(order);
      assert.deepEqual([state, shipped], ["completed", [3]]);
    }
    const [{ left }] = await shop.sql("select sum(quantity)::int as left from ledger.warehouse_stock");
    assert.equal(left, 200 - 24);
    assert.deepEqual(await reserved(), {});
  });

  it("gives what was called off to one of those who ask for it", async () => {
    const order = await calledOff(5);
    const payloads = await Promise.all(
      ["shed", "hall", "shed", "hall", "returns"].map((w) => assign(order, w)),
    );
    assert.equal(payloads.filter(({ userErrors }) => userErrors.length === 0).length, 1);
    assert.deepEqual(Object.values(await reserved()), [5]);
  });
});
