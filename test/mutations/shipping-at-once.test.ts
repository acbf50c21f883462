import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { uuidOf } from "../lib/ids.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShopOrder, ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

// The API with many clients at a time: a client can act on each answer, and the books stay right
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop({ poolSize: 30 });
});
after(() => shop.close());

const products = ["nail", "hammer", "glue"];
const places = ["A-1", "A-2", "hall", "C-1"];
const at = (place: string) =>
  place.includes("-") ? { binLocationId: shop.id[place] } : { warehouseId: shop.id[place] };
/** What so many clients got, when all have ended: a failed one leaves no requests to the tests that follow. */
const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  allEnded(Array.from({ length: count }, (_, n) => make(n)));
async function allEnded<T>(clients: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(clients);
  return Promise.all(clients);
}
const codesOf = (payload: any): string[] => payload.userErrors.map(({ code }: any) => code);

/** Pseudorandom numbers, the same in each run. */
function dice(seed: number): (sides: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (sides) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0;
    return state % sides;
  };
}

/** Number of deadlocks that Postgres has ended, even if no client got an error. */
async function deadlocks(): Promise<number> {
  const admin = new pg.Client({ connectionString: shop.adminUrl });
  await admin.connect();
  try {
    const ofService =
      "from pg_stat_activity where datname = current_database() and starts_with(application_name, 'service')";
    // A connection reports its counts at its end at the latest
    await admin.query(`select pg_terminate_backend(pid) ${ofService}`);
    await until(async () => (await admin.query(`select ${ofService}`)).rowCount === 0);
    const { rows } = await admin.query(
      "select deadlocks::int as count from pg_stat_database where datname = current_database()",
    );
    return rows[0].count;
  } finally {
    await admin.end();
  }
}

/** What a call gets that waited too long for a lock, and on a busy machine for a connection. */
const repeatable = new Set(["CONFLICT_RETRY", "SERVICE_UNAVAILABLE"]);

/** Calls, and again where the answer allows it, as clients do. Fails on any other error. */
async function sendUntilAnswered(name: string, input: object, select: string): Promise<any> {
  for (let attempt = 1; ; attempt++) {
    const { body, codes, text } = await shop.tryMutate(name, input, { select });
    if (codes.length === 0) return body.data[name];
    const mayRepeat = body.errors.every(
      ({ extensions }: any) => extensions.retryable && repeatable.has(extensions.code),
    );
    assert.ok(mayRepeat && attempt < 10, text);
  }
}
const ship = (orderId: string) =>
  sendUntilAnswered("orderShipmentComplete", { orderId }, "fulfillments { id }");

describe("one order and 20 clients", () => {
  it("is shipped once; the others are told that it is completed", async () => {
    await shop.store("nail", "A-1", 1_000);
    const order = await shop.order([{ product: "nail", quantity: 7 }], [{ lines: [[0, 5]] }]);
    const payloads = await times(20, () => ship(order.id));
    const refused = payloads.filter(({ userErrors }) => userErrors.length > 0);
    assert.equal(refused.length, 19);
    for (const { userErrors } of refused)
      assert.deepEqual(
        [userErrors[0].code, userErrors[0].details],
        ["INVALID_STATE_TRANSITION", { state: "completed", allowedActions: ["reopen", "return"] }],
      );
    assert.deepEqual((await shop.stateOf(order)).shipped, [7]);
    assert.equal(await shop.stockAt("nail", "A-1"), 993);
  });

  it("is shipped in parts by all of them, and no part too many", async () => {
    const order = await shop.order([{ product: "nail", quantity: 50 }], [{ lines: [[0, 50]] }]);
    const [fulfillmentOrder] = order.fulfillmentOrders;
    const input = {
      fulfillmentOrderId: fulfillmentOrder!.id,
      lines: [{ fulfillmentOrderLineItemId: fulfillmentOrder!.lines[0], quantity: 3 }],
    };
    const payloads = await times(20, () =>
      sendUntilAnswered("fulfillmentCreate", input, "fulfillment { id }"),
    );
    assert.equal(payloads.filter(({ userErrors }) => userErrors.length === 0).length, 16);
    assert.deepEqual(new Set(payloads.flatMap(codesOf)), new Set(["OVER_FULFILLMENT"]));
    assert.deepEqual((await shop.stateOf(order)).shipped, [48]);
  });

  it("is taken back once", async () => {
    const order = await shop.order([{ product: "nail", quantity: 2 }]);
    const { fulfillments } = await shop.ship(order);
    const cancel = { id: fulfillments[0].id };
    const payloads = await times(20, () =>
      sendUntilAnswered("fulfillmentCancel", cancel, "fulfillment { id }"),
    );
    assert.equal(payloads.filter(({ userErrors }) => userErrors.length === 0).length, 1);
    assert.deepEqual(new Set(payloads.flatMap(codesOf)), new Set(["INVALID_STATE_TRANSITION"]));
    assert.equal((await shop.stateOf(order)).state, "open");
  });

  it("is either put on hold or shipped", async () => {
    const orders = await times(10, () =>
      shop.order([{ product: "nail", quantity: 1 }], [{ lines: [[0, 1]] }]),
    );
    await allEnded(
      orders.map(async (order) => {
        const [shipped, held] = await allEnded([
          ship(order.id),
          sendUntilAnswered("fulfillmentOrderHold", { id: order.fulfillmentOrders[0]!.id }, ""),
        ]);
        assert.deepEqual(
          [codesOf(shipped), codesOf(held)].sort(),
          codesOf(held).length > 0 ? [[], ["INVALID_STATE_TRANSITION"]] : [[], ["ON_HOLD"]],
        );
      }),
    );
  });

  after(() => assertLedgerIsRight(shop));
});

