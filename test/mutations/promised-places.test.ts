import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { pickingIn } from "../lib/picking.ts";
import { reservingIn } from "../lib/reserving.ts";
import type { ShippingShop, ShopOrder } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";

// Bins and batches that reservations name: the order that was promised them gets them, and others take other units first.
// The pick order of the bins is, C-1
let shop: ShippingShop;
let calls: ReturnType<typeof reservingIn>;
before(async () => {
  shop = await openShippingShop();
  calls = reservingIn(shop);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const ordered = (product: string, quantity: number) => shop.order([{ product, quantity }]);
/** Plans an order in the hall. */
async function planned(order: ShopOrder, rest: object = {}): Promise<ShopOrder> {
  const { fulfillmentOrders } = await shop.succeed(
    "fulfillmentOrderCreate",
    { orderId: order.id, warehouseId: shop.id.hall, ...rest },
    "fulfillmentOrders { id lineItems(first: 9) { edges { node { id } } } }",
  );
  return {
    ...order,
    fulfillmentOrders: fulfillmentOrders.map(({ id, lineItems }: any) => ({
      id,
      lines: lineItems.edges.map(({ node }: any) => node.id),
    })),
  };
}
const forLine = (order: ShopOrder, rest: object = {}) => ({ orderLineItemId: order.lines[0], ...rest });
/** Ships some units of the first line. */
const part = ({ id, lines }: ShopOrder["fulfillmentOrders"][0], quantity: number) =>
  shop.fulfill({ id }, { lines: [{ fulfillmentOrderLineItemId: lines[0], quantity }] });
/** Describes what left: units, bin, and batch if there is one. */
async function left({ stockMovements }: any): Promise<string[]> {
  const rows = await shop.sql(
    `select concat_ws(' ', m.quantity, b.code, (select x.number from ledger.stock_movement_batch a
       join erp.batch x on x.id = a.batch_id where a.stock_movement_id = m.id)) as way
     from ledger.stock_movement m join erp.bin_location b on b.id = m.source_bin_location_id
     where m.id::text = any (string_to_array('${stockMovements.map(({ id }: any) => id.split("/").at(-1)).join(",")}', ','))
     order by m.id`,
  );
  return rows.map(({ way }) => way);
}
/** Makes a product of three batches, two of them in two bins; the first one is picked first. */
async function batches(name: string): Promise<void> {
  await shop.sql(
    `with p as (insert into erp.product (product_number, is_batch_managed) values ('${name}', true) returning id)
     insert into erp.batch (product_id, number, best_before_date)
     select id, '${name}' || n, current_date + 100 + n from p, generate_series(1, 3) n`,
  );
  const rows = await shop.sql(
    `select 'gid://service/Product/' || product_id as product, 'gid://service/Batch/' || id as batch, number
     from erp.batch where number ^@ '${name}'`,
  );
  for (const { product, batch, number } of rows) Object.assign(shop.id, { [name]: product, [number]: batch });
  await shop.store(name, "A-2", 5, `${name}1`);
  await shop.store(name, "C-1", 5, `${name}2`);
}

describe("units that a reservation names", () => {
  it("are shipped to the order that they were promised to: a bin", async () => {
    await calls.newProduct("axe", "A-2", 5);
    await shop.store("axe", "C-1", 5);
    const order = await ordered("axe", 4);
    await calls.reserve("axe", "C-1", 3, forLine(order));
    assert.deepEqual(await left(await shop.ship(order)), ["3 C-1", "1 A-2"]);
  });

  it("are shipped although a fulfillment order has consumed the reservation: a batch", async () => {
    await batches("oil");
    // Its shelf life is too short for customers who were promised none by name
    await shop.sql(
      "update erp.product set minimum_remaining_shelf_life_days = 103 where id = $1",
      shop.id.oil!,
    );
    await shop.store("oil", "A-1", 5, "oil3");
    const order = await ordered("oil", 4);
    await calls.reserve("oil", "hall", 2, forLine(order, { batchId: shop.id.oil2 }));
    const { fulfillmentOrders } = await planned(order);
    assert.deepEqual(await left(await shop.fulfill(fulfillmentOrders[0]!)), ["2 C-1 oil2", "2 A-1 oil3"]);
  });

  it("are shipped once: a later parcel of the line takes what comes first", async () => {
    await batches("ink");
    const order = await ordered("ink", 4);
    await calls.reserve("ink", "hall", 2, forLine(order, { batchId: shop.id.ink2 }));
    const { fulfillmentOrders } = await planned(order);
    const parcel = () => part(fulfillmentOrders[0]!, 2);
    assert.deepEqual(await left(await parcel()), ["2 C-1 ink2"]);
    assert.deepEqual(await left(await parcel()), ["2 A-2 ink1"]);
  });

  it("are where a pick list sends people", async () => {
    await batches("wax");
    const picking = pickingIn(shop);
    const order = await ordered("wax", 3);
    await calls.reserve("wax", "C-1", 3, forLine(order));
    const list = await picking.plan([await planned(order)]);
    assert.deepEqual(picking.way(list), ["C-1 wax wax2 0/3 open"]);
    await picking.done("pickListCancel", { id: list.id });
  });

  it("are the last that others take, also of one batch in several bins", async () => {
    await batches("tar");
    await shop.store("tar", "A-1", 1, "tar1");
    const kept = await calls.reserve("tar", "A-2", 4, { batchId: shop.id.tar1 });
    const [one, other] = [await ordered("tar", 5), await ordered("tar", 4)];
    assert.deepEqual(await left(await shop.ship(one)), ["1 A-1 tar1", "4 C-1 tar2"]);
    assert.deepEqual(await calls.kept(kept), ["4 active"]);
    // Shipments are not stopped by promises to others
    assert.deepEqual(await left(await shop.ship(other)), ["1 C-1 tar2", "3 A-2 tar1"]);
    assert.deepEqual(await calls.kept(kept), ["4 active, 2 missing"]);
    await calls.release({ id: kept });
  });

  it("are replaced by others when they are gone or not sellable", async () => {
    await batches("gum");
    const order = await ordered("gum", 3);
    await calls.reserve("gum", "hall", 3, forLine(order, { batchId: shop.id.gum2 }));
    await shop.succeed("batchHold", { ids: [shop.id.gum2], reason: "recall" });
    assert.deepEqual(await left(await shop.ship(order)), ["3 A-2 gum1"]);
  });

  it("count no longer when their time is over", async () => {
    await calls.newProduct("saw", "A-2", 3);
    await shop.store("saw", "C-1", 3);
    const cart = await calls.reserve("saw", "A-2", 3);
    await calls.outdate(cart);
    assert.deepEqual(await left(await shop.ship(await ordered("saw", 3))), ["3 A-2"]);
  });
});

describe("units that a fulfillment order is to ship by name", () => {
  /** Makes a product, and an order with a fulfillment order that was promised units of the batch that comes first. */
  async function promised(name: string, quantity: number, units: number): Promise<ShopOrder> {
    await batches(name);
    const order = await ordered(name, quantity);
    await calls.reserve(name, "hall", units, forLine(order, { batchId: shop.id[`${name}1`] }));
    return planned(order);
  }
  const shipped = async (product: string, quantity: number) =>
    left(await shop.ship(await ordered(product, quantity)));

  it("are the last that shipments of others take", async () => {
    const order = await promised("jam", 5, 5);
    const other = await planned(await ordered("jam", 1));
    assert.deepEqual(await left(await shop.fulfill(other.fulfillmentOrders[0]!)), ["1 C-1 jam2"]);
    assert.deepEqual(await shipped("jam", 3), ["3 C-1 jam2"]);
    // Shipments are not stopped by promises to others
    assert.deepEqual(await shipped("jam", 2), ["1 C-1 jam2", "1 A-2 jam1"]);
    await shop.store("jam", "C-1", 5, "jam2");
    assert.deepEqual(await left(await shop.fulfill(order.fulfillmentOrders[0]!)), [
      "4 A-2 jam1",
      "1 C-1 jam2",
    ]);
  });

  it("are the last that shipments of others take: a bin", async () => {
    await calls.newProduct("nut", "A-2", 5);
    await shop.store("nut", "C-1", 5);
    const order = await ordered("nut", 5);
    await calls.reserve("nut", "A-2", 5, forLine(order));
    const { fulfillmentOrders } = await planned(order);
    assert.deepEqual(await shipped("nut", 2), ["2 C-1"]);
    assert.deepEqual(await left(await shop.fulfill(fulfillmentOrders[0]!)), ["5 A-2"]);
  });

  it("are the last that pick lists of others take, until a pick list has them", async () => {
    const order = await promised("fig", 3, 3);
    const picking = pickingIn(shop);
    const one = await picking.plan([await planned(await ordered("fig", 1))]);
    assert.deepEqual(picking.way(one), ["C-1 fig fig2 0/1 open"]);
    const both = await picking.plan([await planned(await ordered("fig", 1)), order]);
    assert.deepEqual(picking.way(both), ["A-2 fig fig1 0/1 open", "A-2 fig fig1 0/3 open"]);
    assert.deepEqual(await shipped("fig", 1), ["1 A-2 fig1"]);
    for (const { id } of [one, both]) await picking.done("pickListCancel", { id });
    assert.deepEqual(await shipped("fig", 1), ["1 C-1 fig2"]);
  });

  it("are no longer promised when they were shipped", async () => {
    const order = await promised("bun", 4, 3);
    assert.deepEqual(await left(await part(order.fulfillmentOrders[0]!, 2)), ["2 A-2 bun1"]);
    assert.deepEqual(await shipped("bun", 1), ["1 C-1 bun2"]);
    assert.deepEqual(await left(await part(order.fulfillmentOrders[0]!, 1)), ["1 A-2 bun1"]);
    assert.deepEqual(await shipped("bun", 1), ["1 A-2 bun1"]);
  });

  it("are no longer promised when the fulfillment order was cancelled", async () => {
    const order = await promised("cod", 3, 3);
    assert.deepEqual(await shipped("cod", 1), ["1 C-1 cod2"]);
    await shop.succeed("fulfillmentOrderCancel", { id: order.fulfillmentOrders[0]!.id });
    assert.deepEqual(await shipped("cod", 1), ["1 A-2 cod1"]);
  });

  it("are still promised when another warehouse has shipped its part", async () => {
    await batches("pea");
    await shop.store("pea", "B-1", 2, "pea1");
    const order = await ordered("pea", 4);
    await calls.reserve("pea", "shed", 2, forLine(order, { batchId: shop.id.pea1 }));
    await calls.reserve("pea", "hall", 2, forLine(order, { batchId: shop.id.pea2 }));
    const [there, here] = await Promise.all([
      planned(order, {
        warehouseId: shop.id.shed,
        lines: [{ orderLineItemId: order.lines[0], quantity: 2 }],
      }),
      planned(order, { lines: [{ orderLineItemId: order.lines[0], quantity: 2 }] }),
    ]);
    assert.deepEqual(await left(await shop.fulfill(there.fulfillmentOrders[0]!)), ["2 B-1 pea1"]);
    assert.deepEqual(await left(await shop.fulfill(here.fulfillmentOrders[0]!)), ["2 C-1 pea2"]);
  });

  it("count only from the moment of the promise: what was shipped before is no part of it", async () => {
    await batches("rum");
    const order = await ordered("rum", 4);
    const first = await planned(order, { lines: [{ orderLineItemId: order.lines[0], quantity: 2 }] });
    assert.deepEqual(await left(await shop.fulfill(first.fulfillmentOrders[0]!)), ["2 A-2 rum1"]);
    await calls.reserve("rum", "hall", 2, forLine(order, { batchId: shop.id.rum2 }));
    const { fulfillmentOrders } = await planned(order);
    assert.deepEqual(await left(await shop.fulfill(fulfillmentOrders[0]!)), ["2 C-1 rum2"]);
  });

  it("can't be reserved by name for others", async () => {
    const order = await promised("tea", 3, 3);
    const reserve = (quantity: number) =>
      calls.tryReserve([["tea", "hall", quantity, { batchId: shop.id.tea1 }]]);
    const { userErrors } = await reserve(3);
    assert.deepEqual(
      userErrors.map(({ code, details }: any) => [code, details]),
      [["INSUFFICIENT_STOCK", { available: 2, requested: 3 }]],
    );
    // Units on a pick list count once
    const list = await pickingIn(shop).plan([order]);
    const [refused] = (await reserve(3)).userErrors;
    assert.deepEqual(refused.details, { available: 2, requested: 3, planned: 3 });
    assert.equal(
      refused.message,
      "2 units are left to reserve there, not 3. Of what lies there, 3 are planned for pick lists.",
    );
    await pickingIn(shop).done("pickListCancel", { id: list.id });
    assert.deepEqual((await reserve(2)).userErrors, []);
  });

  it("are free again when they were released before a fulfillment order took them", async () => {
    await batches("gin");
    const order = await ordered("gin", 4);
    await planned(order, { lines: [{ orderLineItemId: order.lines[0], quantity: 2 }] });
    const kept = await calls.reserve("gin", "hall", 2, forLine(order, { batchId: shop.id.gin1 }));
    await calls.release({ id: kept, quantity: 1 });
    await calls.reserve("gin", "hall", 4, { batchId: shop.id.gin1 });
    assert.deepEqual(await calls.kept(kept), ["1 active"]);
  });

  it("are no longer looked at when they were shipped", async () => {
    const order = await promised("dye", 2, 2);
    const named = () =>
      shop.sql("select from ledger.named_reservation n where n.product_id = $1", shop.id.dye!);
    await shop.fulfill(order.fulfillmentOrders[0]!);
    assert.equal((await named()).length, 1);
    await calls.reserve("dye", "hall", 1, { batchId: shop.id.dye2 });
    assert.equal((await named()).length, 1);
  });

  it("are promised again when the parcel comes back into stock, also when they were no longer looked at", async () => {
    const order = await promised("rye", 3, 3);
    const { fulfillment } = await shop.fulfill(order.fulfillmentOrders[0]!);
    const other = await calls.reserve("rye", "hall", 1, { batchId: shop.id.rye2 });
    await calls.release({ id: other, quantity: 1 });
    await shop.cancel(fulfillment.id);
    assert.deepEqual(await shipped("rye", 2), ["2 C-1 rye2"]);
    assert.deepEqual(await left(await shop.fulfill(order.fulfillmentOrders[0]!)), ["3 A-2 rye1"]);
  });

  it("may be named later, by SQL", async () => {
    await batches("sorrel");
    const order = await ordered("sorrel", 2);
    await calls.reserve("sorrel", "hall", 2, forLine(order));
    await shop.sql(
      `update erp.stock_reservation r set batch_id = b.id from erp.batch b
       where b.number = 'sorrel1' and r.product_id = b.product_id`,
    );
    assert.deepEqual(await shipped("sorrel", 2), ["2 C-1 sorrel2"]);
    assert.deepEqual(await left(await shop.fulfill((await planned(order)).fulfillmentOrders[0]!)), [
      "2 A-2 sorrel1",
    ]);
  });
});
