import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import { reorderingIn } from "../lib/reordering.ts";
import type { Proposal } from "../lib/reordering.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";

let shop: ShippingShop;
let re: ReturnType<typeof reorderingIn>;
before(async () => {
  shop = await openShippingShop();
  re = reorderingIn(shop);
});
after(async () => {
  await assertLedgerIsRight(shop);
  await shop.close();
});

/** Returns a proposal in short: warehouse, reason, quantity, position. */
const short = ({ warehouse, reason, quantity, position }: Proposal) =>
  `${warehouse.code}: ${reason}, ${quantity} at ${position}`;
const inShort = async (product: string) => (await re.of(product)).map(short);
/** Returns the day after a number of days, as the service names it. */
const dayAfter = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

it("a warehouse is filled up to its target, at least the least purchase, in steps", async () => {
  const saw = await re.newProduct("saw");
  await shop.store(saw, "A-1", 5);
  await shop.store(saw, "B-1", 500);
  await re.sell("forge", saw, { min: 12, steps: 8, days: 9, isDefault: true, prices: { EUR: 4, USD: 5 } });
  await re.rule(saw, "hall", { reorderPoint: 10, targetMaximumQuantity: 22, safetyStock: 2 });
  const [proposal, ...others] = await re.of(saw);
  assert.deepEqual(others, []);
  assert.deepEqual(proposal, {
    ...{ rank: 1, reason: "reorder_point", quantity: 24, unitPrice: "4", orderUntil: null, runsOutOn: null },
    ...{ position: 3, stock: 5, heldQuantity: 0, promisedQuantity: 0, safetyStock: 2, onOrderQuantity: 0 },
    ...{ returningQuantity: 0, reorderPoint: 10, fillUpTo: 22, minPurchase: 12, purchaseSteps: 8 },
    ...{ leadTimeDays: 9, shippedQuantity: 0, spansWarehouses: false, productId: shop.id[saw] },
    ...{ product: { productNumber: "saw" }, warehouse: { code: "hall" } },
    ...{ supplier: { number: "forge" }, currency: { isoCode: "EUR" } },
  });
  await shop.store(saw, "A-1", 7);
  assert.deepEqual(await inShort(saw), ["hall: reorder_point, 16 at 10"]);
  await shop.store(saw, "A-1", 1);
  assert.deepEqual(await inShort(saw), []);
});

it("the reorder point of a product is for all warehouses that sell, if none has its own", async () => {
  const axe = await re.newProduct("axe", { reorder_point: 10, target_maximum_quantity: 40 });
  assert.deepEqual(await inShort(axe), ["hall: reorder_point, 40 at 0"]);
  await shop.store(axe, "B-1", 8);
  await shop.store(axe, "R-1", 100);
  assert.deepEqual(await inShort(axe), ["hall: reorder_point, 32 at 8"]);
  assert.equal((await re.of(axe))[0]!.spansWarehouses, true);
  await re.rule(axe, "shed", { reorderPoint: 20 });
  assert.deepEqual(await inShort(axe), ["shed: reorder_point, 13 at 8"]);
  await re.rule(axe, "shed", { reorderPoint: 0, targetMaximumQuantity: 0 });
  assert.deepEqual(await inShort(axe), []);
});

it("without a target, what is shipped within the lead time is added, and the dates follow", async () => {
  const bolt = await re.newProduct("bolt", { reorder_point: 20 });
  await re.sell("forge", bolt, { days: 30 });
  await shop.store(bolt, "A-1", 100);
  await shop.store(bolt, "B-1", 12);
  const order = await shop.order([{ product: bolt, quantity: 94 }], [{ lines: [[0, 94]] }]);
  const { userErrors } = await shop.ship(order);
  assert.deepEqual(userErrors, []);
  // 94 in 90 days
  assert.deepEqual(await inShort(bolt), ["hall: reorder_point, 34 at 18"]);
  const [first] = await re.of(bolt);
  assert.deepEqual(
    [first!.fillUpTo, first!.shippedQuantity, first!.runsOutOn, first!.orderUntil],
    [52, 94, dayAfter(17), dayAfter(-13)],
  );
  // Shipments of ten days
  const [sooner] = await re.proposals({ productId: shop.id[bolt], days: 10 });
  assert.deepEqual([sooner!.fillUpTo, sooner!.runsOutOn], [20 + 282, dayAfter(1)]);
  // A shipment that is cancelled was none
  await re.newProduct("washer", { reorder_point: 20 });
  await shop.store("washer", "A-1", 10);
  const other = await shop.order([{ product: "washer", quantity: 8 }], [{ lines: [[0, 8]] }]);
  const { fulfillments } = await shop.ship(other);
  assert.deepEqual(
    (await re.of("washer")).map(({ shippedQuantity }) => shippedQuantity),
    [8],
  );
  assert.deepEqual((await shop.cancel(fulfillments[0].id)).userErrors, []);
  assert.deepEqual(
    (await re.of("washer")).map(({ shippedQuantity }) => shippedQuantity),
    [0],
  );
});

