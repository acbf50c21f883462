import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { reservingIn } from "../lib/reserving.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// stockReserve and stockRelease: what they promise, and what they refuse
let shop: ShippingShop;
let calls: ReturnType<typeof reservingIn>;
before(async () => {
  shop = await openShippingShop();
  calls = reservingIn(shop);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

let made = 0;
let product: string;
beforeEach(async () => {
  product = await calls.newProduct(`reserved-${++made}`, "A-1", 10);
});
const short = (available: number, requested: number) => ({ available, requested });

describe("a reservation without an order", () => {
  it("adds to what is reserved of the product, and in the warehouse", async () => {
    const id = await calls.reserve(product, "hall", 4);
    assert.deepEqual(await calls.figures(product), {
      reserved: 4,
      available: 6,
      reservedThere: 4,
      availableThere: 6,
    });
    assert.deepEqual(await calls.kept(id), ["4 active"]);
  });

  it("is refused beyond what the warehouse has, with what is available", async () => {
    await shop.store(product, "B-1", 5);
    await calls.reserve(product, "hall", 4);
    const payload = await calls.tryReserve([[product, "hall", 7]]);
    assert.deepEqual(refusals(payload), [["INSUFFICIENT_STOCK", "lines.0.quantity"]]);
    assert.deepEqual(payload.userErrors[0].details, short(6, 7));
    assert.deepEqual(payload.stockReservations, []);
    assert.equal((await calls.figures(product)).reservedThere, 4);
  });

  it("is refused where the warehouse has units, but orders wait for them", async () => {
    await shop.order([{ product, quantity: 8 }]);
    const payload = await calls.tryReserve([[product, "hall", 3]]);
    assert.deepEqual(payload.userErrors[0].details, short(2, 3));
    await calls.reserve(product, "hall", 2);
  });

  it("is refused where a fulfillment order has the units", async () => {
    await shop.store(product, "B-1", 10);
    await shop.order([{ product, quantity: 8 }], [{ lines: [[0, 8]] }]);
    const payload = await calls.tryReserve([[product, "hall", 3]]);
    assert.deepEqual(payload.userErrors[0].details, short(2, 3));
  });

  it("of a bin is refused beyond what lies in the bin, and is not named by others", async () => {
    await shop.store(product, "A-2", 10);
    await calls.reserve(product, "A-1", 6);
    assert.deepEqual((await calls.tryReserve([[product, "A-1", 5]])).userErrors[0].details, short(4, 5));
    await calls.reserve(product, "A-2", 5);
    assert.equal((await calls.figures(product)).availableThere, 9);
  });

  it("of a batch is refused beyond the batch there, and never takes a batch on hold", async () => {
    await shop.store("glue", "A-1", 5, "G1");
    await shop.store("glue", "A-2", 5, "G2");
    const first = { batchId: shop.id.G1 };
    await calls.reserve("glue", "hall", 3, first);
    assert.deepEqual(
      (await calls.tryReserve([["glue", "hall", 3, first]])).userErrors[0].details,
      short(2, 3),
    );
    assert.deepEqual(
      (await calls.tryReserve([["glue", "A-2", 1, first]])).userErrors[0].details,
      short(0, 1),
    );
    await shop.mutate("batchHold", { ids: [shop.id.G2] });
    assert.deepEqual((await calls.tryReserve([["glue", "A-2", 1]])).userErrors[0].details, short(0, 1));
    await shop.mutate("batchRelease", { ids: [shop.id.G2] });
    await calls.reserve("glue", "A-2", 1);
  });

  it("lines of one call count one after the other: all are reserved, or none", async () => {
    const payload = await calls.tryReserve([
      [product, "hall", 6],
      [product, "A-1", 5],
    ]);
    assert.deepEqual(refusals(payload), [["INSUFFICIENT_STOCK", "lines.1.quantity"]]);
    assert.deepEqual(payload.userErrors[0].details, short(4, 5));
    assert.equal((await calls.figures(product)).reserved, 0);
    const both = await calls.tryReserve([
      [product, "hall", 6],
      [product, "A-1", 4],
    ]);
    assert.deepEqual(
      both.stockReservations.map(({ quantity }: any) => quantity),
      [6, 4],
    );
  });

  it("is not bound by what is there if the product allows backorders", async () => {
    const upsert = { products: [{ id: shop.id[product], allowsBackorders: true }] };
    await shop.mutate("productsUpsert", upsert);
    const { product: read } = await shop.read(`{ product(id: "${shop.id[product]}") { allowsBackorders } }`);
    assert.equal(read.allowsBackorders, true);
    const id = await calls.reserve(product, "hall", 12);
    assert.deepEqual(await calls.kept(id), ["12 active, 2 missing"]);
    assert.equal((await calls.figures(product)).available, -2);
  });
});

describe("a reservation for an order line", () => {
  it("is part of what the order has reserved, and counts in the warehouse", async () => {
    const order = await shop.order([{ product, quantity: 8 }]);
    await calls.reserve(product, "hall", 5, { orderLineItemId: order.lines[0] });
    assert.deepEqual(await calls.figures(product), {
      reserved: 8,
      available: 2,
      reservedThere: 5,
      availableThere: 5,
    });
  });

  it("is refused beyond what the line has open without a fulfillment order", async () => {
    await shop.store(product, "B-1", 10);
    const order = await shop.order([{ product, quantity: 9 }], [{ lines: [[0, 3]] }]);
    const line = { orderLineItemId: order.lines[0] };
    await calls.reserve(product, "hall", 2, line);
    await calls.reserve(product, "shed", 3, line);
    const payload = await calls.tryReserve([
      [product, "hall", 1, line],
      [product, "shed", 1, line],
    ]);
    assert.deepEqual(refusals(payload), [["OVER_FULFILLMENT", "lines.1.quantity"]]);
    assert.deepEqual(payload.userErrors[0].details, { open: 0, requested: 1 });
  });

  it("is refused for another product, a line without one, and an order that is closed", async () => {
    const order = await shop.order([
      { product, quantity: 2 },
      { quantity: 1, type: "custom" },
    ]);
    const closed = await shop.order([{ product, quantity: 2 }], [], { state: "cancelled" });
    const line = (id: string | undefined) => ({ orderLineItemId: id });
    for (const [wanted, refusal] of [
      [
        ["hammer", "hall", 1, line(order.lines[0])],
        ["INVALID", "lines.0.orderLineItemId"],
      ],
      [
        [product, "hall", 1, line(order.lines[1])],
        ["INVALID", "lines.0.orderLineItemId"],
      ],
      [
        [product, "hall", 1, line(closed.lines[0])],
        ["OVER_FULFILLMENT", "lines.0.quantity"],
      ],
    ] as const)
      assert.deepEqual(refusals(await calls.tryReserve([wanted as any])), [refusal]);
  });

  it("is consumed by a fulfillment order of the same warehouse, and then nothing counts twice", async () => {
    const order = await shop.order([{ product, quantity: 8 }]);
    const id = await calls.reserve(product, "hall", 5, { orderLineItemId: order.lines[0] });
    const input = { orderId: order.id, warehouseId: shop.id.hall };
    const lines = [{ orderLineItemId: order.lines[0], quantity: 3 }];
    assert.deepEqual((await shop.mutate("fulfillmentOrderCreate", { ...input, lines })).userErrors, []);
    assert.deepEqual(await calls.kept(id), ["2 active"]);
    assert.deepEqual(await calls.figures(product), {
      reserved: 8,
      available: 2,
      reservedThere: 5,
      availableThere: 5,
    });
    assert.deepEqual((await shop.mutate("fulfillmentOrderCreate", input)).userErrors, []);
    assert.deepEqual(await calls.kept(id), ["0 consumed"]);
    assert.equal((await calls.figures(product)).reservedThere, 8);
  });

  it("stays elsewhere while the line has units for it, and is consumed with the last ones", async () => {
    await shop.store(product, "B-1", 10);
    const order = await shop.order([{ product, quantity: 10 }]);
    const line = { orderLineItemId: order.lines[0] };
    const ids = [
      await calls.reserve(product, "hall", 4, line),
      await calls.reserve(product, "shed", 6, line),
    ];
    const assign = (quantity: number) =>
      shop.sql(
        `with made as (
           insert into erp.fulfillment_order (number, state, type, destination_order_id, source_warehouse_location_id)
           select 'by hand ' || random(), 'Open', 'WarehouseLocationToOrder', $1, l.id
           from erp.location l where l.warehouse_id = $2 returning id)
         insert into erp.fulfillment_order_line_item (fulfillment_order_id, destination_order_line_item_id, product_id, quantity)
         select id, $3, $4, ${quantity} from made`,
        order.id,
        shop.id.shed!,
        order.lines[0]!,
        shop.id[product]!,
      );
    await assign(6);
    assert.deepEqual(await calls.kept(...ids), ["4 active", "0 consumed"]);
    await assign(3);
    assert.deepEqual(await calls.kept(...ids), ["1 active", "0 consumed"]);
    await assign(1);
    assert.deepEqual(await calls.kept(...ids), ["0 consumed", "0 consumed"]);
  });

  it("is consumed by a shipment without a fulfillment order", async () => {
    const order = await shop.order([{ product, quantity: 8 }]);
    const id = await calls.reserve(product, "hall", 5, { orderLineItemId: order.lines[0] });
    assert.deepEqual((await shop.ship(order)).userErrors, []);
    assert.deepEqual(await calls.kept(id), ["0 consumed"]);
    assert.deepEqual(await calls.figures(product), {
      reserved: 0,
      available: 2,
      reservedThere: 0,
      availableThere: 2,
    });
  });

  it("shrinks with its line, the newest first: by an upsert and by SQL", async () => {
    const order = await shop.order([{ product, quantity: 9 }]);
    const line = { orderLineItemId: order.lines[0] };
    const ids = [
      await calls.reserve(product, "hall", 4, line),
      await calls.reserve(product, "hall", 5, line),
    ];
    const lineItems = [{ id: order.lines[0], quantity: 6 }];
    assert.deepEqual(
      (await shop.mutate("ordersUpsert", { orders: [{ id: order.id, lineItems }] })).userErrors,
      [],
    );
    assert.deepEqual(await calls.kept(...ids), ["4 active", "2 active"]);
    await shop.sql(
      "update erp.sales_order_line_item set shipped_quantity = 3 where id = $1",
      order.lines[0]!,
    );
    assert.deepEqual(await calls.kept(...ids), ["3 active", "0 released"]);
    await shop.sql("delete from erp.sales_order_line_item where id = $1", order.lines[0]!);
    assert.deepEqual(await calls.kept(...ids), ["0 released", "0 released"]);
    assert.deepEqual(await calls.figures(product), {
      reserved: 0,
      available: 10,
      reservedThere: 0,
      availableThere: 10,
    });
  });

  it("ends with another product of its line, and with its order", async () => {
    const [one, other] = [
      await shop.order([{ product, quantity: 2 }]),
      await shop.order([{ product, quantity: 2 }]),
    ];
    const ids = [
      await calls.reserve(product, "hall", 2, { orderLineItemId: one.lines[0] }),
      await calls.reserve(product, "hall", 2, { orderLineItemId: other.lines[0] }),
    ];
    await shop.sql(
      "update erp.sales_order_line_item set product_id = $2 where id = $1",
      one.lines[0]!,
      shop.id.hammer!,
    );
    await shop.sql("delete from erp.sales_order where id = $1", other.id);
    assert.deepEqual(await calls.kept(...ids), ["0 released", "0 released"]);
  });

  it("is refused in SQL, too, beyond its line and for another product", async () => {
    const order = await shop.order([{ product, quantity: 2 }]);
    const insert = (quantity: number, name: string) =>
      shop.sql(
        `insert into erp.stock_reservation (product_id, warehouse_id, order_line_item_id, quantity, open_quantity)
         values ($1, $2, $3, ${quantity}, ${quantity})`,
        shop.id[name]!,
        shop.id.hall!,
        order.lines[0]!,
      );
    await assert.rejects(insert(3, product), /More would be reserved/);
    await assert.rejects(insert(1, "hammer"), /or another product/);
    await insert(2, product);
    await assert.rejects(
      shop.sql(
        "update erp.stock_reservation set quantity = 3, open_quantity = 3 where order_line_item_id = $1",
        order.lines[0]!,
      ),
      /More would be reserved/,
    );
  });
});
