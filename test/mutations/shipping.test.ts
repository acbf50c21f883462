import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { missingId } from "../lib/ids.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop({ versions });
});
after(() => shop.close());
afterEach(async () => {
  await assertLedgerIsRight(shop);
  // An empty shop for the next one
  await shop.sql("delete from erp.fulfillment");
  await shop.sql("delete from erp.fulfillment_order");
  await shop.sql(
    "delete from erp.sales_order where id not in (select order_id from erp.document where order_id is not null)",
  );
  await shop.empty();
});

const nails = (quantity: number) => ({ product: "nail", quantity });
/** An address with all keys that clients are promised. */
const noAddress = Object.fromEntries(
  [
    ...["company", "department", "firstName", "lastName", "street", "additionalAddressLine1"],
    ...["additionalAddressLine2", "zipcode", "city", "countryName", "countryIso", "countryStateName"],
    ...["countryStateShortCode", "phoneNumber"],
  ].map((key) => [key, null]),
);
const hammers = (quantity: number) => ({ product: "hammer", quantity });

describe("orderShipmentComplete", () => {
  it("ships what is open, and brings everything up to date", async () => {
    await shop.store("nail", "A-1", 10);
    await shop.store("hammer", "hall", 3);
    const order = await shop.order(
      [nails(6), hammers(2)],
      [
        {
          lines: [
            [0, 6],
            [1, 2],
          ],
        },
      ],
    );
    const payload = await shop.ship(order, { comment: "Two parcels", trackingCodes: ["P1", "P2", "P1"] });
    assert.deepEqual(payload.userErrors, []);
    assert.deepEqual(shop.moves(payload), [
      [6, "A-1", "order", "api_shipping"],
      [2, "hall", "order", "api_shipping"],
    ]);
    assert.deepEqual(payload.order, { id: order.id, state: "completed", deliveryState: "shipped" });
    assert.deepEqual(payload.fulfillmentOrders, [
      { id: order.fulfillmentOrders[0]!.id, number: payload.fulfillmentOrders[0].number, state: "Closed" },
    ]);
    assert.equal(payload.fulfillments[0].state, "Fulfilled");
    assert.match(payload.fulfillments[0].number, /^F-\d+$/);
    assert.deepEqual(await shop.stateOf(order), {
      state: "completed",
      deliveryState: "shipped",
      shipped: [6, 2],
      fulfillmentOrders: [["Closed", false]],
      trackingCodes: ["P1", "P2"],
    });
    const { order: read } = await shop.read(
      `query ($id: ID!) { order(id: $id) { fulfillmentOrders { edges { node { fulfillments { edges { node { id
         lineItems { edges { node { quantity product { productNumber } } } } } } } } } } } }`,
      { id: order.id },
    );
    const [fulfillment] = read.fulfillmentOrders.edges[0].node.fulfillments.edges;
    assert.equal(fulfillment.node.id, payload.fulfillments[0].id);
    assert.deepEqual(
      fulfillment.node.lineItems.edges.map(({ node }: any) => [node.product.productNumber, node.quantity]),
      [
        ["nail", 6],
        ["hammer", 2],
      ],
    );
    const comments = await shop.sql(
      "select distinct comment from ledger.stock_movement where destination_order_id is not null",
    );
    assert.deepEqual(comments, [{ comment: "Two parcels" }]);
  });

  it("picks from the bins by position, then by code, and at last from outside of bins", async () => {
    for (const place of ["hall", "C-2", "C-1", "A-1", "A-2", "B-1", "shed"])
      await shop.store("nail", place, 2);
    const order = await shop.order([nails(9)], [{ lines: [[0, 9]] }]);
    assert.deepEqual(shop.moves(await shop.ship(order)), [
      [2, "A-2", "order", "api_shipping"],
      [2, "A-1", "order", "api_shipping"],
      [2, "C-1", "order", "api_shipping"],
      [2, "C-2", "order", "api_shipping"],
      [1, "hall", "order", "api_shipping"],
    ]);
  });

  it("lets several lines of a product pick one after the other", async () => {
    await shop.store("nail", "A-2", 5);
    await shop.store("nail", "A-1", 5);
    const order = await shop.order(
      [nails(3), hammers(0 + 1), nails(4)],
      [
        {
          lines: [
            [0, 3],
            [2, 4],
          ],
        },
      ],
    );
    await shop.store("hammer", "A-1", 1);
    assert.deepEqual(
      shop.moves(await shop.ship(order)).map(([quantity, source]) => [quantity, source]),
      [
        [3, "A-2"],
        [2, "A-2"],
        [2, "A-1"],
        [1, "A-1"],
      ],
    );
    assert.deepEqual((await shop.stateOf(order)).shipped, [3, 1, 4]);
  });

  it("picks the oldest batch first, of products that are kept in batches", async () => {
    const [older, newer] = ["G1", "G2"].sort((one, other) => (shop.id[one]! < shop.id[other]! ? -1 : 1));
    await shop.store("glue", "A-2", 4, newer);
    await shop.store("glue", "A-1", 3, older);
    await shop.store("glue", "A-2", 1, older);
    const order = await shop.order([{ product: "glue", quantity: 6 }], [{ lines: [[0, 6]] }]);
    assert.deepEqual(
      shop.moves(await shop.ship(order)).map(([quantity, source]) => [quantity, source]),
      [
        [1, "A-2"],
        [3, "A-1"],
        [2, "A-2"],
      ],
    );
    assert.deepEqual(
      await shop.sql("select number, physical_stock as left from erp.batch where physical_stock > 0"),
      [{ number: newer, left: 2 }],
    );
  });

  it("takes what belongs to no batch before what does, of products that need none", async () => {
    await shop.store("nail", "A-2", 2, "N1");
    await shop.store("nail", "A-2", 1);
    const order = await shop.order([nails(2)]);
    assert.deepEqual((await shop.ship(order)).userErrors, []);
    assert.deepEqual(await shop.sql("select physical_stock as left from erp.batch where number = 'N1'"), [
      { left: 1 },
    ]);
  });

  it("ships each fulfillment order from its own warehouse", async () => {
    await shop.store("nail", "A-1", 3);
    await shop.store("nail", "B-1", 4);
    const order = await shop.order(
      [nails(7)],
      [
        { lines: [[0, 3]], state: "InProgress" },
        { location: "shed", lines: [[0, 4]] },
      ],
    );
    const payload = await shop.ship(order);
    assert.deepEqual(
      shop.moves(payload).map(([quantity, source]) => [quantity, source]),
      [
        [3, "A-1"],
        [4, "B-1"],
      ],
    );
    assert.equal(payload.fulfillments.length, 1);
    assert.equal(payload.fulfillmentOrders.length, 2);
    assert.deepEqual(await shop.stateOf(order), {
      state: "completed",
      deliveryState: "shipped",
      shipped: [7],
      fulfillmentOrders: [
        ["Closed", false],
        ["Closed", false],
      ],
      trackingCodes: [],
    });
  });

  it("captures the address with the promised keys, each a text or null", async () => {
    await shop.store("nail", "A-1", 9);
    const order = await shop.order([nails(1)]);
    const wrong = { city: 5, zipcode: { a: 1 }, street: ["x"], firstName: null, lastName: "L", nope: "n" };
    await shop.owner.query("update erp.sales_order set shipping_address = $1", [wrong]);
    await shop.ship(order);
    const query = "{ fulfillmentOrders { edges { node { shippingAddress } } } }";
    const { body } = await shop.ask(await shop.token({ read: ["fulfillment_orders"] }), { query });
    const { edges } = body.data.fulfillmentOrders;
    assert.deepEqual(edges[0].node.shippingAddress, { ...noAddress, city: "5", lastName: "L" });
  });

  it("gives an order that gets its delivery only now a list of tracking codes, and tells of it", async () => {
    await shop.store("nail", "A-1", 9);
    const [shipped, entered] = [
      await shop.order([nails(1)], [], { deliveryState: null }),
      await shop.order([nails(1)], [], { deliveryState: null }),
    ];
    assert.equal((await shop.stateOf(shipped)).trackingCodes, null);
    await shop.ship(shipped);
    await shop.sql("update erp.sales_order set delivery_state = 'open' where id = $1", entered.id);
    for (const order of [shipped, entered])
      assert.deepEqual((await shop.stateOf(order)).trackingCodes, [], JSON.stringify(order));
    const told = await shop.sql(
      "select changed_fields from events.outbox where subject_id = $1 and topic = 'order.updated' order by position",
      shipped.id,
    );
    assert.ok(told.at(-1).changed_fields.includes("trackingCodes"), JSON.stringify(told));
  });

  it("makes a fulfillment order at the default warehouse for what none covers", async () => {
    await shop.store("nail", "A-1", 9);
    await shop.store("hammer", "A-1", 9);
    const order = await shop.order(
      [nails(5), hammers(2), { quantity: 1, type: "custom" }],
      [{ location: "shed", lines: [[0, 1]], state: "Cancelled" }, { lines: [[0, 3]] }],
    );
    const payload = await shop.ship(order);
    assert.deepEqual(payload.userErrors, []);
    assert.equal(payload.fulfillmentOrders.length, 2);
    const [made] = await shop.sql(
      "select number, shipping_method_name, shipping_address, (select w.code from erp.location l join erp.warehouse w on w.id = l.warehouse_id where l.id = source_warehouse_location_id) as code from erp.fulfillment_order where number like 'FO-%'",
    );
    assert.deepEqual(
      [made.code, made.shipping_method_name, made.shipping_address],
      ["hall", "Parcel", { ...noAddress, city: "Lyon" }],
    );
    assert.deepEqual(await shop.stateOf(order), {
      state: "completed",
      deliveryState: "shipped",
      shipped: [5, 2, 0],
      fulfillmentOrders: [
        ["Cancelled", false],
        ["Closed", false],
        ["Closed", false],
      ],
      trackingCodes: [],
    });
  });

  it("continues where a part was shipped already", async () => {
    await shop.store("nail", "A-1", 9);
    const order = await shop.order([nails(5)], [{ lines: [[0, 5]] }]);
    const line = { fulfillmentOrderLineItemId: order.fulfillmentOrders[0]!.lines[0], quantity: 2 };
    await shop.fulfill(order.fulfillmentOrders[0]!, { lines: [line] });
    assert.deepEqual(shop.moves(await shop.ship(order)), [[3, "A-1", "order", "api_shipping"]]);
    assert.deepEqual((await shop.stateOf(order)).shipped, [5]);
  });

  it("ships lines without a product, of which nothing is booked", async () => {
    const order = await shop.order([{ quantity: 2, type: "custom" }, { quantity: 1 }], [{ lines: [[0, 2]] }]);
    const payload = await shop.ship(order);
    assert.deepEqual([payload.userErrors, payload.stockMovements], [[], []]);
    assert.deepEqual((await shop.stateOf(order)).shipped, [2, 1]);
  });

  it("ships no line that was taken off the order", async () => {
    await shop.store("nail", "A-1", 9);
    const order = await shop.order(
      [nails(5), nails(2)],
      [
        {
          lines: [
            [0, 5],
            [1, 2],
          ],
        },
      ],
    );
    await shop.sql("delete from erp.sales_order_line_item where id = $1", order.lines[1]!);
    assert.deepEqual(
      shop.moves(await shop.ship(order)).map(([quantity]) => quantity),
      [5],
    );
    assert.deepEqual((await shop.stateOf(order)).fulfillmentOrders, [["Closed", true]]);
  });

  it("leaves alone what is fulfilled externally; the order is complete without its lines only when they are shipped", async () => {
    await shop.store("nail", "A-1", 9);
    const external = { type: "ExternalToOrder", lines: [[1, 2]] as [number, number][] };
    const order = await shop.order([nails(5), nails(2)], [{ lines: [[0, 5]] }, external]);
    assert.deepEqual((await shop.ship(order)).userErrors, []);
    const partly = {
      state: "in_progress",
      deliveryState: "shipped_partially",
      shipped: [5, 0],
      fulfillmentOrders: [
        ["Closed", false],
        ["Open", false],
      ],
      trackingCodes: [],
    };
    assert.deepEqual(await shop.stateOf(order), partly);
    const again = await shop.ship(order);
    assert.deepEqual(refusals(again), [["EXTERNALLY_MANAGED", "orderId"]]);
    assert.deepEqual(await shop.stateOf(order), partly);
  });

  it("makes a delivery of an order that had none", async () => {
    await shop.store("nail", "A-1", 1);
    const order = await shop.order([nails(1)], [], { deliveryState: null });
    assert.equal((await shop.ship(order)).order.deliveryState, "shipped");
  });
});

