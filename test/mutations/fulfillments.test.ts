import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { missingId } from "../lib/ids.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import type { ShopOrder, ShippingShop } from "../lib/shipping-shop.ts";
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
  await shop.sql("delete from erp.sales_order");
  await shop.empty();
});

const at = (place: string) =>
  place.includes("-") ? { binLocationId: shop.id[place] } : { warehouseId: shop.id[place] };
/** An order of ten nails and three hammers, all to be shipped from the hall, which has more than enough. */
const makeOrder = async (options?: object): Promise<ShopOrder> => {
  await shop.store("nail", "A-1", 20);
  await shop.store("hammer", "A-1", 20);
  const lines = [
    { product: "nail", quantity: 10 },
    { product: "hammer", quantity: 3 },
  ];
  return shop.order(
    lines,
    [
      {
        lines: [
          [0, 10],
          [1, 3],
        ],
      },
    ],
    options,
  );
};
const only = (order: ShopOrder) => order.fulfillmentOrders[0]!;
/** Lines of an input: units of the first line of the fulfillment order, of the second, and so on. */
const units = (order: ShopOrder, ...quantities: number[]) => ({
  lines: quantities.flatMap((quantity, line) =>
    quantity === 0 ? [] : [{ fulfillmentOrderLineItemId: only(order).lines[line], quantity }],
  ),
});
const standing = async (order: ShopOrder) => {
  const { state, deliveryState, shipped, fulfillmentOrders } = await shop.stateOf(order);
  return [state, deliveryState, shipped, ...fulfillmentOrders.map(([state, partial]) => [state, partial])];
};
const open = ["open", "open", [0, 0], ["Open", false]];

