import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import { gid, missingId, uuidOf } from "../lib/ids.ts";
import { refusals } from "../lib/shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

// What upserts share is tested with products
let shop: ShippingShop;
let channel: string;
before(async () => {
  shop = await openShippingShop();
  const [made] = await shop.sql(`
    with country as (insert into erp.country (iso_code, name) values ('DE', '{"en-GB":"Germany"}') returning id),
    kind as (insert into erp.customer_group (name) values ('{"en-GB":"Retail"}') returning id),
    method as (insert into erp.payment_method (technical_name) values ('test_bill') returning id)
    insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
    select '{"en-GB":"Shop"}', country.id, c.id, kind.id, method.id
    from country, kind, method, erp.currency c where c.iso_code = 'EUR' returning id`);
  channel = gid("SalesChannel", made.id);
});
after(() => shop.close());

const select = `results { index outcome id userErrors { code field } }
  orders { id orderNumber storefrontId state deliveryState trackingCodes paymentState amountTotal amountNet currencyId
    salesChannel { id } tags { edges { node { name } } }
    lineItems { edges { node { id identifier label type quantity unitPrice totalPrice storefrontId product { productNumber } } } } }`;
const orders = (rows: object[], more = {}) =>
  shop.mutate("ordersUpsert", { orders: rows, ...more }, { select });
const outcomes = ({ results }: any) => results.map(({ outcome }: any) => outcome).join(" ");
const linesOf = (order: any) => order.lineItems.edges.map(({ node }: any) => node);
const key = (storefrontId: string) => ({ storefrontId, salesChannelId: channel });
const reserved = async (product: string): Promise<number> =>
  (await shop.sql("select reserved_stock from erp.product where product_number = '" + product + "'"))[0]
    .reserved_stock;

const hammers = (quantity: number, more = {}) => ({
  storefrontId: "l1",
  productNumber: "hammer",
  quantity,
  unitPrice: 11.9,
  taxRate: 19,
  ...more,
});
const nails = (quantity: number) => ({
  storefrontId: "l2",
  productId: shop.id.nail,
  quantity,
  unitPrice: 1,
  taxRate: 19,
});