describe("orderShipmentComplete refuses", () => {
  /** Refused, and nothing has changed. */
  const refused = async (order: { id: string }, rest: object = {}) => {
    const snapshot = () =>
      shop.sql(`select (select jsonb_agg(to_jsonb(o) order by id) from erp.sales_order o) as orders, (select jsonb_agg(to_jsonb(f) order by id) from erp.fulfillment_order f) as fulfillment_orders,
        (select count(*) from erp.fulfillment) as fulfillments, (select count(*) from ledger.stock_movement) as movements,
        (select jsonb_agg(to_jsonb(r) order by technical_name) from erp.number_range r) as numbers`);
    const before = await snapshot();
    const payload = await shop.ship(order as never, rest);
    assert.deepEqual(await snapshot(), before);
    assert.deepEqual(
      { ...payload, userErrors: [] },
      {
        order: null,
        fulfillments: [],
        fulfillmentOrders: [],
        stockMovements: [],
        documents: [],
        userErrors: [],
      },
    );
    return payload;
  };

  it("an order that is not there", async () => {
    const payload = await refused({ id: missingId("Order") });
    assert.deepEqual(refusals(payload), [["NOT_FOUND", "orderId"]]);
  });

  it("all of it when some of it is not there, and says what", async () => {
    await shop.store("nail", "A-1", 3);
    await shop.store("nail", "hall", 1);
    await shop.store("nail", "B-1", 100);
    await shop.store("hammer", "A-1", 100);
    const order = await shop.order(
      [nails(4), hammers(1), nails(2)],
      [
        {
          lines: [
            [0, 4],
            [1, 1],
          ],
        },
        { location: "shed", lines: [] },
      ],
    );
    const { userErrors } = await refused(order);
    assert.deepEqual(userErrors, [
      {
        code: "INSUFFICIENT_STOCK",
        message:
          "Warehouse hall holds 4 units of product nail to be picked, 6 are needed. " +
          "Other warehouses hold 100: give them the units by fulfillmentOrderMove, or by fulfillmentOrderCreate " +
          "if no fulfillment order has them.",
        field: ["orderId"],
        details: { available: 4, requested: 6, productNumber: "nail" },
      },
    ]);
  });

  it("units without a batch, of products that are kept in batches", async () => {
    await shop.store("glue", "A-1", 1, "G1");
    await shop.sql("update erp.product set is_batch_managed = false where product_number = 'glue'");
    await shop.store("glue", "A-1", 5);
    await shop.sql("update erp.product set is_batch_managed = true where product_number = 'glue'");
    const order = await shop.order([{ product: "glue", quantity: 2 }]);
    const { userErrors } = await refused(order);
    assert.deepEqual([userErrors[0].code, userErrors[0].details.available], ["INSUFFICIENT_STOCK", 1]);
  });

  it("an order of which a fulfillment order is on hold", async () => {
    await shop.store("nail", "A-1", 9);
    const order = await shop.order([nails(2)], [{ lines: [[0, 1]] }, { lines: [[0, 1]], state: "OnHold" }]);
    assert.deepEqual(refusals(await refused(order)), [["ON_HOLD", "orderId"]]);
  });

  it("an order without lines", async () => {
    const payload = await refused(await shop.order([]));
    assert.deepEqual(refusals(payload), [["INVALID_STATE_TRANSITION", "orderId"]]);
    assert.deepEqual(payload.userErrors[0].details, { state: "open", allowedActions: ["cancel", "process"] });
  });

  for (const [state, allowedActions] of [
    ["completed", ["reopen", "return"]],
    ["cancelled", ["reopen"]],
  ] as const) {
    it(`an order that is ${state}`, async () => {
      await shop.store("nail", "A-1", 9);
      const { userErrors } = await refused(await shop.order([nails(2)], [], { state }));
      assert.deepEqual(
        [userErrors[0].code, userErrors[0].details],
        ["INVALID_STATE_TRANSITION", { state, allowedActions }],
      );
    });
  }

  it("a delivery that is cancelled", async () => {
    await shop.store("nail", "A-1", 9);
    const deliveryState = "cancelled";
    const { userErrors } = await refused(await shop.order([nails(2)], [], { deliveryState }));
    assert.deepEqual(
      [userErrors[0].code, userErrors[0].details],
      ["INVALID_STATE_TRANSITION", { state: deliveryState, allowedActions: ["reopen"] }],
    );
  });

  it("a fulfillment order without a warehouse, and a default warehouse without a location", async () => {
    await shop.store("nail", "A-1", 9);
    const nowhere = await shop.order([nails(2)], [{ location: null, lines: [[0, 2]] }]);
    assert.deepEqual(refusals(await refused(nowhere)), [["INVALID", "orderId"]]);
    await shop.sql("update erp.location set active = false");
    assert.deepEqual(refusals(await refused(await shop.order([nails(2)]))), [["INVALID", "orderId"]]);
    await shop.sql("update erp.location set active = true");
  });

  it("more than was ordered, when fulfillment orders overlap", async () => {
    await shop.store("nail", "A-1", 9);
    const order = await shop.order([nails(2)], [{ lines: [[0, 2]] }, { lines: [[0, 1]] }]);
    assert.deepEqual(refusals(await refused(order)), [["OVER_FULFILLMENT", null]]);
  });

  it("tracking codes that are none, and a comment that is too long", async () => {
    await shop.store("nail", "A-1", 9);
    const order = await shop.order([nails(2)]);
    assert.deepEqual(refusals(await refused(order, { trackingCodes: ["A", " ", "x".repeat(256)] })), [
      ["OUT_OF_RANGE", "trackingCodes.1"],
      ["OUT_OF_RANGE", "trackingCodes.2"],
    ]);
    const many = Array.from({ length: 251 }, (_, n) => `${n}`);
    assert.deepEqual(refusals(await refused(order, { trackingCodes: many })), [
      ["TOO_MANY_LINES", "trackingCodes"],
    ]);
    assert.deepEqual(refusals(await refused(order, { comment: "x".repeat(1001) })), [
      ["OUT_OF_RANGE", "comment"],
    ]);
  });
});

