import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { missingId } from "../lib/ids.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
});
after(() => shop.close());
afterEach(async () => {
  await assertLedgerIsRight(shop);
  for (const table of ["erp.fulfillment", "erp.fulfillment_order", "erp.sales_order", "sourcing.rule"])
    await shop.sql(`delete from ${table}`);
  await shop.empty();
});

const select =
  "fulfillmentOrder { id } fulfillmentOrders { id number state sourceWarehouseLocation { warehouse { code } } lineItems { edges { node { id quantity product { productNumber } } } } }";
const move = ({ id }: { id: string }, warehouse?: string, rest: object = {}, options: object = {}) =>
  shop.mutate(
    "fulfillmentOrderMove",
    { id, ...(warehouse && { warehouseId: shop.id[warehouse] }), ...rest },
    { select, ...options },
  );
const split = ({ id }: { id: string }, ...lines: object[]) =>
  shop.mutate("fulfillmentOrderSplit", { id, lines }, { select });
const line = (id: string | undefined, quantity: number) => ({ fulfillmentOrderLineItemId: id, quantity });
/** Warehouse, state and units of the fulfillment orders of a payload. */
const parts = ({ fulfillmentOrders, userErrors }: any) => {
  assert.deepEqual(userErrors, []);
  return fulfillmentOrders.map(({ state, sourceWarehouseLocation, lineItems }: any) => [
    sourceWarehouseLocation.warehouse.code,
    state,
    Object.fromEntries(lineItems.edges.map(({ node }: any) => [node.product.productNumber, node.quantity])),
  ]);
};
const reserved = async () => {
  const rows = await shop.sql(
    `select w.code, p.product_number as product, s.reserved_quantity as quantity from ledger.warehouse_stock s
     join erp.warehouse w on w.id = s.warehouse_id join erp.product p on p.id = s.product_id
     where s.reserved_quantity > 0`,
  );
  return Object.fromEntries(rows.map(({ code, product, quantity }) => [`${product} ${code}`, quantity]));
};
const topics = async () => {
  const rows = await shop.sql(
    `select topic, n from (select topic, position as n from events.outbox union all select topic, sequence from events.event) e
     where topic like 'fulfillment_order.%'`,
  );
  return rows.map(({ topic }) => topic.replace("fulfillment_order.", ""));
};
const make = async (state = "Open", type = "WarehouseLocationToOrder") => {
  const order = await shop.order(
    [
      { product: "nail", quantity: 5 },
      { product: "hammer", quantity: 2 },
    ],
    [
      {
        lines: [
          [0, 5],
          [1, 2],
        ],
        state,
        type,
      },
    ],
  );
  return { order, made: order.fulfillmentOrders[0]! };
};
const fresh = async () => {
  await shop.emptyTables("events.outbox", "events.event");
};

