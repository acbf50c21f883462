import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { moveClock } from "../lib/clock.ts";
import { pickingIn } from "../lib/picking.ts";
import { assertProof } from "../lib/proof.ts";
import { reservingIn } from "../lib/reserving.ts";
import type { ReturnShop } from "../lib/return-shop.ts";
import { openReturnShop } from "../lib/return-shop.ts";
import { refusals } from "../lib/shop.ts";
import type { ShopOrder } from "../lib/shipping-shop.ts";

// Situations of orders, from the cart to the parcel that was lost
let shop: ReturnShop;
let picking: ReturnType<typeof pickingIn>;
let promises: ReturnType<typeof reservingIn>;
before(async () => {
  shop = await openReturnShop({ poolSize: 6 });
  picking = pickingIn(shop);
  promises = reservingIn(shop);
});
after(async () => {
  await assertProof(shop.owner);
  await shop.close();
});

const nodes = ({ edges }: any): any[] => edges.map(({ node }: any) => node);
/** Physical, reserved and available stock. */
const figures = async (product: string) => {
  const { product: found } = await shop.read(
    "query ($id: ID!) { product(id: $id) { physicalStock reservedStock availableStock } }",
    { id: shop.id[product] },
  );
  return Object.values(found);
};
/** A product of its own, with units in a bin. */
const stocked = async (product: string, quantity: number, place = "A-1") => {
  await shop.addProduct(product);
  if (quantity > 0) await shop.store(product, place, quantity);
};
const stateOf = async (order: ShopOrder) => {
  const { state, deliveryState } = await shop.stateOf(order);
  return [state, deliveryState];
};

describe("a customer who cancels while the goods are being picked", () => {
  it("gets nothing, and the units go back to their bin", async () => {
    await stocked("axe", 9);
    const order = await picking.order(["axe", 5]);
    const list = await picking.begin([order]);
    await picking.confirm(list.lines[0], { quantity: 2 });
    await shop.succeed("orderCancel", { id: order.id });
    assert.deepEqual(await stateOf(order), ["cancelled", "cancelled"]);
    assert.deepEqual(
      refusals(await picking.call("pickListLineConfirm", { id: list.lines[0].id, code: "axe" })),
      [["INVALID_STATE_TRANSITION", null]],
    );
    assert.deepEqual(await figures("axe"), [9, 0, 9]);
    const source = { stockContainerId: list.tasks[0].stockContainer.id };
    await shop.succeed("stockTransfer", {
      lines: [
        { productId: shop.id.axe, source, destination: { binLocationId: shop.id["A-1"] }, quantity: 2 },
      ],
    });
    assert.equal(await shop.stockAt("axe", "A-1"), 9);
  });
});

describe("a customer who cancels after the parcel left", () => {
  it("is refused with what to do: stop the parcel, or wait for its return", async () => {
    await stocked("bell", 5);
    const order = await picking.order(["bell", 2]);
    const { fulfillments } = await shop.ship(order);
    const refused = await shop.mutate("orderCancel", { id: order.id });
    assert.deepEqual(refusals(refused), [["INVALID_STATE_TRANSITION", null]]);
    assert.match(refused.userErrors[0].message, /fulfillmentCancel.*returnOrderCreate/);
    // The parcel is still in the house
    await shop.cancel(fulfillments[0].id);
    await shop.succeed("orderCancel", { id: order.id });
    assert.deepEqual(await stateOf(order), ["cancelled", "cancelled"]);
    assert.deepEqual(await figures("bell"), [5, 0, 5]);
    // The parcel is with the carrier
    const other = await shop.shipped([{ product: "bell", quantity: 2 }]);
    const made = await shop.request([[other.lines[0]!, 2]], { isApproved: true });
    const back = await shop.receive([{ line: made.lines[0]!, quantity: 2 }]);
    assert.equal(back.state, "received");
    assert.deepEqual(await stateOf(other), ["completed", "returned"]);
    assert.deepEqual(await figures("bell"), [5, 0, 5]);
  });
});

describe("a pick that finds too little, with nothing elsewhere", () => {
  it("ships what was found, and takes the rest off the order", async () => {
    await stocked("cork", 4);
    const order = await picking.order(["cork", 4]);
    const list = await picking.begin([order]);
    await picking.confirm(list.lines[0], { quantity: 3 });
    const short = await picking.done("pickListLineShort", { id: list.lines[0].id });
    assert.deepEqual([short.missingQuantity, short.replacements], [1, []]);
    await picking.done("pickListPack", { pickTaskId: list.tasks[0].id });
    await shop.succeed("stockSet", { lines: [shop.line("cork", "A-1", { quantity: 0 })] });
    const [assigned] = order.fulfillmentOrders;
    const fewer = { orders: [{ id: order.id, lineItems: [{ id: order.lines[0], quantity: 3 }] }] };
    assert.deepEqual(refusals(await shop.mutate("ordersUpsert", fewer)), [
      ["NOT_EDITABLE", "orders.0.lineItems.0.quantity"],
    ]);
    await shop.succeed("fulfillmentOrderCancel", { id: assigned!.id });
    await shop.succeed("ordersUpsert", fewer);
    assert.deepEqual(await stateOf(order), ["completed", "shipped"]);
    assert.deepEqual(await figures("cork"), [0, 0, 0]);
  });
});