describe("what orderShipmentComplete has of all mutations", () => {
  it("needs orders:write, and the scopes of what it is asked for", async () => {
    await shop.store("nail", "A-1", 9);
    const order = await shop.order([nails(2)]);
    const select = "stockMovements { id }";
    const reading = await shop.token({ read: "all" });
    const writing = await shop.token({ read: [], write: ["orders"] });
    for (const [token, missing] of [
      [reading, "Mutation.orderShipmentComplete"],
      [writing, "OrderShipmentCompletePayload.stockMovements"],
    ] as const) {
      const { codes, body } = await shop.tryMutate(
        "orderShipmentComplete",
        { orderId: order.id },
        { token, select },
      );
      assert.deepEqual(codes, ["FORBIDDEN"]);
      assert.equal(body.errors[0].extensions.missingScopes[0].field, missing);
    }
    const { userErrors } = await shop.mutate(
      "orderShipmentComplete",
      { orderId: order.id },
      { token: writing, select: "order { state }" },
    );
    assert.deepEqual(userErrors, []);
  });

  it("only tells, with validateOnly", async () => {
    await shop.store("nail", "A-1", 1);
    const enough = await shop.order([nails(1)]);
    const tooMuch = await shop.order([nails(2)]);
    assert.deepEqual((await shop.ship(enough, { validateOnly: true })).userErrors, []);
    assert.deepEqual(refusals(await shop.ship(tooMuch, { validateOnly: true })), [
      ["INSUFFICIENT_STOCK", "orderId"],
    ]);
    assert.equal((await shop.stateOf(enough)).state, "open");
  });

  it("ships once with an idempotency key, also by the other version", async () => {
    await shop.store("nail", "A-1", 9);
    const order = await shop.order([nails(1)]);
    const input = { orderId: order.id, idempotencyKey: "ship it" };
    const select = "fulfillments { id }";
    const first = await shop.mutate("orderShipmentComplete", input, { select });
    const second = await shop.mutate("orderShipmentComplete", input, { select, version: "2026-06-unstable" });
    assert.deepEqual(second, first);
    assert.equal(await shop.stockAt("nail", "A-1"), 8);
  });
});

describe("documents of orderShipmentComplete", () => {
  // Replaces the function that makes documents, which has its own tests
  it("are made in the order in which they are asked for", async () => {
    await shop.store("nail", "A-1", 9);
    const order = await shop.order([nails(1)]);
    const { documents } = await shop.mutate(
      "orderShipmentComplete",
      { orderId: order.id, documents: ["delivery_note", "invoice"] },
      { select: "documents { documentType { technicalName } order { id } }" },
    );
    assert.deepEqual(documents, [
      { documentType: { technicalName: "delivery_note" }, order: { id: order.id } },
      { documentType: { technicalName: "invoice" }, order: { id: order.id } },
    ]);
  });

  it("must be of types that there are, each once", async () => {
    await shop.store("nail", "A-1", 9);
    const order = await shop.order([nails(1)]);
    assert.deepEqual(refusals(await shop.ship(order, { documents: ["invoice", "postcard", "invoice"] })), [
      ["INVALID", "documents.1"],
      ["NOT_UNIQUE", "documents.2"],
    ]);
    assert.deepEqual((await shop.ship(order, { documents: [] })).documents, []);
  });
});