it("without a reorder point, only what is missing is bought", async () => {
  const drill = await re.newProduct("drill");
  await shop.store(drill, "A-1", 3);
  assert.deepEqual(await inShort(drill), []);
  const order = await shop.order([{ product: drill, quantity: 5 }]);
  // Units of any warehouse are good for it
  assert.deepEqual(await inShort(drill), ["hall: shortage, 2 at -2"]);
  await shop.store(drill, "B-1", 2);
  assert.deepEqual(await inShort(drill), []);
  // A warehouse with a rule of its own looks at itself
  await re.rule(drill, "shed", { reorderPoint: 1 });
  assert.deepEqual(await inShort(drill), ["hall: shortage, 2 at -2"]);
  await shop.sql("update erp.sales_order set state = 'cancelled' where id = $1", order.id);
  assert.deepEqual(await inShort(drill), []);
});

it("each promise counts once: of orders, of fulfillment orders, and reserved", async () => {
  const file = await re.newProduct("file", { reorder_point: 0, target_maximum_quantity: 50 });
  await shop.store(file, "A-1", 30);
  const order = await shop.order([{ product: file, quantity: 12 }], [{ lines: [[0, 4]] }]);
  const place = { warehouseId: shop.id.shed };
  await shop.store(file, "B-1", 6);
  const lines = [
    { productId: shop.id[file], place, quantity: 3, orderLineItemId: order.lines[0] },
    { productId: shop.id[file], place: { warehouseId: shop.id.hall }, quantity: 2 },
  ];
  assert.deepEqual(
    (await shop.mutate("stockReserve", { lines }, { select: "warnings { code }" })).userErrors,
    [],
  );
  // 12 of the order, 2 without one. External locations ship their own
  await shop.order(
    [{ product: file, quantity: 7 }],
    [{ type: "ExternalToOrder", location: null, lines: [[0, 7]] }],
  );
  await shop.store(file, "A-1", -22);
  assert.deepEqual(await inShort(file), ["hall: reorder_point, 50 at 0"]);
  const [{ stock, promisedQuantity }] = (await re.of(file)) as [Proposal];
  assert.deepEqual([stock, promisedQuantity], [14, 14]);
  // By warehouse: 4 and 2 and the 5 that nobody promised are the hall's
  await re.rule(file, "hall", { reorderPoint: 100 });
  const [hall] = (await re.of(file)) as [Proposal];
  assert.deepEqual(
    [hall.warehouse.code, hall.stock, hall.promisedQuantity, hall.position],
    ["hall", 8, 11, -3],
  );
});

it("units on order count until their receipt is completed, and then as stock", async () => {
  const rope = await re.newProduct("rope", { reorder_point: 100, target_maximum_quantity: 200 });
  const positions = async () =>
    (await re.of(rope)).map(({ stock, onOrderQuantity }) => [stock, onOrderQuantity]);
  const { supplierOrder } = await shop.mutate(
    "supplierOrderCreate",
    { supplierId: shop.id.acme, lineItems: [{ productId: shop.id[rope], quantity: 30 }] },
    { select: "supplierOrder { id }" },
  );
  assert.deepEqual(await positions(), [[0, 30]]);
  for (const name of ["supplierOrderSend", "supplierOrderConfirm"])
    assert.deepEqual((await shop.mutate(name, { id: supplierOrder.id })).userErrors, []);
  const { goodsReceipt } = await shop.mutate(
    "goodsReceiptCreate",
    {
      type: "Supplier",
      lineItems: [{ productId: shop.id[rope], quantity: 10, supplierOrderId: supplierOrder.id }],
    },
    { select: "goodsReceipt { id }" },
  );
  assert.deepEqual(await positions(), [[0, 30]]);
  assert.deepEqual((await shop.mutate("goodsReceiptApprove", { id: goodsReceipt.id })).userErrors, []);
  assert.deepEqual(await positions(), [[0, 30]]);
  assert.deepEqual((await shop.mutate("goodsReceiptComplete", { id: goodsReceipt.id })).userErrors, []);
  assert.deepEqual(await positions(), [[10, 20]]);
  assert.deepEqual((await shop.mutate("supplierOrderComplete", { id: supplierOrder.id })).userErrors, []);
  assert.deepEqual(await positions(), [[10, 0]]);
});