describe("60 orders for three products, and 30 clients", () => {
  it("are shipped, taken back and counted at the same time, without a deadlock", async () => {
    for (const product of products)
      for (const place of places) await shop.store(product, place, 40, product === "glue" ? "G1" : undefined);
    // Each with its lines in another order, and fulfillment orders for some of them
    const orders: ShopOrder[] = [];
    for (let n = 0; n < 60; n++) {
      const roll = dice(n);
      const lines = [0, 1, 2].map((step) => ({
        product: products[(n + step * (1 + (n % 2))) % 3]!,
        quantity: 1 + roll(6),
      }));
      const assigned = [0, 1, 2].filter(() => roll(3) > 0);
      orders.push(
        await shop.order(
          lines,
          assigned.map((line) => ({ lines: [[line, lines[line]!.quantity]] })),
        ),
      );
    }

    const fulfillments: string[] = [];
    const outcomes: Record<string, number> = {};
    const acceptable = new Set(["INSUFFICIENT_STOCK", "INVALID_STATE_TRANSITION", "ON_HOLD"]);
    await times(30, async (client) => {
      const roll = dice(1_000 + client);
      for (let round = 0; round < 8; round++) {
        const order = orders[roll(orders.length)]!;
        const product = products[roll(3)]!;
        const place = places[roll(places.length)]!;
        const fulfillmentOrder = order.fulfillmentOrders[0];
        const what = roll(10);
        let payload;
        if (what < 5) {
          payload = await ship(order.id);
          fulfillments.push(...payload.fulfillments.map(({ id }: any) => id));
        } else if (what < 7 && fulfillments.length > 0) {
          payload = await sendUntilAnswered(
            "fulfillmentCancel",
            { id: fulfillments[roll(fulfillments.length)] },
            "fulfillment { id }",
          );
        } else if (what < 8 && fulfillmentOrder) {
          const action = ["Hold", "ReleaseHold", "Start"][roll(3)]!;
          payload = await sendUntilAnswered(`fulfillmentOrder${action}`, { id: fulfillmentOrder.id }, "");
        } else if (what < 9) {
          const batchId = product === "glue" ? shop.id.G1 : null;
          const line = { productId: shop.id[product], place: at(place), delta: roll(2) ? 3 : -2, batchId };
          payload = await sendUntilAnswered("stockAdjust", { lines: [line] }, "stocks { id }");
        } else {
          // Sets all stock of the hall, which takes other locks
          const isStockAvailableForSale = roll(2) > 0;
          payload = await sendUntilAnswered(
            "warehouseUpdate",
            { id: shop.id.hall, isStockAvailableForSale },
            "",
          );
        }
        for (const code of codesOf(payload)) {
          assert.ok(acceptable.has(code), code);
          outcomes[code] = (outcomes[code] ?? 0) + 1;
        }
        if (payload.userErrors.length === 0) outcomes.done = (outcomes.done ?? 0) + 1;
      }
    });
    assert.ok(outcomes.done! > 60, JSON.stringify(outcomes));
    assert.ok(fulfillments.length > 20, `${fulfillments.length} fulfillments`);
    await assertLedgerIsRight(shop);

    // Units in the place “order” equal the shipped ones, and no line was shipped twice
    const wrong = await shop.sql(`
      select l.order_id, l.product_id, sum(l.shipped_quantity) as shipped, max(s.quantity) as there
      from erp.sales_order_line_item l left join ledger.stock s on s.order_id = l.order_id and s.product_id = l.product_id
      group by l.order_id, l.product_id having sum(l.shipped_quantity) <> coalesce(max(s.quantity), 0)`);
    assert.deepEqual(wrong, []);
    const states = await shop.sql(`
      select o.state, o.delivery_state, bool_and(l.shipped_quantity = l.quantity) as is_shipped from erp.sales_order o
      join erp.sales_order_line_item l on l.order_id = o.id group by o.id
      having bool_and(l.shipped_quantity = l.quantity) <> (o.state = 'completed')
        or (o.state = 'completed') <> (o.delivery_state = 'shipped') or (o.state = 'open') <> (o.delivery_state = 'open')`);
    assert.deepEqual(states, []);
    assert.equal(await deadlocks(), 0);
  });
});

describe("an order whose transaction is still open", () => {
  it("doesn't hold up the shipping of others", async () => {
    await shop.store("nail", "A-1", 10);
    await shop.store("hammer", "A-2", 10);
    const [nails, hammers] = [
      await shop.order([{ product: "nail", quantity: 1 }], []),
      await shop.order([{ product: "hammer", quantity: 1 }], []),
    ];
    const admin = new pg.Client({ connectionString: shop.adminUrl });
    await admin.connect();
    try {
      await admin.query("begin");
      await admin.query("select set_config('service.scopes', 'orders:write', true)");
      const { rows } = await admin.query(
        "select mutation.run('api_unstable', 'order_shipment_complete', $1, null, false) -> 'userErrors' as errors",
        [{ order_id: uuidOf(nails.id) }],
      );
      assert.deepEqual(rows[0].errors, []);
      const payload = await shop.ship(hammers);
      assert.deepEqual(payload.userErrors, []);
      await admin.query("rollback");
    } finally {
      await admin.end();
    }
    const { userErrors, fulfillments } = await shop.ship(nails);
    assert.deepEqual([userErrors, fulfillments.length], [[], 1]);
  });
});