describe("fulfillmentOrderMove", () => {
  it("gives all of it to another warehouse, under its number", async () => {
    const { order, made } = await make();
    await fresh();
    const payload = await move(made, "shed");
    assert.deepEqual(parts(payload), [["shed", "Open", { nail: 5, hammer: 2 }]]);
    assert.deepEqual([payload.fulfillmentOrder.id, payload.fulfillmentOrders[0].id], [made.id, made.id]);
    assert.deepEqual(await reserved(), { "nail shed": 5, "hammer shed": 2 });
    assert.deepEqual(await topics(), ["moved"]);
    await shop.store("nail", "B-1", 5);
    await shop.store("hammer", "B-1", 2);
    assert.deepEqual((await shop.ship(order)).userErrors, []);
    assert.deepEqual((await shop.stateOf(order)).shipped, [5, 2]);
  });

  it("gives some units to another warehouse, in a fulfillment order of their own", async () => {
    const { made } = await make();
    await fresh();
    const payload = await move(made, "shed", { lines: [line(made.lines[0], 3), line(made.lines[1], 2)] });
    assert.deepEqual(parts(payload), [
      ["hall", "Open", { nail: 2 }],
      ["shed", "Open", { nail: 3, hammer: 2 }],
    ]);
    assert.match(payload.fulfillmentOrders[1].number, /^FO-\d+$/);
    assert.deepEqual(await reserved(), { "nail hall": 2, "nail shed": 3, "hammer shed": 2 });
    assert.deepEqual((await topics()).sort(), ["created", "divided"]);
  });

  it("gives what is open of a partly shipped one, and closes the rest", async () => {
    const { order, made } = await make();
    await shop.store("nail", "A-1", 5);
    await shop.fulfill(made, { lines: [line(made.lines[0], 4)] });
    const { userErrors } = await move(made, "shed");
    assert.deepEqual(userErrors[0].details, {
      state: "InProgress",
      allowedActions: ["cancel", "close", "hold"],
    });
    // As other programs may leave it
    await shop.sql("update erp.fulfillment_order set state = 'Open' where id = $1", made.id);
    assert.deepEqual(parts(await move(made, "shed")), [
      ["hall", "Closed", { nail: 4 }],
      ["shed", "Open", { nail: 1, hammer: 2 }],
    ]);
    assert.deepEqual((await shop.stateOf(order)).shipped, [4, 0]);
    assert.deepEqual(await reserved(), { "nail shed": 1, "hammer shed": 2 });
  });

  it("keeps lines that cancelled shipments name", async () => {
    const { made } = await make();
    await shop.store("nail", "A-1", 5);
    const { fulfillment } = await shop.fulfill(made, { lines: [line(made.lines[0], 5)] });
    await shop.cancel(fulfillment.id);
    await shop.sql("update erp.fulfillment_order set state = 'Open' where id = $1", made.id);
    const refused = await move(made, "shed", { lines: [line(made.lines[0], 5)] });
    assert.deepEqual(refusals(refused), [["NOT_EDITABLE", "id"]]);
    assert.deepEqual(parts(await move(made, "shed", { lines: [line(made.lines[0], 4)] })).length, 2);
    assert.deepEqual(parts(await move(made, "shed"))[0], ["shed", "Open", { nail: 1, hammer: 2 }]);
  });

  it("refuses what is not open, not there or too much", async () => {
    const { order, made } = await make();
    const refused = async (...args: Parameters<typeof move>) => refusals(await move(...args));
    assert.deepEqual(await refused(made, "hall"), [["INVALID", "warehouseId"]]);
    assert.deepEqual(await refused(made, undefined, { warehouseId: missingId("Warehouse") }), [
      ["NOT_FOUND", "warehouseId"],
    ]);
    assert.deepEqual(await refused({ id: missingId("FulfillmentOrder") }, "shed"), [["NOT_FOUND", "id"]]);
    assert.deepEqual(await refused(made, undefined, { lines: [line(made.lines[0], 1)] }), [
      ["REQUIRED", "warehouseId"],
    ]);
    assert.deepEqual(await refused(made, "shed", { lines: [] }), [["REQUIRED", "lines"]]);
    const lines = [line(made.lines[0], 6), line(missingId("FulfillmentOrderLineItem"), 1)];
    assert.deepEqual(await refused(made, "shed", { lines }), [
      ["OVER_FULFILLMENT", "lines.0.quantity"],
      ["NOT_FOUND", "lines.1.fulfillmentOrderLineItemId"],
    ]);
    await shop.sql("delete from erp.sales_order_line_item where id = $1", order.lines[0]!);
    assert.deepEqual(await refused(made, "shed", { lines: [line(made.lines[0], 1)] }), [
      ["INVALID", "lines"],
    ]);
    for (const [state, code, field] of [
      ["OnHold", "ON_HOLD", "id"],
      ["InProgress", "INVALID_STATE_TRANSITION", null],
      ["Closed", "INVALID_STATE_TRANSITION", null],
      ["Cancelled", "INVALID_STATE_TRANSITION", null],
    ] as const)
      assert.deepEqual(await refused((await make(state)).made, "shed"), [[code, field]]);
    const external = await make("Open", "ExternalToOrder");
    assert.deepEqual(await refused(external.made, "shed"), [["EXTERNALLY_MANAGED", "id"]]);
    const token = await shop.token({ read: "all", write: ["stocks"] });
    const { codes } = await shop.tryMutate("fulfillmentOrderMove", { id: made.id }, { token });
    assert.deepEqual(codes, ["FORBIDDEN"]);
  });

  it("changes nothing if it is only validated", async () => {
    const { made } = await make();
    await move(made, "shed", { validateOnly: true });
    assert.deepEqual(await reserved(), { "nail hall": 5, "hammer hall": 2 });
  });
});