describe("fulfillmentCreate", () => {
  it("ships a part, and the rest later", async () => {
    const order = await makeOrder();
    const first = await shop.fulfill(only(order), { ...units(order, 4, 3), trackingCodes: ["P1"] });
    assert.deepEqual(first.userErrors, []);
    assert.deepEqual(first.fulfillmentOrder, {
      id: only(order).id,
      state: "InProgress",
      isPartiallyFulfilled: true,
    });
    assert.deepEqual(shop.moves(first), [
      [4, "A-1", "order", "api_shipping"],
      [3, "A-1", "order", "api_shipping"],
    ]);
    assert.deepEqual(await standing(order), [
      "in_progress",
      "shipped_partially",
      [4, 3],
      ["InProgress", true],
    ]);
    const second = await shop.fulfill(only(order), { ...units(order, 1), trackingCodes: ["P2", "P1"] });
    assert.deepEqual(second.fulfillmentOrder.state, "InProgress");
    const last = await shop.fulfill(only(order));
    assert.deepEqual(shop.moves(last), [[5, "A-1", "order", "api_shipping"]]);
    assert.deepEqual(await standing(order), ["completed", "shipped", [10, 3], ["Closed", false]]);
    assert.deepEqual((await shop.stateOf(order)).trackingCodes, ["P1", "P2"]);
    assert.equal(new Set([first, second, last].map(({ fulfillment }) => fulfillment.number)).size, 3);
  });

  it("ships all that is open when no lines are named", async () => {
    const order = await makeOrder();
    const { userErrors, fulfillment } = await shop.fulfill(only(order));
    assert.deepEqual([userErrors, fulfillment.state], [[], "Fulfilled"]);
    assert.deepEqual(await standing(order), ["completed", "shipped", [10, 3], ["Closed", false]]);
  });

  it("takes the units from the places that are named", async () => {
    await shop.store("nail", "A-2", 5);
    await shop.store("nail", "hall", 5);
    const order = await makeOrder();
    const places = [
      { place: at("hall"), quantity: 2 },
      { place: at("A-1"), quantity: 3 },
    ];
    const [nails, hammers] = units(order, 5, 1).lines;
    const payload = await shop.fulfill(only(order), { lines: [{ ...nails, places }, hammers] });
    assert.deepEqual(shop.moves(payload), [
      [2, "hall", "order", "api_shipping"],
      [3, "A-1", "order", "api_shipping"],
      [1, "A-1", "order", "api_shipping"],
    ]);
  });

  it("doesn't pick what another line takes from a place that it names", async () => {
    await shop.store("nail", "A-2", 5);
    await shop.store("nail", "C-1", 5);
    const order = await shop.order(
      [
        { product: "nail", quantity: 3 },
        { product: "nail", quantity: 4 },
      ],
      [
        {
          lines: [
            [0, 3],
            [1, 4],
          ],
        },
      ],
    );
    const [picked, named] = units(order, 3, 4).lines;
    const places = [{ place: at("A-2"), quantity: 4 }];
    const payload = await shop.fulfill(only(order), { lines: [picked, { ...named, places }] });
    assert.deepEqual(
      shop.moves(payload).map(([quantity, source]) => [quantity, source]),
      [
        [4, "A-2"],
        [1, "A-2"],
        [2, "C-1"],
      ],
    );
  });

  it("takes the batches that are named", async () => {
    await shop.store("glue", "A-1", 3, "G1");
    await shop.store("glue", "A-1", 3, "G2");
    const order = await shop.order([{ product: "glue", quantity: 3 }], [{ lines: [[0, 3]] }]);
    const [line] = units(order, 3).lines;
    const from = (batchId: string | undefined, quantity = 3) =>
      shop.fulfill(only(order), {
        lines: [{ ...line, places: [{ place: at("A-1"), quantity, batchId }] }],
      });
    assert.deepEqual(refusals(await from(undefined)), [["BATCH_REQUIRED", "lines.0.places.0.batchId"]]);
    assert.deepEqual(refusals(await from(shop.id.N1)), [["BATCH_MISMATCH", "lines.0.places.0.batchId"]]);
    assert.deepEqual(refusals(await from(missingId("Batch"))), [["NOT_FOUND", "lines.0.places.0.batchId"]]);
    assert.deepEqual((await from(shop.id.G2)).userErrors, []);
    assert.deepEqual(await shop.sql("select physical_stock as left from erp.batch where number = 'G2'"), [
      { left: 0 },
    ]);
  });

  it("leaves the order in progress while another fulfillment order is open", async () => {
    await shop.store("nail", "A-1", 9);
    const order = await shop.order(
      [{ product: "nail", quantity: 5 }],
      [{ lines: [[0, 2]] }, { location: "shed", lines: [[0, 3]], state: "OnHold" }],
      { state: "in_progress" },
    );
    await shop.fulfill(only(order));
    assert.deepEqual(await standing(order), [
      "in_progress",
      "shipped_partially",
      [2],
      ["Closed", false],
      ["OnHold", false],
    ]);
  });

  for (const [from, to] of [
    ["Cancelled", "Closed"],
    ["Cancelled", "InProgress"],
    ["InProgress", "Cancelled"],
  ] as const) {
    it(`promises what the new state says, if a transition of the shop's own leads from ${from} to ${to}`, async (t) => {
      const lead = (target: string) =>
        shop.sql(
          `insert into erp.state_transition (machine, action, from_state, to_state)
           values ('fulfillment_order', 'close', '${from}', '${target}')
           on conflict (machine, action, from_state) do update set to_state = excluded.to_state`,
        );
      t.after(() =>
        from === "InProgress"
          ? lead("Closed")
          : shop.sql(
              "delete from erp.state_transition where machine = 'fulfillment_order' and action = 'close' and from_state = $$Cancelled$$",
            ),
      );
      await lead(to);
      await shop.store("nail", "A-1", 9);
      await shop.store("hammer", "A-1", 9);
      const lines: [number, number][] = [
        [0, 5],
        [1, 2],
      ];
      const order = await shop.order(
        [
          { product: "nail", quantity: 5 },
          { product: "hammer", quantity: 2 },
        ],
        [{ lines, state: from }],
        { state: "in_progress" },
      );
      await shop.sql("delete from erp.sales_order_line_item where id = $1", order.lines[1]!);
      assert.deepEqual((await shop.fulfill(only(order))).userErrors, []);
      assert.deepEqual((await standing(order)).at(-1), [to, true]);
      await assertLedgerIsRight(shop);
    });
  }
});