describe("ordersUpsert", () => {
  it("keeps the second of a moment, which doesn't become a later one", async () => {
    for (const [given, kept] of [
      ["2026-01-02T03:04:05.9Z", "2026-01-02T03:04:05+00:00"],
      ["2026-12-31T23:59:59.999999999Z", "2026-12-31T23:59:59+00:00"],
      ["9999-12-31T23:59:59.9Z", "9999-12-31T23:59:59+00:00"],
    ]) {
      const { orders: made, userErrors } = await shop.mutate(
        "ordersUpsert",
        { orders: [{ ...key("second"), orderDateTime: given, lineItems: [hammers(1)] }] },
        { select: "orders { orderDateTime }" },
      );
      assert.deepEqual([userErrors, made], [[], [{ orderDateTime: kept }]]);
    }
  });

  it("makes an order with its lines, amounts and reservations, and knows it again", async () => {
    const before = await reserved("hammer");
    const row = {
      ...{
        ...key("o1"),
        orderNumber: "1001",
        paymentState: "paid",
        tags: ["web"],
        orderDateTime: "2026-01-02T03:04:05Z",
      },
      shippingAddress: { city: "Köln" },
      lineItems: [
        hammers(2),
        nails(3),
        { identifier: "gift", label: "Gift wrap", quantity: 1, unitPrice: 2 },
      ],
    };
    const made = await orders([row]);
    assert.deepEqual(made.userErrors, []);
    assert.equal(outcomes(made), "CREATED");
    const [order] = made.orders;
    assert.deepEqual(
      [
        order.orderNumber,
        order.state,
        order.deliveryState,
        order.trackingCodes,
        order.paymentState,
        order.currencyId,
        order.amountTotal,
      ],
      ["1001", "open", "open", [], "paid", shop.id.EUR, 28.8],
    );
    assert.deepEqual(
      linesOf(order).map((l: any) => [
        l.identifier,
        l.label,
        l.type,
        l.quantity,
        l.totalPrice,
        l.product?.productNumber,
      ]),
      [
        ["l1", "Hammer", "product", 2, 23.8, "hammer"],
        ["l2", "Nail", "product", 3, 3, "nail"],
        ["gift", "Gift wrap", "custom", 1, 2, undefined],
      ],
    );
    assert.equal(await reserved("hammer"), before + 2);
    assert.equal(outcomes(await orders([row])), "UNCHANGED");
    const changed = await orders([{ ...key("o1"), lineItems: [hammers(5), nails(3)] }]);
    assert.deepEqual([outcomes(changed), changed.orders[0].id], ["UPDATED", order.id]);
    assert.deepEqual(
      linesOf(changed.orders[0]).map((l: any) => [l.id, l.quantity, l.totalPrice]),
      [
        [linesOf(order)[0].id, 5, 59.5],
        [linesOf(order)[1].id, 3, 3],
      ],
    );
    assert.equal(changed.orders[0].amountTotal, 62.5);
    assert.equal(await reserved("hammer"), before + 5);
    const emptied = await orders([{ id: order.id, lineItems: [] }]);
    assert.deepEqual([outcomes(emptied), await reserved("hammer")], ["UPDATED", before]);
  });

  it("leaves lines in their places, whatever their order, unless a position is given", async () => {
    const lines = ["a", "b", "c"].map((identifier) => ({ identifier, label: identifier, quantity: 1 }));
    const upsert = async (...lineItems: object[]) => {
      const answer = await shop.mutate(
        "ordersUpsert",
        { orders: [{ ...key("placed"), lineItems }] },
        {
          select: `results { outcome } orders { lineItems { edges { node { identifier position } } } }`,
        },
      );
      assert.deepEqual(answer.userErrors, []);
      const places = linesOf(answer.orders[0]).map((line: any) => `${line.identifier} ${line.position}`);
      return [outcomes(answer), ...places];
    };
    const [a, b, c] = lines as [object, object, object];
    assert.deepEqual(await upsert(a, b), ["CREATED", "a 1", "b 2"]);
    assert.deepEqual(await upsert(b, a), ["UNCHANGED", "a 1", "b 2"]);
    assert.deepEqual(await upsert(c, b, a), ["UPDATED", "a 1", "b 2", "c 3"]);
    const placed = { ...c, position: 1 };
    assert.deepEqual(await upsert({ ...a, position: 3 }, b, placed), ["UPDATED", "a 3", "b 2", "c 1"]);
    assert.deepEqual(await upsert(a, b, c), ["UNCHANGED", "a 3", "b 2", "c 1"]);
    assert.deepEqual(refusals(await orders([{ ...key("placed"), lineItems: [{ ...a, position: null }] }])), [
      ["REQUIRED", "orders.0.lineItems.0.position"],
    ]);
    await shop.sql(`update erp.sales_order set state = 'completed' where storefront_id = 'placed'`);
    assert.deepEqual(await upsert(c, b, a), ["UNCHANGED", "a 3", "b 2", "c 1"]);
    const moved = [{ ...a, position: 4 }, b, c];
    assert.deepEqual(refusals(await orders([{ ...key("placed"), lineItems: moved }])), [
      ["NOT_EDITABLE", "orders.0.lineItems.0"],
    ]);
  });

  it("tells of a new order once, with the amounts of its lines", async () => {
    const lines = [
      hammers(3),
      { ...nails(7), taxRate: 7 },
      { storefrontId: "l3", type: "promotion", label: "Off", quantity: 1, unitPrice: -0.33 },
    ];
    await sequence(shop.owner);
    const end = await endOfLog(shop.owner);
    const answer = await orders([
      ...["gross", "tax-free"].map((taxStatus) => ({
        ...key(`told-${taxStatus}`),
        taxStatus,
        lineItems: lines,
      })),
      { ...key("told-bare") },
      { ...key("told-unpriced"), lineItems: [{ productNumber: "hammer", quantity: 1 }] },
    ]);
    assert.deepEqual(
      answer.orders.map(({ amountTotal, amountNet }: any) => [amountTotal, amountNet]),
      [
        [42.37, 36.26],
        [42.37, 42.37],
        [null, null],
        [null, null],
      ],
    );
    await sequence(shop.owner);
    const told = (await logAfter(shop.owner, end)).filter(({ topic }) => topic.startsWith("order."));
    assert.deepEqual(
      told.map(({ topic, data }) => [topic, data.amountTotal]),
      [42.37, 42.37, null, null].map((amount) => ["order.created", amount]),
    );
  });

  it("keeps what is shipped or assigned, and names what can't change any more", async () => {
    await shop.store("hammer", "A-1", 20);
    const made = (await orders([{ ...key("o2"), lineItems: [hammers(5), nails(2)] }])).orders[0];
    const [hammer] = linesOf(made);
    const [fo] = await shop.sql(`
      insert into erp.fulfillment_order (number, destination_order_id, source_warehouse_location_id)
      select 'FO-o2', '${uuidOf(made.id)}', l.id from erp.location l join erp.warehouse w on w.id = l.warehouse_id
      where w.code = 'hall' returning id`);
    const [foLine] = await shop.sql(`
      insert into erp.fulfillment_order_line_item (fulfillment_order_id, destination_order_line_item_id, product_id, quantity)
      select '${fo.id}', l.id, l.product_id, 3 from erp.sales_order_line_item l where l.id = '${uuidOf(hammer.id)}' returning id`);
    const shipped = await shop.mutate("fulfillmentCreate", {
      fulfillmentOrderId: gid("FulfillmentOrder", fo.id),
      lines: [{ fulfillmentOrderLineItemId: gid("FulfillmentOrderLineItem", foLine.id), quantity: 2 }],
    });
    assert.deepEqual(shipped.userErrors, []);
    const change = (...lineItems: object[]) => orders([{ ...key("o2"), lineItems }]);
    assert.deepEqual(refusals(await change(hammers(2), nails(2))), [
      ["NOT_EDITABLE", "orders.0.lineItems.0.quantity"],
    ]);
    assert.deepEqual(refusals(await change(hammers(1), nails(2))), [
      ["OVER_FULFILLMENT", "orders.0.lineItems.0"],
    ]);
    assert.deepEqual(refusals(await change(nails(2))), [["NOT_EDITABLE", "orders.0.lineItems"]]);
    assert.deepEqual(refusals(await change(hammers(5, { productNumber: "glue" }))), [
      ["NOT_EDITABLE", "orders.0.lineItems.0.productId"],
    ]);
    assert.deepEqual(refusals(await orders([{ ...key("o2"), currencyId: shop.id.USD }])), [
      ["NOT_EDITABLE", "orders.0.currencyId"],
    ]);
    assert.deepEqual(refusals(await shop.mutate("orderCancel", { id: made.id })), [["NOT_EDITABLE", "id"]]);
    // What is not shipped can change: other lines, and down to what is assigned
    assert.equal(outcomes(await change(hammers(3))), "UPDATED");
    const rest = await shop.mutate("orderShipmentComplete", { orderId: made.id });
    assert.deepEqual(rest.userErrors, []);
    assert.deepEqual(refusals(await change(hammers(4))), [["NOT_EDITABLE", "orders.0.lineItems.0"]]);
    assert.equal(outcomes(await change(hammers(3))), "UNCHANGED");
    assert.equal(outcomes(await orders([{ ...key("o2"), paymentState: "refunded" }])), "UPDATED");
  });

  it("makes orders that are found by their ids in the shop, and by nothing that only begins like them", async () => {
    await orders(["find-1", "find-2", "find-10"].map((id) => ({ ...key(id), lineItems: [nails(1)] })));
    const found = async (filter: object) => {
      const query =
        "query ($filter: OrderFilterInput) { orders(filter: $filter) { edges { node { storefrontId } } } }";
      const { body, codes } = await shop.ask(await shop.token(), { query, variables: { filter } });
      return body.data?.orders.edges.map(({ node }: any) => node.storefrontId) ?? codes;
    };
    const salesChannelId = { equals: channel };
    assert.deepEqual(await found({ storefrontId: { equals: "find-1" }, salesChannelId }), ["find-1"]);
    assert.deepEqual(await found({ storefrontId: { in: ["find-2", "find-10", "FIND-1", "'"] } }), [
      "find-2",
      "find-10",
    ]);
    assert.deepEqual(await found({ storefrontId: { in: [] } }), []);
    assert.deepEqual(await found({ storefrontId: { equals: "find-1" }, NOT: { salesChannelId } }), []);
    assert.deepEqual(await found({ storefrontId: { startsWith: "find" } }), ["BAD_USER_INPUT"]);
  });

  it("refuses each mistake by its row, line and field", async () => {
    await orders([{ ...key("m0"), orderNumber: "taken", lineItems: [nails(1)] }]);
    const mistakes: [row: object, code: string, field: string][] = [
      [{ paymentState: "paid" }, "REQUIRED", ""],
      [{ storefrontId: "m1", currencyId: shop.id.EUR }, "REQUIRED", ".salesChannelId"],
      [{ orderNumber: "m2" }, "REQUIRED", ".currencyId"],
      [{ ...key("m3"), orderNumber: "taken" }, "NOT_UNIQUE", ".orderNumber"],
      [{ ...key("m4"), taxStatus: "none" }, "INVALID", ".taxStatus"],
      [{ ...key("m5"), customerId: missingId("Customer") }, "NOT_FOUND", ".customerId"],
      [{ ...key("m6"), shippingAddress: "Hafenweg" }, "INVALID", ".shippingAddress"],
      [{ ...key("m7"), lineItems: [nails(1), hammers(0)] }, "OUT_OF_RANGE", ".lineItems.1.quantity"],
      [{ ...key("m7"), lineItems: [nails(1), hammers(-1)] }, "OUT_OF_RANGE", ".lineItems.1.quantity"],
      [
        { ...key("m8"), lineItems: [hammers(1, { productNumber: "moon" })] },
        "NOT_FOUND",
        ".lineItems.0.productNumber",
      ],
      [{ ...key("m9"), lineItems: [{ identifier: "x", quantity: 1 }] }, "REQUIRED", ".lineItems.0.label"],
      [{ ...key("m10"), lineItems: [hammers(1, { taxRate: 101 })] }, "OUT_OF_RANGE", ".lineItems.0.taxRate"],
      [{ ...key("m0"), lineItems: [nails(1), nails(2)] }, "NOT_UNIQUE", ".lineItems.1"],
      [{ ...key("m11"), tags: [""] }, "INVALID", ".tags.0"],
    ];
    for (const [row, code, field] of mistakes)
      assert.deepEqual(refusals(await orders([row])), [[code, `orders.0${field}`]], JSON.stringify(row));
    const [strange] = linesOf((await orders([{ ...key("mx"), lineItems: [nails(1)] }])).orders[0]);
    const more: [rows: object[], code: string, field: string][] = [
      [[{ storefrontId: "m1", salesChannelId: missingId("SalesChannel") }], "NOT_FOUND", ".0.salesChannelId"],
      [[{ id: missingId("Order"), paymentState: "paid" }], "NOT_FOUND", ".0.id"],
      // A line of another order
      [[{ ...key("m0"), lineItems: [{ id: strange.id, quantity: 2 }] }], "NOT_FOUND", ".0.lineItems.0.id"],
      [[key("m0"), { ...key("m0"), paymentState: "paid" }], "NOT_UNIQUE", ".1"],
      [[{ orderNumber: "taken" }, { ...key("m0"), paymentState: "paid" }], "NOT_UNIQUE", ".1"],
      [
        [{ ...key("m0"), lineItems: Array.from({ length: 251 }, () => nails(1)) }],
        "TOO_MANY_LINES",
        ".0.lineItems",
      ],
      [Array.from({ length: 251 }, (_, n) => key(`m-${n}`)), "TOO_MANY_LINES", ""],
    ];
    for (const [rows, code, field] of more)
      assert.ok(
        refusals(await orders(rows)).some(([own, path]) => own === code && path === `orders${field}`),
        `${code} ${field}`,
      );
    const tried = await orders([{ ...key("m0"), tags: ["tried"] }], { validateOnly: true });
    assert.deepEqual([tried.userErrors, tried.results], [[], []]);
    const once = { idempotencyKey: "once" };
    assert.equal(outcomes(await orders([{ ...key("m0"), tags: ["a"] }], once)), "UPDATED");
    assert.equal(outcomes(await orders([{ ...key("m0"), tags: ["a"] }], once)), "UPDATED");
    assert.deepEqual(refusals(await orders([{ ...key("m0"), tags: ["b"] }], once)), [
      ["IDEMPOTENCY_KEY_MISMATCH", "idempotencyKey"],
    ]);
    const partial = await orders([{ ...key("fine"), lineItems: [nails(1)] }, mistakes[7]![0]], {
      partial: true,
    });
    assert.equal(outcomes(partial), "CREATED REFUSED");
  });

  it("lets callers change orders with the same products at once", async () => {
    const rows = (n: number) =>
      Array.from({ length: 10 }, (_, i) => ({
        ...key(`r${n}-${i}`),
        lineItems: n % 2 ? [hammers(1), nails(1)] : [nails(1), hammers(1)],
      }));
    const before = await reserved("nail");
    const answers = await Promise.all([1, 2, 3, 4].map((n) => orders(rows(n).concat(rows(5).slice(0, 0)))));
    assert.deepEqual(
      answers.flatMap(({ userErrors }: any) => userErrors),
      [],
    );
    assert.equal(await reserved("nail"), before + 40);
    const same = await Promise.all([1, 2, 3].map(() => orders(rows(6))));
    assert.deepEqual(
      same.flatMap(({ userErrors }: any) => userErrors),
      [],
    );
    assert.equal(await reserved("nail"), before + 50);
  });
});