describe("fulfillmentOrderMove without a warehouse", () => {
  const rules = (...rules: string[]) => shop.mutate("sourcingRulesSet", { rules });

  it("plans it again when stock moved away", async () => {
    await rules("split_least");
    const { made } = await make();
    await shop.store("nail", "A-1", 2);
    await shop.store("nail", "B-1", 2);
    await shop.store("hammer", "B-1", 2);
    // One nail is nowhere, and stays
    assert.deepEqual(parts(await move(made)), [
      ["hall", "Open", { nail: 3 }],
      ["shed", "Open", { nail: 2, hammer: 2 }],
    ]);
    assert.deepEqual(parts(await move(made)), [["hall", "Open", { nail: 3 }]]);
  });

  it("moves all of it to where all of it is, and leaves it where it can be shipped", async () => {
    await rules("do_not_split");
    const { made } = await make();
    for (const place of ["B-1", "A-1"]) {
      await shop.store("nail", place, 5);
      await shop.store("hammer", place, 2);
      assert.deepEqual(parts(await move(made)), [["shed", "Open", { nail: 5, hammer: 2 }]]);
    }
  });

  it("leaves it alone without rules", async () => {
    const { made } = await make();
    await shop.store("nail", "B-1", 5);
    await fresh();
    assert.deepEqual(parts(await move(made)), [["hall", "Open", { nail: 5, hammer: 2 }]]);
    assert.deepEqual(await topics(), []);
  });
});

describe("fulfillmentOrderSplit", () => {
  it("puts units into another one of the same location", async () => {
    const { made } = await make();
    await fresh();
    const payload = await split(made, line(made.lines[0], 1), line(made.lines[1], 2));
    assert.deepEqual(parts(payload), [
      ["hall", "Open", { nail: 4 }],
      ["hall", "Open", { nail: 1, hammer: 2 }],
    ]);
    assert.deepEqual(await reserved(), { "nail hall": 5, "hammer hall": 2 });
    assert.deepEqual((await topics()).sort(), ["created", "divided"]);
  });

  it("leaves at least a unit, and refuses states in which somebody works", async () => {
    const { made } = await make();
    const all = await split(made, line(made.lines[0], 5), line(made.lines[1], 2));
    assert.deepEqual(refusals(all), [["INVALID", "lines"]]);
    for (const [state, code] of [
      ["OnHold", "ON_HOLD"],
      ["InProgress", "INVALID_STATE_TRANSITION"],
    ] as const) {
      const { made } = await make(state);
      assert.equal((await split(made, line(made.lines[0], 1))).userErrors[0].code, code);
    }
  });

  it("is done once by two clients at a time", async () => {
    const { made } = await make();
    const [one, two] = await Promise.all([1, 2].map(() => split(made, line(made.lines[0], 4))));
    const codes = [...one.userErrors, ...two.userErrors].map(({ code }: any) => code);
    assert.deepEqual(codes, ["OVER_FULFILLMENT"]);
    assert.deepEqual(await reserved(), { "nail hall": 5, "hammer hall": 2 });
  });
});
