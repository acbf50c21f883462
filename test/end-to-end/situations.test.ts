import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertProof } from "../lib/proof.ts";
import { refusals } from "../lib/shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

// Situations of a merchant's day that need several calls, and where they end
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
});
after(async () => {
  await assertProof(shop.owner);
  await shop.close();
});

const figures = async (product: string) => {
  const { product: found } = await shop.read(
    `query ($id: ID!) { product(id: $id) { physicalStock stockNotAvailableForSale reservedStock availableStock } }`,
    { id: shop.id[product] },
  );
  return Object.values(found);
};

describe("a product that becomes variants while it is in stock and on order", () => {
  it("passes its units and its open order line on to a variant", async () => {
    await shop.store("hammer", "A-1", 10);
    const order = await shop.order([{ product: "hammer", quantity: 2 }]);
    const variant = { productNumber: "hammer-red", name: "Hammer, red", parentProductNumber: "hammer" };
    const made = await shop.succeed(
      "productsUpsert",
      { products: [variant] },
      "products { id } warnings { code }",
    );
    assert.deepEqual(
      made.warnings.map(({ code }: any) => code),
      ["PRODUCT_HAS_VARIANTS"],
    );
    shop.id.red = made.products[0].id;

    // The parent takes no more units, and says so
    const more = { lines: [shop.line("hammer", "A-1", { delta: 1 })] };
    assert.deepEqual(refusals(await shop.mutate("stockAdjust", more)), [
      ["PRODUCT_HAS_VARIANTS", "lines.0.productId"],
    ]);

    await shop.succeed("stockSet", {
      lines: [
        shop.line("hammer", "A-1", { quantity: 0, expectedQuantity: 10 }),
        shop.line("red", "A-1", { quantity: 10, expectedQuantity: 0 }),
      ],
      reference: "becomes a variant",
    });
    await shop.succeed("ordersUpsert", {
      orders: [{ id: order.id, lineItems: [{ id: order.lines[0], productId: shop.id.red, quantity: 2 }] }],
    });
    assert.deepEqual(await figures("hammer"), [0, 0, 0, 0]);
    assert.deepEqual(await figures("red"), [10, 0, 2, 8]);
    await shop.ship(order);
    assert.deepEqual(await figures("red"), [8, 0, 0, 8]);
  });
});

describe("goods on their way between two warehouses", () => {
  it("are counted, aren't for sale, and arrive in parts; what is lost is written off", async () => {
    await shop.store("nail", "A-1", 10);
    const { warehouse } = await shop.succeed(
      "warehouseCreate",
      { code: "transit", name: "In transit", isStockAvailableForSale: false },
      "warehouse { id }",
    );
    shop.id.transit = warehouse.id;
    const move = (source: string, destination: string, quantity: number, place = {}) =>
      shop.mutate("stockTransfer", {
        lines: [shop.move("nail", source, destination, { quantity, ...place })],
        reference: "TR-1",
      });
    assert.deepEqual((await move("A-1", "transit", 6)).userErrors, []);
    assert.deepEqual(await figures("nail"), [10, 6, 0, 4]);
    // Nobody sells what is on its way
    const order = await shop.order([{ product: "nail", quantity: 5 }]);
    assert.deepEqual(refusals(await shop.ship(order)), [["INSUFFICIENT_STOCK", "orderId"]]);
    assert.deepEqual((await move("transit", "B-1", 4)).userErrors, []);
    assert.deepEqual(await figures("nail"), [10, 2, 5, 3]);
    const lost = { lines: [shop.line("nail", "transit", { delta: -2 })], reference: "TR-1" };
    assert.deepEqual((await shop.mutate("stockAdjust", lost)).userErrors, []);
    assert.deepEqual(await figures("nail"), [8, 0, 5, 3]);
    assert.deepEqual(refusals(await move("transit", "B-1", 1)), [["INSUFFICIENT_STOCK", "lines.0.quantity"]]);
  });
});

describe("an order that changes after a part was shipped", () => {
  it("grows and shrinks down to what is shipped or assigned", async () => {
    await shop.store("glue", "A-1", 10, "G1");
    const order = await shop.order([{ product: "glue", quantity: 4 }], [{ lines: [[0, 4]] }]);
    const [assigned] = order.fulfillmentOrders;
    await shop.fulfill(assigned!, {
      lines: [{ fulfillmentOrderLineItemId: assigned!.lines[0], quantity: 1 }],
    });
    const change = (quantity: number) =>
      shop.mutate("ordersUpsert", {
        orders: [{ id: order.id, lineItems: [{ id: order.lines[0], quantity }] }],
      });
    assert.deepEqual((await change(6)).userErrors, []);
    assert.deepEqual(
      (await change(2)).userErrors.map(({ code, details }: any) => [code, details]),
      [["NOT_EDITABLE", { shipped: 1, assigned: 3 }]],
    );
    assert.deepEqual(refusals(await shop.mutate("orderCancel", { id: order.id })), [["NOT_EDITABLE", "id"]]);
    await shop.succeed("fulfillmentOrderCancel", { id: assigned!.id });
    assert.deepEqual((await change(2)).userErrors, []);
    assert.deepEqual((await change(1)).userErrors, []);
    const { state, deliveryState, shipped } = await shop.stateOf(order);
    assert.deepEqual([state, deliveryState, shipped], ["completed", "shipped", [1]]);
  });
});

describe("an order whose goods lie half in one warehouse and half in another", () => {
  const rules = (...kinds: string[]) => shop.succeed("sourcingRulesSet", { rules: kinds });
  after(() => rules());

  it("is refused by the default warehouse, ships from both by a rule, and is planned without shipping", async () => {
    const { products } = await shop.succeed(
      "productsUpsert",
      { products: [{ productNumber: "saw" }] },
      "products { id }",
    );
    shop.id.saw = products[0].id;
    await shop.store("saw", "A-1", 2);
    await shop.store("saw", "B-1", 2);
    const order = await shop.order([{ product: "saw", quantity: 3 }]);
    assert.deepEqual(refusals(await shop.ship(order)), [["INSUFFICIENT_STOCK", "orderId"]]);
    await rules("do_not_split");
    assert.deepEqual(refusals(await shop.ship(order)), [["INSUFFICIENT_STOCK", "orderId"]]);
    await rules("split_least");
    const planned = await shop.succeed(
      "fulfillmentOrderCreate",
      { orderId: order.id },
      "fulfillmentOrders { sourceWarehouseLocation { warehouse { code } } lineItems { edges { node { quantity } } } }",
    );
    assert.deepEqual(
      planned.fulfillmentOrders.map((made: any) => [
        made.sourceWarehouseLocation.warehouse.code,
        made.lineItems.edges.map(({ node }: any) => node.quantity),
      ]),
      [
        ["hall", [2]],
        ["shed", [1]],
      ],
    );
    assert.deepEqual(await figures("saw"), [4, 0, 3, 1]);
    const shipped = await shop.ship(order);
    assert.deepEqual(
      shop.moves(shipped).map(([quantity, source]) => [quantity, source]),
      [
        [2, "A-1"],
        [1, "B-1"],
      ],
    );
    assert.deepEqual(await figures("saw"), [1, 0, 0, 1]);
  });
});