describe("a scanner that dies in the middle of a list, which another person finishes", () => {
  it("repeats the last scan, and goes on where the list was left", async () => {
    await stocked("dish", 6);
    await stocked("egg", 6, "A-2");
    const order = await picking.order(["egg", 2], ["dish", 3]);
    const list = await picking.begin([order]);
    const scan = { id: list.lines[0].id, code: "egg", quantity: 2, idempotencyKey: "scan 1" };
    await picking.done("pickListLineConfirm", scan);
    // The scanner never learnt whether that arrived
    await picking.done("pickListLineConfirm", scan);
    const left = await picking.read(list.id);
    assert.deepEqual(picking.way(left), ["A-2 egg 2/2 picked", "A-1 dish 0/3 open"]);
    const other = await shop.token({ read: "all", write: ["pick_lists", "orders", "stocks"] });
    const rest = { id: list.lines[1].id, code: "dish", quantity: 3 };
    const { pickListLine } = await picking.call("pickListLineConfirm", rest, { token: other });
    assert.equal(pickListLine.state, "picked");
    const packed = await picking.call("pickListPack", { pickTaskId: list.tasks[0].id }, { token: other });
    assert.deepEqual([packed.userErrors, packed.pickTask.state], [[], "packed"]);
    assert.equal((await picking.read(list.id)).state, "completed");
    assert.deepEqual(await stateOf(order), ["completed", "shipped"]);
    assert.deepEqual(
      [await figures("egg"), await figures("dish")],
      [
        [4, 0, 4],
        [3, 0, 3],
      ],
    );
  });
});

describe("a parcel that the carrier loses", () => {
  it("is taken back in the books, written off, and sent again", async () => {
    await stocked("fork", 5);
    const order = await picking.order(["fork", 2]);
    const { fulfillments } = await shop.ship(order);
    const { stockMovements } = await shop.cancel(fulfillments[0].id);
    assert.equal(stockMovements.length, 1);
    assert.deepEqual(await stateOf(order), ["open", "open"]);
    await shop.succeed("stockAdjust", {
      lines: [shop.line("fork", "A-1", { delta: -2 })],
      reference: "lost by the carrier",
    });
    assert.deepEqual(await figures("fork"), [3, 2, 1]);
    assert.deepEqual((await shop.ship(order)).userErrors, []);
    assert.deepEqual(await stateOf(order), ["completed", "shipped"]);
    assert.deepEqual(await figures("fork"), [1, 0, 1]);
  });
});

describe("a program that lost the answer of a shipment", () => {
  it("repeats the call with its key, and ships once", async () => {
    await stocked("gear", 5);
    const order = await picking.order(["gear", 2]);
    const key = { idempotencyKey: "parcel of gears" };
    const first = await shop.ship(order, key);
    const again = await shop.ship(order, key);
    assert.deepEqual(again.fulfillments, first.fulfillments);
    assert.deepEqual(refusals(await shop.ship(order, { ...key, comment: "other" })), [
      ["IDEMPOTENCY_KEY_MISMATCH", "idempotencyKey"],
    ]);
    assert.deepEqual(refusals(await shop.ship(order)), [["INVALID_STATE_TRANSITION", null]]);
    assert.deepEqual(await figures("gear"), [3, 0, 3]);
  });
});

describe("two storefronts that sell the last unit at once", () => {
  it("give it to one of them; the other learns what is left", async () => {
    await stocked("horn", 1);
    const calls = ["web", "till"].map((reference) =>
      promises.tryReserve([["horn", "hall", 1]], { reference }),
    );
    const answers = await Promise.all(calls);
    const refused = answers.filter(({ userErrors }) => userErrors.length > 0);
    assert.equal(refused.length, 1);
    assert.deepEqual(refusals(refused[0]), [["INSUFFICIENT_STOCK", "lines.0.quantity"]]);
    assert.equal(refused[0].userErrors[0].details.available, 0);
    assert.deepEqual(await figures("horn"), [1, 1, 0]);
  });
});