describe("fulfillmentCreate refuses", () => {
  const refused = async (order: ShopOrder, input: object, ...expected: [string, string | null][]) => {
    const before = await standing(order);
    const movements = await shop.movements();
    const payload = await shop.fulfill(only(order), input);
    assert.deepEqual(refusals(payload), expected);
    assert.deepEqual(
      [payload.fulfillment, payload.fulfillmentOrder, payload.stockMovements],
      [null, null, []],
    );
    assert.deepEqual(await standing(order), before);
    assert.equal(await shop.movements(), movements);
    return payload.userErrors;
  };

  it("more than is open", async () => {
    const order = await makeOrder();
    await shop.fulfill(only(order), units(order, 4));
    const errors = await refused(
      order,
      units(order, 7, 4),
      ["OVER_FULFILLMENT", "lines.0.quantity"],
      ["OVER_FULFILLMENT", "lines.1.quantity"],
    );
    assert.deepEqual(
      errors.map(({ details }: any) => details),
      [
        { open: 6, requested: 7 },
        { open: 3, requested: 4 },
      ],
    );
  });

  it("more than is there", async () => {
    const order = await shop.order([{ product: "nail", quantity: 5 }], [{ lines: [[0, 5]] }]);
    await shop.store("nail", "A-1", 3);
    const picked = await refused(order, units(order, 4), ["INSUFFICIENT_STOCK", "lines.0.quantity"]);
    assert.deepEqual(picked[0].details, { available: 3, requested: 4, productNumber: "nail" });
    await refused(order, {}, ["INSUFFICIENT_STOCK", "fulfillmentOrderId"]);
    const [line] = units(order, 4).lines;
    const places = [{ place: at("A-1"), quantity: 4 }];
    const named = await refused(order, { lines: [{ ...line, places }] }, [
      "INSUFFICIENT_STOCK",
      "lines.0.places.0.quantity",
    ]);
    assert.deepEqual(named[0].details, { available: 3, requested: 4 });
  });

  it("a fulfillment order that is on hold, closed, cancelled or managed externally", async () => {
    for (const [state, type, code, field] of [
      ["OnHold", "WarehouseLocationToOrder", "ON_HOLD", "fulfillmentOrderId"],
      ["Closed", "WarehouseLocationToOrder", "INVALID_STATE_TRANSITION", null],
      ["Cancelled", "WarehouseLocationToOrder", "INVALID_STATE_TRANSITION", null],
      ["Open", "ExternalToOrder", "EXTERNALLY_MANAGED", "fulfillmentOrderId"],
    ] as const) {
      const order = await shop.order([{ product: "nail", quantity: 5 }], [{ lines: [[0, 5]], state, type }]);
      await refused(order, {}, [code, field]);
    }
    const gone = await shop.fulfill({ id: missingId("FulfillmentOrder") });
    assert.deepEqual(refusals(gone), [["NOT_FOUND", "fulfillmentOrderId"]]);
  });

  it("an order that is completed or cancelled, and a delivery that was called off", async () => {
    for (const options of [{ state: "completed" }, { state: "cancelled" }, { deliveryState: "cancelled" }])
      await refused(await makeOrder(options), {}, ["INVALID_STATE_TRANSITION", null]);
  });

  it("a fulfillment order of which nothing is open, or whose order is gone", async () => {
    const empty = await shop.order([{ product: "nail", quantity: 5 }], [{ lines: [] }]);
    await refused(empty, {}, ["INVALID_STATE_TRANSITION", "fulfillmentOrderId"]);
    const order = await makeOrder();
    await shop.sql("delete from erp.sales_order where id = $1", order.id);
    const payload = await shop.fulfill(only(order));
    assert.deepEqual(refusals(payload), [["INVALID", "fulfillmentOrderId"]]);
  });

  it("a fulfillment order without a warehouse", async () => {
    const order = await shop.order([{ product: "nail", quantity: 5 }], [{ location: null, lines: [[0, 5]] }]);
    await refused(order, {}, ["INVALID", "fulfillmentOrderId"]);
  });

  it("places that are none, elsewhere, or hold another quantity than the line has", async () => {
    await shop.store("nail", "B-1", 9);
    const order = await makeOrder();
    const [line] = units(order, 4).lines;
    const from = (...places: object[]) => ({ lines: [{ ...line, places }] });
    await refused(
      order,
      from({ place: {}, quantity: 2 }, { place: { ...at("hall"), ...at("A-1") }, quantity: 2 }),
      ["INVALID", "lines.0.places.0.place"],
      ["INVALID", "lines.0.places.1.place"],
    );
    await refused(order, from({ place: at("A-1"), quantity: 5 }, { place: at("A-1"), quantity: -1 }), [
      "OUT_OF_RANGE",
      "lines.0.places.1.quantity",
    ]);
    await refused(order, from({ place: at("A-1"), quantity: 3 }), ["INVALID", "lines.0.places"]);
    await refused(
      order,
      from({ place: at("B-1"), quantity: 2 }, { place: at("shed"), quantity: 2 }),
      ["INVALID", "lines.0.places.0.place"],
      ["INVALID", "lines.0.places.1.place"],
    );
    await refused(
      order,
      from(
        { place: { binLocationId: missingId("BinLocation") }, quantity: 2 },
        { place: { warehouseId: missingId("Warehouse") }, quantity: 2 },
      ),
      ["NOT_FOUND", "lines.0.places.0.place.binLocationId"],
      ["NOT_FOUND", "lines.0.places.1.place.warehouseId"],
    );
  });

  it("a place for a line that has no product", async () => {
    const order = await shop.order([{ quantity: 2, type: "custom" }], [{ lines: [[0, 2]] }]);
    const [line] = units(order, 2).lines;
    await refused(order, { lines: [{ ...line, places: [{ place: at("A-1"), quantity: 2 }] }] }, [
      "INVALID",
      "lines.0.places.0.place",
    ]);
  });

  it("lines that are none, too many, of another fulfillment order, or given twice", async () => {
    const [order, other] = [await makeOrder(), await makeOrder()];
    await refused(order, { lines: [] }, ["REQUIRED", "lines"]);
    await refused(order, { lines: Array.from({ length: 251 }, () => units(order, 1).lines[0]) }, [
      "TOO_MANY_LINES",
      "lines",
    ]);
    await refused(order, { lines: units(other, 1).lines }, [
      "NOT_FOUND",
      "lines.0.fulfillmentOrderLineItemId",
    ]);
    const [line] = units(order, 1).lines;
    await refused(
      order,
      { lines: [line, line, { ...line, quantity: 0 }] },
      ["NOT_UNIQUE", "lines.1.fulfillmentOrderLineItemId"],
      ["OUT_OF_RANGE", "lines.2.quantity"],
      ["NOT_UNIQUE", "lines.2.fulfillmentOrderLineItemId"],
    );
    await refused(order, { trackingCodes: [""] }, ["OUT_OF_RANGE", "trackingCodes.0"]);
  });
});

