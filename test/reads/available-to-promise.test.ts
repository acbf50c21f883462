import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { reservingIn } from "../lib/reserving.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

// What can be promised for a day: what is available now, and what open supplier orders bring until then
let shop: ShippingShop;
let calls: ReturnType<typeof reservingIn>;
before(async () => {
  shop = await openShippingShop();
  calls = reservingIn(shop);
});
after(() => shop.close());

let made = 0;
let product: string;
beforeEach(async () => {
  product = await calls.newProduct(`expected-${++made}`, "A-1", 10);
});

/** The day so many days after today. */
const day = (after: number) => new Date(Date.now() + after * 86_400_000).toISOString().slice(0, 10);
const noon = (after: number) => `${day(after)}T12:00:00Z`;

/** Orders units of the product from a supplier. */
async function order(
  quantity: number,
  { own = null, ofOrder = null, warehouse = "hall" }: Dates = {},
): Promise<string> {
  const { userErrors, supplierOrder } = await shop.mutate(
    "supplierOrderCreate",
    {
      supplierId: shop.id.forge,
      warehouseId: shop.id[warehouse],
      deliveryDate: ofOrder === null ? null : noon(ofOrder),
      lineItems: [
        { productId: shop.id[product], quantity, expectedDeliveryDate: own === null ? null : noon(own) },
      ],
    },
    { select: "supplierOrder { id }" },
  );
  assert.deepEqual(userErrors, []);
  return supplierOrder.id;
}
interface Dates {
  /** Days from today until the line is expected. */
  own?: number | null;
  /** Days from today until the order is expected. */
  ofOrder?: number | null;
  warehouse?: string;
}

const promised = async (after: number, place?: string): Promise<number> => {
  const field = `availableToPromise(day: "${day(after)}")`;
  const filter = `filter: { warehouseId: { equals: "${shop.id[place ?? "hall"]}" } }`;
  const { product: found } = await shop.read(
    `{ product(id: "${shop.id[product]}") { ${field} warehouseStocks(${filter}) { edges { node { ${field} } } } } }`,
  );
  return place === undefined
    ? found.availableToPromise
    : found.warehouseStocks.edges[0].node.availableToPromise;
};
const byDay = (days: number[], place?: string) => Promise.all(days.map((after) => promised(after, place)));

it("counts a line from its own date on, or else from the date of its order", async () => {
  await order(5, { own: 3, ofOrder: 9 });
  await order(7, { ofOrder: 6 });
  assert.deepEqual(await byDay([0, 2, 3, 5, 6, 9]), [10, 10, 15, 15, 22, 22]);
});

it("counts what is overdue from today on, and never what has no date", async () => {
  await order(5, { own: -4 });
  await order(7);
  assert.deepEqual(await byDay([-1, 0, 400]), [10, 15, 15]);
});

it("counts a warehouse's own orders there, and leaves out what is reserved", async () => {
  await order(5, { own: 3 });
  await order(7, { own: 3, warehouse: "shed" });
  await calls.reserve(product, "hall", 4);
  assert.deepEqual(await byDay([0, 3]), [6, 18]);
  assert.deepEqual(await byDay([0, 3], "hall"), [6, 11]);
});

it("leaves out what has arrived, and orders that are cancelled", async () => {
  const received = await order(5, { own: 3 });
  const cancelled = await order(7, { own: 3 });
  await shop.mutate("supplierOrderCancel", { id: cancelled });
  await shop.sql(
    "update erp.supplier_order_line_item set received_quantity = 2 where supplier_order_id = $1",
    received,
  );
  assert.deepEqual(await byDay([3]), [13]);
  await shop.sql(
    "update erp.supplier_order_line_item set received_quantity = 0 where supplier_order_id = $1",
    received,
  );
});

it("needs the scope of supplier orders", async () => {
  const token = await shop.token({ read: ["products"] });
  const query = `{ product(id: "${shop.id[product]}") { availableToPromise(day: "${day(0)}") } }`;
  assert.deepEqual((await shop.ask(token, { query })).codes, ["FORBIDDEN"]);
});
