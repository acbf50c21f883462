import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import { assertProof } from "../lib/proof.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import type { Sold, SqlPlace, TracedShop } from "../lib/traced-shop.ts";
import { nodesOf, openTracedShop, specialPlace } from "../lib/traced-shop.ts";

let shop: TracedShop;
let bin: SqlPlace;
let container: SqlPlace;
let supplierOrders: { id: string; number: string }[];
let receipt: string;
let sold: Sold;
let cancelled: Sold;
let returned: Sold;
let deleted: Sold;

async function orderAtSupplier(): Promise<{ id: string; number: string }> {
  const input = {
    supplierId: shop.id.acme,
    lineItems: [{ productId: shop.id.glue, quantity: 9, unitPrice: 2 }],
  };
  const { supplierOrder } = await shop.mutate("supplierOrderCreate", input, {
    select: "supplierOrder { id number }",
  });
  await shop.mutate("supplierOrderConfirm", { id: supplierOrder.id });
  return supplierOrder;
}

before(async () => {
  shop = await openTracedShop();
  bin = ["bin_location_id", uuidOf(shop.id["A-1"]!)];
  const [box] = await shop.sql(
    "insert into erp.stock_container (number, warehouse_id) select 'BOX', id from erp.warehouse where code = 'hall' returning id",
  );
  container = ["stock_container_id", box.id];

  // In: 18 units for two supplier orders, of which 2 are thrown away, 5 at the beginning, 2 by hand
  supplierOrders = [await orderAtSupplier(), await orderAtSupplier()];
  receipt = await shop.receive(
    supplierOrders.map(({ id: supplierOrderId }, index) => ({
      ...{ supplierOrderId, quantity: 9, batchId: shop.id.G1, plannedDisposalQuantity: 2 * index },
      destinationBinLocationId: shop.id["A-1"],
    })),
    { supplierId: shop.id.acme },
  );
  await shop.book("G1", 5, specialPlace("initialization"), bin);
  await shop.store("glue", "A-1", 2, "G1");
  await shop.store("glue", "A-1", 50, "G2");
  // By way of a container
  await shop.book("G1", 4, bin, container);
  await shop.book("G1", 4, container, ["bin_location_id", uuidOf(shop.id["A-2"]!)]);

  sold = await shop.sell(["A-1", "G1", 3], ["A-2", "G1", 4], ["A-1", "G2", 1]);
  cancelled = await shop.sell(["A-1", "G1", 1]);
  assert.deepEqual((await shop.cancel(cancelled.parcel)).userErrors, []);
  returned = await shop.sell(["A-1", "G1", 2]);
  const [back] = await shop.sql(
    "insert into erp.return_order (number, order_id) values ('R-1', $1) returning id",
    returned.id,
  );
  await shop.book("G1", 1, ["order_id", uuidOf(returned.id)], ["return_order_id", back.id]);
  deleted = await shop.sell(["A-1", "G1", 3]);
  await shop.sql("delete from erp.sales_order where id = $1", deleted.id);

  // Out: 2 go back to the supplier, 1 is missing
  await shop.receive(
    [
      {
        quantity: -2,
        batchId: shop.id.G1,
        destinationBinLocationId: shop.id["A-1"],
        supplierOrderId: supplierOrders[0]!.id,
      },
    ],
    { supplierId: shop.id.acme },
  );
  await shop.store("glue", "A-1", -1, "G1");
});
after(() => shop.close());

