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
const forLine = (order: ShopOrder, rest: object = {}) => ({ orderLineItemId: order.lines[0], ...rest });
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
    const planned = await shop.succeed(
      "fulfillmentOrderCreate",
      { orderId: order.id, warehouseId: shop.id.hall },
      "fulfillmentOrders { id }",
    );
    assert.deepEqual(await left(await shop.fulfill(planned.fulfillmentOrders[0])), [
      "2 C-1 oil2",
      "2 A-1 oil3",
    ]);
  });

  it("are shipped once: a later parcel of the line takes what comes first", async () => {
    await batches("ink");
    const order = await shop.order([{ product: "ink", quantity: 4 }], [{ lines: [[0, 4]] }]);
    const [{ id, lines }] = order.fulfillmentOrders as [ShopOrder["fulfillmentOrders"][0]];
    // As one that was reserved before the fulfillment order was made
    await shop.sql(
      `insert into erp.stock_reservation (product_id, warehouse_id, batch_id, order_line_item_id, quantity, open_quantity, state)
       values ($1, $2, $3, $4, 2, 0, 'consumed')`,
      shop.id.ink!,
      shop.id.hall!,
      shop.id.ink2!,
      order.lines[0]!,
    );
    const parcel = () =>
      shop.fulfill({ id }, { lines: [{ fulfillmentOrderLineItemId: lines[0], quantity: 2 }] });
    assert.deepEqual(await left(await parcel()), ["2 C-1 ink2"]);
    assert.deepEqual(await left(await parcel()), ["2 A-2 ink1"]);
  });

  it("are where a pick list sends people", async () => {
    await batches("wax");
    const picking = pickingIn(shop);
    const order = await ordered("wax", 3);
    await calls.reserve("wax", "C-1", 3, forLine(order));
    const planned = await shop.succeed(
      "fulfillmentOrderCreate",
      { orderId: order.id, warehouseId: shop.id.hall },
      "fulfillmentOrders { id }",
    );
    const list = await picking.plan([{ ...order, fulfillmentOrders: planned.fulfillmentOrders }]);
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
