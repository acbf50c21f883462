import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { moveClock } from "../lib/clock.ts";
import { Random } from "../lib/random.ts";
import { reorderingIn } from "../lib/reordering.ts";
import { seed } from "../lib/seed.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";
import { propose, World } from "./reorder-model.ts";
import type { Terms } from "./reorder-model.ts";

// A random shop, made over HTTP and by SQL. The model has its orders, promises, stock and shipments as the test made them, and
// none of the service's figures. It proposes what the guide says; the service must propose the same.

let shop: ShippingShop;
let re: ReturnType<typeof reorderingIn>;
before(async () => {
  shop = await openShippingShop({ poolSize: 10 });
  re = reorderingIn(shop);
});
after(async () => {
  await assertLedgerIsRight(shop);
  await shop.close();
});

const random = new Random(seed);
const warehouses = ["hall", "shed", "returns"];
const bins: Record<string, string> = { hall: "A-1", shed: "B-1", returns: "R-1" };
const suppliers = ["acme", "forge", "yankee"];
const maybe = <T>(chance: number, work: () => T): T | undefined =>
  random.next() < chance ? work() : undefined;
const succeed = async (name: string, input: object, select = "warnings { code }"): Promise<any> => {
  const payload = await shop.mutate(name, input, { select });
  assert.deepEqual(payload.userErrors, [], `seed ${seed}`);
  return payload;
};

/** Makes a product with random stock, promises, orders and rules, and tells the model. */
async function play(product: string, world: World): Promise<void> {
  const reorderPoint = maybe(0.6, () => random.below(30)) ?? null;
  const target = maybe(0.4, () => random.below(60)) ?? null;
  await re.newProduct(product, { reorder_point: reorderPoint, target_maximum_quantity: target });
  const facts = world.product(product, { reorderPoint, target });
  for (const supplier of suppliers)
    if (random.next() < 0.5) {
      const terms: Terms = {
        ...{ supplier, min: 1 + random.below(9), steps: 1 + random.below(6) },
        days: maybe(0.7, () => random.below(40)) ?? null,
        isDefault: facts.terms.length === 0 && random.next() < 0.5,
      };
      await re.sell(supplier, product, terms);
      facts.terms.push(terms);
    }
  for (const warehouse of warehouses) {
    if (random.next() < 0.4) {
      const rule = {
        reorderPoint: maybe(0.6, () => random.below(30)) ?? 0,
        target: maybe(0.3, () => random.below(60)) ?? null,
        safetyStock: maybe(0.4, () => random.below(6)) ?? 0,
      };
      await re.rule(product, warehouse, {
        ...{ reorderPoint: rule.reorderPoint, targetMaximumQuantity: rule.target },
        safetyStock: rule.safetyStock,
      });
      facts.rules.set(warehouse, rule);
    }
    const there = maybe(0.8, () => 1 + random.below(40)) ?? 0;
    if (there > 0) await shop.store(product, bins[warehouse]!, there);
    facts.stock.set(warehouse, there);
  }
  // Units are damaged, and no longer sellable
  const hurt = Math.min(random.below(5), facts.stock.get("hall")!);
  if (hurt > 0) {
    await succeed(
      "stockTransfer",
      {
        lines: [shop.move(product, "A-1", "C-1", { quantity: hurt })],
      },
      "stocks { id }",
    );
    facts.held.set("hall", hurt);
  }
}

/** Orders of a product: shipped, to be shipped by a warehouse or another company, reserved, or waiting. */
async function sellSome(product: string, world: World, daysAgo: number): Promise<void> {
  const facts = world.product(product);
  for (let nth = random.below(3); nth > 0; nth--) {
    const warehouse = random.oneOf(warehouses);
    const quantity = 1 + random.below(8);
    const free = facts.stock.get(warehouse)! - (facts.held.get(warehouse) ?? 0) - facts.promisedAt(warehouse);
    const fate = random.oneOf(["ship", "assign", "external", "reserve", "wait", "cancel"]);
    const part = Math.min(quantity, 1 + random.below(8));
    if (fate === "ship" && free >= quantity) {
      const order = await shop.order(
        [{ product, quantity }],
        [{ location: warehouse, lines: [[0, quantity]] }],
      );
      const { userErrors, fulfillments } = await shop.ship(order);
      assert.deepEqual(userErrors, []);
      facts.stock.set(warehouse, facts.stock.get(warehouse)! - quantity);
      const isTakenBack = random.next() < 0.2;
      if (isTakenBack) {
        assert.deepEqual((await shop.cancel(fulfillments[0].id)).userErrors, []);
        await shop.sql(
          "update erp.fulfillment_order set state = 'Cancelled' where destination_order_id = $1",
          order.id,
        );
        await shop.sql("update erp.sales_order set state = 'cancelled' where id = $1", order.id);
        facts.stock.set(warehouse, facts.stock.get(warehouse)! + quantity);
      } else facts.shipped.push({ warehouse, quantity, daysAgo });
    } else if (fate === "assign" || fate === "external") {
      const isExternal = fate === "external";
      await shop.order(
        [{ product, quantity }],
        [
          isExternal
            ? { type: "ExternalToOrder", location: null, lines: [[0, part]] }
            : { location: warehouse, lines: [[0, part]], state: random.oneOf(["Open", "OnHold"]) },
        ],
      );
      facts.promises.push({ units: quantity, assigned: part, warehouse: isExternal ? null : warehouse });
    } else if (
      fate === "reserve" &&
      free - facts.keptBackAt(warehouse) >= quantity &&
      warehouse !== "returns"
    ) {
      const isOfOrder = random.next() < 0.5;
      const [line] = isOfOrder ? (await shop.order([{ product, quantity: quantity + 2 }])).lines : [];
      const place = { warehouseId: shop.id[warehouse] };
      const payload = await shop.mutate(
        "stockReserve",
        { lines: [{ productId: shop.id[product], place, quantity, orderLineItemId: line }] },
        { select: "warnings { code }" },
      );
      const isDone = payload.userErrors.length === 0;
      if (isOfOrder) facts.promises.push({ units: quantity + 2, assigned: isDone ? quantity : 0, warehouse });
      else if (isDone) facts.promises.push({ units: quantity, assigned: quantity, warehouse });
    } else if (fate === "wait") {
      await shop.order([{ product, quantity }]);
      facts.promises.push({ units: quantity, assigned: 0, warehouse });
    } else if (fate === "cancel") await shop.order([{ product, quantity }], [], { state: "cancelled" });
  }
}