describe("fulfillmentCancel", () => {
  it("books all back to where it came from, and opens everything again", async () => {
    await shop.store("nail", "A-2", 4);
    await shop.store("nail", "hall", 1);
    const order = await makeOrder();
    const places = [
      { place: at("hall"), quantity: 1 },
      { place: at("A-2"), quantity: 4 },
      { place: at("A-1"), quantity: 5 },
    ];
    const [nails, hammers] = units(order, 10, 3).lines;
    const { fulfillment } = await shop.fulfill(only(order), { lines: [{ ...nails, places }, hammers] });
    const payload = await shop.cancel(fulfillment.id, { comment: "Lost on the way" });
    assert.deepEqual(payload.userErrors, []);
    assert.deepEqual(shop.moves(payload), [
      [1, "order", "hall", "cancelled_fulfillment"],
      [4, "order", "A-2", "cancelled_fulfillment"],
      [5, "order", "A-1", "cancelled_fulfillment"],
      [3, "order", "A-1", "cancelled_fulfillment"],
    ]);
    assert.deepEqual(payload.fulfillment, { ...fulfillment, state: "Cancelled" });
    assert.deepEqual(
      payload.fulfillmentOrders.map(({ id, state }: any) => [id, state]),
      [[only(order).id, "Open"]],
    );
    assert.deepEqual(await standing(order), open);
    assert.equal(await shop.stockAt("nail", "A-1"), 20);
  });

  it("can be done once", async () => {
    const order = await makeOrder();
    const { fulfillment } = await shop.fulfill(only(order));
    await shop.cancel(fulfillment.id);
    const { userErrors } = await shop.cancel(fulfillment.id);
    assert.deepEqual(
      [userErrors[0].code, userErrors[0].details],
      ["INVALID_STATE_TRANSITION", { state: "Cancelled", allowedActions: [] }],
    );
    assert.deepEqual(await standing(order), open);
  });

  it("of one of several leaves the others standing", async () => {
    const order = await makeOrder();
    const first = await shop.fulfill(only(order), units(order, 4));
    const second = await shop.fulfill(only(order), units(order, 3, 3));
    const third = await shop.fulfill(only(order));
    assert.deepEqual(await standing(order), ["completed", "shipped", [10, 3], ["Closed", false]]);
    await shop.cancel(second.fulfillment.id);
    assert.deepEqual(await standing(order), ["in_progress", "shipped_partially", [7, 0], ["Open", true]]);
    await shop.cancel(first.fulfillment.id);
    assert.deepEqual(await standing(order), ["in_progress", "shipped_partially", [3, 0], ["Open", true]]);
    await shop.cancel(third.fulfillment.id);
    assert.deepEqual(await standing(order), open);
    // And can be shipped again
    assert.deepEqual((await shop.ship(order)).userErrors, []);
    assert.deepEqual(await standing(order), ["completed", "shipped", [10, 3], ["Closed", false]]);
  });

  it("undoes orderShipmentComplete, for all its fulfillment orders", async () => {
    await shop.store("nail", "A-1", 9);
    await shop.store("nail", "B-1", 9);
    const order = await shop.order(
      [{ product: "nail", quantity: 8 }],
      [{ lines: [[0, 3]] }, { location: "shed", lines: [[0, 4]] }],
    );
    const { fulfillments } = await shop.ship(order);
    assert.deepEqual(
      shop.moves(await shop.cancel(fulfillments[0].id)).map(([quantity, , place]) => [quantity, place]),
      [
        [3, "A-1"],
        [4, "B-1"],
        [1, "A-1"],
      ],
    );
    assert.deepEqual(await standing(order), [
      "open",
      "open",
      [0],
      ["Open", false],
      ["Open", false],
      ["Open", false],
    ]);
  });

  it("brings the batches back too", async () => {
    await shop.store("glue", "A-1", 2, "G1");
    await shop.store("glue", "A-1", 2, "G2");
    const order = await shop.order([{ product: "glue", quantity: 3 }]);
    const { fulfillments } = await shop.ship(order);
    await shop.cancel(fulfillments[0].id);
    assert.deepEqual(
      await shop.sql(
        "select number, physical_stock as stock from erp.batch where number like 'G%' order by 1",
      ),
      [
        { number: "G1", stock: 2 },
        { number: "G2", stock: 2 },
      ],
    );
  });

  it("puts what came from a bin that is gone into its warehouse, outside of bins", async () => {
    const [bin] = await shop.sql(
      "insert into erp.bin_location (warehouse_id, code) select id, 'Z-9' from erp.warehouse where code = 'shed' returning id",
    );
    shop.id["Z-9"] = `gid://service/BinLocation/${bin.id}`;
    await shop.store("nail", "Z-9", 2);
    const order = await shop.order(
      [{ product: "nail", quantity: 2 }],
      [{ location: "shed", lines: [[0, 2]] }],
    );
    const { fulfillment } = await shop.fulfill(only(order));
    await shop.sql("delete from erp.bin_location where id = $1", shop.id["Z-9"]);
    assert.deepEqual(shop.moves(await shop.cancel(fulfillment.id)), [
      [2, "order", "shed", "cancelled_fulfillment"],
    ]);
  });

  it("is refused when the warehouse is gone", async () => {
    await shop.sql(
      "with w as (insert into erp.warehouse (code, name) values ('tent', 'Tent') returning id, code) insert into erp.location (name, warehouse_id) select code, id from w",
    );
    const [{ id }] = await shop.sql("select id from erp.warehouse where code = 'tent'");
    shop.id.tent = `gid://service/Warehouse/${id}`;
    await shop.store("nail", "tent", 2);
    const order = await shop.order(
      [{ product: "nail", quantity: 2 }],
      [{ location: "tent", lines: [[0, 2]] }],
    );
    const { fulfillment } = await shop.fulfill(only(order));
    await shop.sql("delete from erp.warehouse where id = $1", shop.id.tent);
    assert.deepEqual(refusals(await shop.cancel(fulfillment.id)), [["INVALID", "id"]]);
    assert.deepEqual(await standing(order), ["completed", "shipped", [2], ["Closed", false]]);
  });

  it("is refused when the origin of the units is unknown, or the order does not have them any more", async () => {
    const order = await makeOrder();
    const { fulfillment } = await shop.fulfill(only(order));
    await shop.sql("create table public.forgotten as select * from erp.fulfillment_stock_movement");
    await shop.sql("delete from erp.fulfillment_stock_movement");
    assert.deepEqual(refusals(await shop.cancel(fulfillment.id)), [["INVALID", "id"]]);
    await shop.sql("insert into erp.fulfillment_stock_movement select * from public.forgotten");
    await shop.sql("drop table public.forgotten");
    await shop.sql(
      `insert into ledger.stock_movement (product_id, quantity, source_location_type_technical_name, source_order_id, destination_location_type_technical_name, destination_special_stock_location_technical_name)
       select id, 1, 'order', $1, 'special_stock_location', 'unknown' from erp.product where product_number = 'nail'`,
      order.id,
    );
    const { userErrors } = await shop.cancel(fulfillment.id);
    assert.deepEqual(
      [userErrors[0].code, userErrors[0].field, userErrors[0].details],
      ["INSUFFICIENT_STOCK", ["id"], { available: 9, requested: 10 }],
    );
  });

  it("is refused when the order is gone", async () => {
    const order = await makeOrder();
    const { fulfillment } = await shop.fulfill(only(order));
    await shop.sql("delete from erp.sales_order where id = $1", order.id);
    assert.deepEqual(refusals(await shop.cancel(fulfillment.id)), [["INVALID", "id"]]);
  });

  it("leaves a cancelled order cancelled, and its fulfillment orders closed", async () => {
    const order = await makeOrder();
    const first = await shop.fulfill(only(order), units(order, 4));
    const second = await shop.fulfill(only(order));
    await shop.sql("update erp.sales_order set state = 'cancelled' where id = $1", order.id);
    await shop.cancel(first.fulfillment.id);
    assert.deepEqual(await standing(order), ["cancelled", "shipped_partially", [6, 3], ["Closed", true]]);
    await shop.cancel(second.fulfillment.id);
    assert.deepEqual(await standing(order), ["cancelled", "cancelled", [0, 0], ["Closed", false]]);
  });

  it("is refused for a delivery that came back already", async () => {
    const order = await makeOrder();
    const { fulfillment } = await shop.fulfill(only(order));
    await shop.sql("update erp.sales_order set delivery_state = 'returned' where id = $1", order.id);
    assert.deepEqual(refusals(await shop.cancel(fulfillment.id)), [["INVALID_STATE_TRANSITION", null]]);
  });

  it("leaves fulfillment orders on hold, in progress or cancelled as they are", async () => {
    for (const state of ["InProgress", "OnHold", "Cancelled"]) {
      const order = await makeOrder();
      const { fulfillment } = await shop.fulfill(only(order), units(order, 4));
      await shop.sql(
        `update erp.fulfillment_order set state = '${state}', state_before_hold = ${state === "OnHold" ? "'Open'" : null} where id = $1`,
        only(order).id,
      );
      assert.deepEqual((await shop.cancel(fulfillment.id)).userErrors, []);
      assert.deepEqual(await standing(order), ["open", "open", [0, 0], [state, false]]);
    }
  });

  it("is refused for what others have shipped, and for nothing", async () => {
    assert.deepEqual(refusals(await shop.cancel(missingId("Fulfillment"))), [["NOT_FOUND", "id"]]);
    const order = await shop.order(
      [{ product: "nail", quantity: 2 }],
      [{ type: "ExternalToOrder", lines: [[0, 2]] }],
    );
    const [{ id }] = await shop.sql(
      `with f as (insert into erp.fulfillment (number) values ('X-1') returning id),
         p as (insert into erp.fulfillment_order_fulfillment select $1, id from f)
       insert into erp.fulfillment_line_item (fulfillment_id, fulfillment_order_id, fulfillment_order_line_item_id, quantity)
       select id, $1, $2, 2 from f returning fulfillment_id as id`,
      only(order).id,
      only(order).lines[0]!,
    );
    const payload = await shop.cancel(`gid://service/Fulfillment/${id}`);
    assert.deepEqual(refusals(payload), [["EXTERNALLY_MANAGED", "id"]]);
  });
});

describe("fulfillmentCreate and fulfillmentCancel", () => {
  it("need orders:write", async () => {
    const order = await makeOrder();
    const token = await shop.token({ read: "all" });
    for (const [name, input] of [
      ["fulfillmentCreate", { fulfillmentOrderId: only(order).id }],
      ["fulfillmentCancel", { id: missingId("Fulfillment") }],
    ] as const)
      assert.deepEqual((await shop.tryMutate(name, input, { token })).codes, ["FORBIDDEN"]);
  });

  it("are in the version of June too", async () => {
    const order = await makeOrder();
    const created = await shop.mutate(
      "fulfillmentCreate",
      { fulfillmentOrderId: only(order).id, ...units(order, 2) },
      { version: "2026-06-unstable", select: "fulfillment { id }" },
    );
    const cancelled = await shop.mutate(
      "fulfillmentCancel",
      { id: created.fulfillment.id },
      { version: "2026-06-unstable", select: "fulfillment { state }" },
    );
    assert.deepEqual(cancelled, { fulfillment: { state: "Cancelled" }, userErrors: [] });
  });
});