describe("orderCancel", () => {
  it("cancels an order with its open fulfillment orders, and reserves nothing for it any more", async () => {
    const before = await reserved("hammer");
    const order = await shop.order([{ product: "hammer", quantity: 2 }], [{ lines: [[0, 1]] }], {
      state: "in_progress",
      deliveryState: "open",
    });
    assert.equal(await reserved("hammer"), before + 2);
    const cancelled = "order { state deliveryState } fulfillmentOrders { state }";
    const answer = await shop.mutate("orderCancel", { id: order.id }, { select: cancelled });
    assert.deepEqual(answer, {
      order: { state: "cancelled", deliveryState: "cancelled" },
      fulfillmentOrders: [{ state: "Cancelled" }],
      userErrors: [],
    });
    assert.equal(await reserved("hammer"), before);
    const again = await shop.mutate("orderCancel", { id: order.id });
    assert.equal(refusals(again)[0]![0], "INVALID_STATE_TRANSITION");
    assert.deepEqual(refusals(await shop.mutate("orderCancel", { id: missingId("Order") })), [
      ["NOT_FOUND", "id"],
    ]);
    const token = await shop.token({ read: "all", write: ["products"] });
    for (const [name, input] of [
      ["orderCancel", { id: order.id }],
      ["ordersUpsert", { orders: [{ orderNumber: "x" }] }],
    ] as const)
      assert.deepEqual((await shop.tryMutate(name, input, { token })).codes, ["FORBIDDEN"]);
  });
});