describe("the trace of a batch", () => {
  it("says what became of all units", async () => {
    const { trace } = await shop.trace("G1");
    assert.deepEqual(trace, {
      ...{ receivedQuantity: 18 + 5 + 2, shippedQuantity: 7 + 1 + 2 + 3, returnedQuantity: 1 + 1 },
      ...{ removedQuantity: 2 + 2 + 1, remainingQuantity: 25 - 13 + 2 - 5 },
    });
  });

  it("goes backwards to goods receipts, supplier orders and suppliers, and to how stock began", async () => {
    const origins = nodesOf((await shop.trace("G1")).origins).map((origin) => [
      ...[origin.kind, origin.quantity, origin.goodsReceiptId, origin.goodsReceipt?.supplier.number],
      origin.supplierOrderNumbers,
    ]);
    const both = [receipt, "acme", supplierOrders.map(({ number }) => number)];
    assert.deepEqual(origins, [
      ["GoodsReceipt", 9, ...both],
      ["GoodsReceipt", 9, ...both],
      ["OpeningStock", 5, null, undefined, []],
      ["Correction", 2, null, undefined, []],
    ]);
  });

  it("goes forwards to one row for each order, with its parcels, in the order of the first shipments", async () => {
    const shipments = nodesOf((await shop.trace("G1")).shipments).map((shipment) => [
      ...[shipment.orderId, shipment.shippedQuantity, shipment.returnedQuantity, shipment.keptQuantity],
      shipment.fulfillmentNumbers,
    ]);
    assert.deepEqual(shipments, [
      [sold.id, 7, 0, 7, [sold.parcelNumber]],
      [cancelled.id, 1, 1, 0, [cancelled.parcelNumber]],
      [returned.id, 2, 1, 1, [returned.parcelNumber]],
      [null, 3, 0, 3, []],
    ]);
  });

  it("says what left otherwise, and what is still where", async () => {
    const { removals, stocks } = await shop.trace("G1");
    const [, back] = nodesOf(removals);
    assert.deepEqual(
      nodesOf(removals).map(({ kind, quantity }) => [kind, quantity]),
      [
        ["Disposal", 2],
        ["ReturnToSupplier", 2],
        ["Correction", 1],
      ],
    );
    assert.notEqual(back.goodsReceiptId, receipt);
    const places = nodesOf(stocks).map(({ quantity, stock }) => [
      ...[stock.binLocation?.code ?? stock.locationTypeTechnicalName, quantity],
    ]);
    assert.deepEqual(places.sort(), [
      ["A-1", 8],
      ["return_order", 1],
    ]);
  });

  it("doesn't mix batches that were shipped together", async () => {
    const { shipments, trace } = await shop.trace("G2");
    assert.deepEqual(
      nodesOf(shipments).map(({ orderId, shippedQuantity }) => [orderId, shippedQuantity]),
      [[sold.id, 1]],
    );
    assert.deepEqual([trace.receivedQuantity, trace.remainingQuantity], [50, 49]);
  });

  it("pages forwards without losing or repeating an order", async () => {
    const query = `query ($id: ID!, $after: String) { batch(id: $id) { shipments(first: 1, after: $after) { totalCount { count }
      edges { node { id orderId } } pageInfo { hasNextPage endCursor } } } }`;
    const found: (string | null)[] = [];
    for (let after = null, more = true; more;) {
      const { batch } = await shop.read(query, { id: shop.id.G1, after });
      const { edges, pageInfo, totalCount } = batch.shipments;
      assert.equal(totalCount.count, 4);
      found.push(edges[0].node.orderId);
      ({ endCursor: after, hasNextPage: more } = pageInfo);
    }
    assert.deepEqual(found, [sold.id, cancelled.id, returned.id, null]);
  });

  it("has nothing for a batch that never moved", async () => {
    const { origins, shipments, removals, stocks, trace } = await shop.trace("N1");
    assert.deepEqual([origins, shipments, removals, stocks].flatMap(nodesOf), []);
    assert.deepEqual(new Set(Object.values(trace)), new Set([0]));
  });
});

describe("scopes of traces", () => {
  const needed = {
    "trace { receivedQuantity }": ["batches", "stocks"],
    "origins { edges { node { quantity } } }": ["batches", "stocks"],
    "shipments { edges { node { orderId } } }": ["batches", "stocks"],
    "removals { edges { node { quantity } } }": ["batches", "stocks"],
    "stocks { edges { node { quantity } } }": ["batches", "stocks"],
    "shipments { edges { node { order { orderNumber } } } }": ["batches", "stocks", "orders"],
    "shipments { edges { node { order { customer { email } } } } }": [
      "batches",
      "stocks",
      "orders",
      "customers",
    ],
    "shipments { edges { node { shippingAddress } } }": ["batches", "stocks", "fulfillment_orders"],
    "shipments { edges { node { fulfillmentNumbers } } }": ["batches", "stocks", "fulfillment_orders"],
    "shipments { edges { node { trackingCodes } } }": [
      ...["batches", "stocks", "fulfillment_orders", "shipping_labels"],
    ],
    "origins { edges { node { supplierOrderNumbers } } }": [
      ...["batches", "stocks", "supplier_orders", "goods_receipts"],
    ],
  };
  for (const [fields, scopes] of Object.entries(needed))
    it(`${fields} needs ${scopes.join(", ")}`, async () => {
      const query = `{ batch(id: "${shop.id.G1}") { ${fields} } }`;
      const whole = await shop.ask(await shop.token({ read: scopes }), { query });
      assert.equal(whole.body.errors, undefined, whole.text);
      for (const left of scopes) {
        const token = await shop.token({ read: scopes.filter((scope) => scope !== left) });
        const { body } = await shop.ask(token, { query });
        assert.equal(body.errors[0].extensions.code, "FORBIDDEN", left);
      }
    });
});