describe("a cart that is abandoned with a promise", () => {
  after(() => moveClock(shop.owner, "0"));

  it("gives its units to the next customer when its time is over, or when the shop releases them", async () => {
    await stocked("iron", 3);
    const expiresAt = new Date(Date.now() + 1_800_000).toISOString();
    const cart = await promises.tryReserve([["iron", "hall", 2]], { expiresAt, reference: "cart 1" });
    assert.deepEqual(cart.userErrors, []);
    const other = await promises.reserve("iron", "hall", 1);
    const next = () => promises.tryReserve([["iron", "hall", 2]], { reference: "cart 2" });
    assert.deepEqual(refusals(await next()), [["INSUFFICIENT_STOCK", "lines.0.quantity"]]);
    assert.deepEqual((await promises.release({ id: other })).userErrors, []);
    await moveClock(shop.owner, "1 hour");
    assert.deepEqual((await next()).userErrors, []);
    assert.deepEqual(await promises.kept(cart.stockReservations[0].id), ["0 expired"]);
    assert.deepEqual(await figures("iron"), [3, 2, 1]);
  });
});

describe("a product that is sold before it arrives, and arrives in two parts", () => {
  it("is shipped in two parts, as it comes", async () => {
    const row = { productNumber: "jar", allowsBackorders: true };
    const { products } = await shop.succeed("productsUpsert", { products: [row] }, "products { id }");
    shop.id.jar = products[0].id;
    const order = await picking.order(["jar", 5]);
    const { supplierOrder } = await shop.succeed(
      "supplierOrderCreate",
      { supplierId: shop.id.acme, lineItems: [{ productId: shop.id.jar, quantity: 5, unitPrice: 2 }] },
      "supplierOrder { id lineItems { edges { node { id } } } }",
    );
    await shop.succeed("supplierOrderConfirm", { id: supplierOrder.id });
    const [line] = nodes(supplierOrder.lineItems);
    const arrive = async (quantity: number) => {
      const lineItems = [{ productId: shop.id.jar, quantity, supplierOrderLineItemId: line.id }];
      const { goodsReceipt } = await shop.succeed(
        "goodsReceiptCreate",
        { warehouseId: shop.id.hall, lineItems },
        "goodsReceipt { id }",
      );
      await shop.succeed("goodsReceiptApprove", { id: goodsReceipt.id });
      await shop.succeed("goodsReceiptComplete", { id: goodsReceipt.id });
    };
    assert.deepEqual(await figures("jar"), [0, 5, -5]);
    assert.deepEqual(refusals(await shop.ship(order)), [["INSUFFICIENT_STOCK", "orderId"]]);
    const [assigned] = order.fulfillmentOrders;
    const parcel = (quantity: number) =>
      shop.fulfill(assigned!, {
        lines: [{ fulfillmentOrderLineItemId: assigned!.lines[0], quantity }],
      });
    await arrive(2);
    assert.deepEqual((await parcel(2)).userErrors, []);
    assert.deepEqual(await stateOf(order), ["in_progress", "shipped_partially"]);
    await arrive(3);
    assert.deepEqual((await parcel(3)).userErrors, []);
    assert.deepEqual(await stateOf(order), ["completed", "shipped"]);
    assert.deepEqual(await figures("jar"), [0, 0, 0]);
  });
});

describe("an order that two programs change at once", () => {
  it("keeps what each of them wrote", async () => {
    await stocked("key", 5);
    const order = await picking.order(["key", 1]);
    const change = (rest: object) => shop.succeed("ordersUpsert", { orders: [{ id: order.id, ...rest }] });
    await Promise.all([
      change({ purchaseOrderNumber: "PO 1" }),
      change({ paymentState: "paid" }),
      change({ lineItems: [{ id: order.lines[0], quantity: 3 }] }),
    ]);
    const { order: now } = await shop.read(
      "query ($id: ID!) { order(id: $id) { purchaseOrderNumber paymentState lineItems { edges { node { quantity } } } } }",
      { id: order.id },
    );
    assert.deepEqual(
      [now.purchaseOrderNumber, now.paymentState, nodes(now.lineItems)],
      ["PO 1", "paid", [{ quantity: 3 }]],
    );
    assert.deepEqual(await figures("key"), [5, 3, 2]);
  });
});

describe("an order whose product was deleted", () => {
  it("keeps its line; another product takes its place and is shipped", async () => {
    await stocked("lamp", 0);
    await stocked("lamp 2", 4);
    const order = await shop.order([{ product: "lamp", quantity: 2, price: 5 }]);
    await shop.sql("delete from erp.product where id = $1", shop.id.lamp!);
    const { orderLineItem } = await shop.read(
      "query ($id: ID!) { orderLineItem(id: $id) { label quantity product { id } } }",
      { id: order.lines[0] },
    );
    assert.deepEqual(orderLineItem, { label: "lamp", quantity: 2, product: null });
    await shop.succeed("ordersUpsert", {
      orders: [{ id: order.id, lineItems: [{ id: order.lines[0], productNumber: "lamp 2" }] }],
    });
    assert.deepEqual(await figures("lamp 2"), [4, 2, 2]);
    assert.deepEqual((await shop.ship(order)).userErrors, []);
    assert.deepEqual(await stateOf(order), ["completed", "shipped"]);
    assert.deepEqual(await figures("lamp 2"), [2, 0, 2]);
  });
});