/** Supplier orders of a product, in all states, and parts of them that have arrived. */
async function buySome(product: string, world: World): Promise<void> {
  const facts = world.product(product);
  for (let nth = random.below(3); nth > 0; nth--) {
    const warehouse = random.oneOf(warehouses);
    const quantity = 1 + random.below(20);
    const { supplierOrder } = await succeed(
      "supplierOrderCreate",
      {
        ...{ supplierId: shop.id[random.oneOf(suppliers)], warehouseId: shop.id[warehouse] },
        lineItems: [{ productId: shop.id[product], quantity }],
      },
      "supplierOrder { id }",
    );
    const fate = random.oneOf(["open", "sent", "arriving", "arrived", "cancelled", "nowhere"]);
    if (fate !== "open") await succeed("supplierOrderSend", { id: supplierOrder.id });
    if (fate === "cancelled") await succeed("supplierOrderCancel", { id: supplierOrder.id });
    if (fate === "nowhere")
      await shop.sql("update erp.supplier_order set warehouse_id = null where id = $1", supplierOrder.id);
    const part = Math.min(quantity, 1 + random.below(20));
    if (fate.startsWith("arriv")) {
      const { goodsReceipt } = await succeed(
        "goodsReceiptCreate",
        {
          ...{ type: "Supplier", warehouseId: shop.id[warehouse] },
          lineItems: [{ productId: shop.id[product], quantity: part, supplierOrderId: supplierOrder.id }],
        },
        "goodsReceipt { id }",
      );
      await succeed("goodsReceiptApprove", { id: goodsReceipt.id });
      if (fate === "arrived") await succeed("goodsReceiptComplete", { id: goodsReceipt.id });
    }
    if (fate === "arrived") facts.stock.set(warehouse, facts.stock.get(warehouse)! + part);
    if (fate !== "cancelled")
      facts.onOrder.push({
        warehouse: fate === "nowhere" ? null : warehouse,
        quantity: fate === "arrived" ? quantity - part : quantity,
      });
  }
}

test("the service proposes what the guide says, for random shops", async () => {
  await shop.sql("update erp.bin_location set stock_state = 'damaged' where code = 'C-1'");
  await shop.sql("update erp.supplier set default_delivery_time_days = 12 where number = 'forge'");
  const world = new World({
    ...{ selling: ["hall", "shed"], shipping: "hall", receiving: "hall" },
    suppliers: new Map([
      ["forge", 12],
      ["yankee", null],
    ]),
  });
  const names = Array.from({ length: Number(process.env.PRODUCTS ?? 25) }, (_, nth) => `product-${nth}`);
  await moveClock(shop.owner, "-130 days");
  for (const name of names) await play(name, world);
  for (const daysAgo of [119, 90, 89, 30, 29, 0]) {
    await moveClock(shop.owner, daysAgo === 0 ? "0" : `-${daysAgo} days`);
    for (const name of names) await sellSome(name, world, daysAgo);
  }
  for (const name of names) await buySome(name, world);
  // The shop ordered from acme until now
  await shop.sql("update erp.supplier set active = number <> 'acme'");
  let count = 0;
  for (const days of [90, 30]) {
    const expected = propose(world, days);
    const found = (await re.proposals({ days })).filter(({ product }) =>
      product.productNumber.startsWith("product-"),
    );
    assert.deepEqual(
      found
        .map((proposal) => ({
          ...{ product: proposal.product.productNumber, warehouse: proposal.warehouse.code },
          ...{ reason: proposal.reason, quantity: proposal.quantity, position: proposal.position },
          ...{ stock: proposal.stock, held: proposal.heldQuantity, promised: proposal.promisedQuantity },
          ...{ safety: proposal.safetyStock, onOrder: proposal.onOrderQuantity, fillUpTo: proposal.fillUpTo },
          ...{ supplier: proposal.supplier?.number ?? null, shipped: proposal.shippedQuantity },
          ...{ runsOutOn: proposal.runsOutOn, orderUntil: proposal.orderUntil },
        }))
        .toSorted((a, b) => (a.product + a.warehouse < b.product + b.warehouse ? -1 : 1)),
      expected,
      `seed ${seed}, ${days} days`,
    );
    count += found.length;
  }
  assert.ok(count > names.length / 2, `${count} proposals`);
  // What was ordered isn't proposed again
  const all = (await re.proposals()).filter(({ supplier }) => supplier !== null);
  const lines = all.map((one) => ({
    ...{ productId: one.productId, warehouseId: shop.id[one.warehouse.code], quantity: one.quantity },
    onOrderQuantity: one.onOrderQuantity,
  }));
  for (let begin = 0; begin < lines.length; begin += 250)
    assert.deepEqual((await re.order(lines.slice(begin, begin + 250))).userErrors, []);
  const left = (await re.proposals()).filter(({ supplier }) => supplier !== null);
  assert.deepEqual(left, []);
});