/** Random business with a batch. Returns what the test itself counted. */
async function doBusiness(batch: string, random: Random, steps: number) {
  const counted = { received: 0, shipped: 0, returned: 0, removed: 0 };
  const here: Record<string, number> = { "A-1": 0, "A-2": 0 };
  const parcels: { parcel: string; units: [string, number][] }[] = [];
  const add = async (place: string, delta: number) => {
    await shop.store("glue", place, delta, batch);
    here[place]! += delta;
  };
  for (let step = 0; step < steps; step++) {
    const place = random.oneOf(["A-1", "A-2"]);
    const other = place === "A-1" ? "A-2" : "A-1";
    const some = 1 + random.below(Math.max(here[place]!, 1));
    const act = random.below(6);
    if (act === 0 || here[place] === 0) {
      await add(place, some + 4);
      counted.received += some + 4;
    } else if (act === 1) {
      await add(place, -some);
      counted.removed += some;
    } else if (act === 2) {
      const line = shop.move("glue", place, other, { quantity: some, batchId: shop.id[batch] });
      assert.deepEqual((await shop.mutate("stockTransfer", { lines: [line] })).userErrors, []);
      here[place]! -= some;
      here[other]! += some;
    } else if (act === 3 && parcels.length > 0) {
      const { parcel, units } = parcels.splice(random.below(parcels.length), 1)[0]!;
      assert.deepEqual((await shop.cancel(parcel)).userErrors, []);
      for (const [from, quantity] of units) {
        here[from]! += quantity;
        counted.returned += quantity;
      }
    } else {
      const order = await shop.sell([place, batch, some]);
      here[place]! -= some;
      counted.shipped += some;
      if (act === 5) await shop.sql("delete from erp.sales_order where id = $1", order.id);
      else parcels.push({ parcel: order.parcel, units: [[place, some]] });
    }
  }
  return { ...counted, remaining: here["A-1"]! + here["A-2"]! };
}

it(`after random business, what came in is what went out and what remains (seed ${seed})`, async () => {
  await shop.sql("insert into erp.batch (product_id, number) values ($1, 'G9')", shop.id.glue!);
  const [made] = await shop.sql("select id from erp.batch where number = 'G9'");
  shop.id.G9 = `gid://service/Batch/${made.id}`;
  const counted = await doBusiness("G9", new Random(seed), 60);
  const { trace, ...lists } = await shop.trace("G9");
  assert.deepEqual(
    { ...trace },
    {
      ...{
        receivedQuantity: counted.received,
        shippedQuantity: counted.shipped,
        returnedQuantity: counted.returned,
      },
      ...{ removedQuantity: counted.removed, remainingQuantity: counted.remaining },
    },
  );
  assert.equal(counted.received, counted.shipped - counted.returned + counted.removed + counted.remaining);
  const sum = (list: string, field: string) =>
    nodesOf(lists[list]).reduce((total: number, node: any) => total + node[field], 0);
  assert.equal(sum("origins", "quantity"), counted.received);
  assert.equal(sum("shipments", "shippedQuantity"), counted.shipped);
  assert.equal(sum("shipments", "returnedQuantity"), counted.returned);
  assert.equal(sum("removals", "quantity"), counted.removed);
  assert.equal(sum("stocks", "quantity"), counted.remaining);
  assert.ok(nodesOf(lists.shipments).some(({ orderId }) => orderId === null));
  await assertProof(shop.owner);
});