it("the default supplier is proposed, or else the fastest active one", async () => {
  const vise = await re.newProduct("vise", { reorder_point: 5 });
  const suppliers = async () =>
    (await re.of(vise)).map(({ supplier, currency, unitPrice, leadTimeDays }) => [
      ...[supplier?.number ?? null, currency?.isoCode ?? null, unitPrice, leadTimeDays],
    ]);
  assert.deepEqual(await suppliers(), [[null, null, null, null]]);
  await re.newSupplier("slow", { default_delivery_time_days: 20 });
  await re.newSupplier("quick", { default_delivery_time_days: 2 });
  await re.newSupplier("usual");
  await re.sell("slow", vise, { prices: { EUR: 1 } });
  assert.deepEqual(await suppliers(), [["slow", "EUR", "1", 20]]);
  await re.sell("quick", vise, { prices: { USD: 3 } });
  assert.deepEqual(await suppliers(), [["quick", "USD", "3", 2]]);
  await re.sell("yankee", vise, { days: 1, prices: { EUR: 2, USD: 2.5 } });
  assert.deepEqual(await suppliers(), [["yankee", "USD", "2.5", 1]]);
  await re.sell("usual", vise, { isDefault: true });
  assert.deepEqual(await suppliers(), [["usual", "EUR", null, null]]);
  await shop.sql("update erp.supplier set active = false where id = $1", shop.id.usual!);
  assert.deepEqual(await suppliers(), [["yankee", "USD", "2.5", 1]]);
});

it("lists have filters and pages, and the smallest part of a reorder point comes first", async () => {
  await re.newSupplier("pages");
  for (const [name, stock] of [
    ["p50", 5],
    ["p10", 1],
    ["p80", 8],
  ] as const) {
    await re.newProduct(name);
    await shop.store(name, "B-1", stock);
    await re.rule(name, "shed", { reorderPoint: 10 });
    await re.sell("pages", name);
  }
  const numbers = (list: Proposal[]) => list.map(({ product }) => product.productNumber);
  const mine = await re.proposals({ supplierId: shop.id.pages });
  assert.deepEqual(numbers(mine), ["p10", "p50", "p80"]);
  assert.deepEqual(numbers(await re.proposals({ supplierId: shop.id.pages }, 1)), ["p10", "p50", "p80"]);
  const shed = await re.proposals({ warehouseId: shop.id.shed });
  assert.ok(shed.length >= 3 && shed.every(({ warehouse }) => warehouse.code === "shed"));
  const both = { supplierId: shop.id.pages, warehouseId: shop.id.hall };
  assert.deepEqual(await re.proposals(both), []);
  const all = await re.proposals();
  assert.deepEqual(
    all.map(({ rank }) => rank),
    all.map((_, index) => index + 1),
  );
  assert.deepEqual(numbers(all.filter(({ supplier }) => supplier?.number === "pages")), numbers(mine));
});

it("parents of variants are not bought, and returns on their way are only told", async () => {
  await re.newProduct("shirt", { reorder_point: 5 });
  const red = await re.newProduct("shirt-red", { reorder_point: 5, parent_id: uuidOf(shop.id.shirt!) });
  assert.deepEqual(await inShort("shirt"), []);
  await shop.sql(
    `with made as (insert into erp.return_order (number, state) values ('R-1', 'approved'), ('R-2', 'closed') returning id)
     insert into erp.return_order_line_item (return_order_id, product_id, quantity) select id, $1, 3 from made`,
    shop.id[red]!,
  );
  const [{ position, returningQuantity }] = (await re.of(red)) as [Proposal];
  assert.deepEqual([position, returningQuantity], [0, 3]);
});

it("needs the scopes of supplier orders and of stock", async () => {
  const query = "{ reorderProposals { totalCount { count } edges { node { rank } } } }";
  for (const read of [["supplier_orders"], ["stocks"]]) {
    const { codes } = await shop.ask(await shop.token({ read }), { query });
    assert.deepEqual(codes, ["FORBIDDEN"], read[0]);
  }
  const { body } = await shop.ask(await shop.token({ read: ["supplier_orders", "stocks"] }), { query });
  assert.ok(body.data.reorderProposals.edges.length > 0);
});
