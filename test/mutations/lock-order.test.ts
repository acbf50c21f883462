import assert from "node:assert/strict";
import { after, afterEach, before, it } from "node:test";
import pg from "pg";
import { uuidOf } from "../lib/ids.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

// A transaction takes the locks of all its products at once, in the order of their ids. A transaction that took one more later could
// wait for a transaction that waits for it.

let shop: ShippingShop;
let other: pg.Client;
/** Products in the order of their ids. */
let first: string;
let second: string;
before(async () => {
  shop = await openShippingShop();
  other = new pg.Client({ connectionString: shop.adminUrl });
  await other.connect();
  [first, second] = ["hammer", "nail"].sort((a, b) => (shop.id[a]! < shop.id[b]! ? -1 : 1)) as [
    string,
    string,
  ];
  for (const product of [first, second]) await shop.store(product, "A-1", 100);
});
afterEach(async () => {
  await other.query("rollback");
  await assertLedgerIsRight(shop);
});
after(async () => {
  await other.end();
  await shop.close();
});

/** Locks a product, as another booking would, until the end of the test. */
const lock = (product: string, more = "") =>
  other.query(`select from erp.product where id = $1 for no key update ${more}`, [uuidOf(shop.id[product]!)]);
const hold = async (product: string) => {
  await other.query("begin");
  await lock(product);
};

/** Asserts that a call that needs both products waits for the first one without holding the second one. */
const takesFirstFirst = async (call: () => Promise<{ userErrors: unknown[] }>) => {
  await hold(first);
  const called = call();
  const waiting = `select from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and a.datname = current_database()`;
  await until(async () => (await shop.owner.query(waiting)).rowCount! > 0);
  await lock(second, "nowait");
  await other.query("rollback");
  assert.deepEqual((await called).userErrors, []);
};

it("what is left of an order is shipped without the products that were shipped before", async () => {
  const order = await shop.order(
    [
      { product: second, quantity: 2 },
      { product: first, quantity: 3 },
    ],
    [{ lines: [[1, 3]] }, { lines: [[0, 2]] }],
    { state: "in_progress" },
  );
  assert.deepEqual((await shop.fulfill(order.fulfillmentOrders[0]!)).userErrors, []);
  await hold(first);
  const { userErrors, order: shipped } = await shop.ship(order);
  assert.deepEqual(userErrors, []);
  assert.equal(shipped.state, "completed");
});

it("a receipt doesn't take the products that its orders await or got before", async () => {
  const { supplierOrder } = await shop.mutate(
    "supplierOrderCreate",
    {
      supplierId: shop.id.acme,
      lineItems: [first, second].map((product) => ({
        productId: shop.id[product],
        quantity: 4,
        unitPrice: 1,
      })),
    },
    { select: "supplierOrder { id lineItems { edges { node { id product { productNumber } } } } }" },
  );
  const { id, lineItems } = supplierOrder;
  await shop.mutate("supplierOrderConfirm", { id });
  const receive = async (product: string, quantity: number) => {
    const { node } = lineItems.edges.find((edge: any) => edge.node.product.productNumber === product);
    const line = { productId: shop.id[product], quantity, supplierOrderLineItemId: node.id };
    const { goodsReceipt } = await shop.mutate(
      "goodsReceiptCreate",
      { lineItems: [line] },
      { select: "goodsReceipt { id }" },
    );
    assert.deepEqual((await shop.mutate("goodsReceiptApprove", { id: goodsReceipt.id })).userErrors, []);
    assert.deepEqual((await shop.mutate("goodsReceiptComplete", { id: goodsReceipt.id })).userErrors, []);
  };
  const state = async () =>
    (await shop.read("query ($id: ID!) { supplierOrder(id: $id) { state } }", { id })).supplierOrder.state;
  await hold(first);
  await receive(second, 3);
  assert.equal(await state(), "partially_delivered");
  await other.query("rollback");
  await receive(first, 4);
  await hold(first);
  await receive(second, 1);
  assert.equal(await state(), "delivered");
  // A correction opens it again
  await receive(second, -1);
  assert.equal(await state(), "partially_delivered");
});

it("cancelling an order takes all of its products at once", async () => {
  const order = await shop.order(
    [
      { product: second, quantity: 2 },
      { product: first, quantity: 3 },
    ],
    [{ lines: [[0, 2]] }],
  );
  await takesFirstFirst(() => shop.mutate("orderCancel", { id: order.id }));
  assert.equal((await shop.stateOf(order)).state, "cancelled");
});

it("closing a fulfillment order takes what nobody wants of it any more along", async () => {
  const order = await shop.order(
    [
      { product: second, quantity: 2 },
      { product: first, quantity: 3 },
    ],
    [
      {
        lines: [
          [0, 2],
          [1, 3],
        ],
      },
    ],
    { state: "in_progress" },
  );
  await shop.sql("delete from erp.sales_order_line_item where id = $1", order.lines[1]!);
  await takesFirstFirst(() => shop.fulfill(order.fulfillmentOrders[0]!));
  assert.equal((await shop.stateOf(order)).state, "completed");
});

it("taking back a shipment of an order that was completed by hand takes all of its products at once", async () => {
  const order = await shop.order(
    [
      { product: second, quantity: 2 },
      { product: first, quantity: 3 },
    ],
    [{ lines: [[0, 2]] }],
    { state: "in_progress" },
  );
  const { fulfillment } = await shop.fulfill(order.fulfillmentOrders[0]!);
  await shop.sql("update erp.sales_order set state = 'completed' where id = $1", order.id);
  await takesFirstFirst(() => shop.cancel(fulfillment.id));
  assert.equal((await shop.stateOf(order)).state, "open");
});
