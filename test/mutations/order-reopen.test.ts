import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertProof } from "../lib/proof.ts";
import { missingId } from "../lib/ids.ts";
import { refusals } from "../lib/shop.ts";
import type { ShippingShop, ShopOrder } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
  await shop.store("hammer", "A-1", 100);
  await shop.store("nail", "A-1", 100);
});
after(() => shop.close());

const reopen = (order: { id: string }, rest: object = {}) =>
  shop.mutate("orderReopen", { id: order.id, ...rest }, { select: "order { state deliveryState }" });
const cancel = async (order: { id: string }) =>
  assert.deepEqual((await shop.mutate("orderCancel", { id: order.id })).userErrors, []);
const reserved = async (product: string): Promise<number> => {
  const { product: found } = await shop.read("query ($id: ID!) { product(id: $id) { reservedStock } }", {
    id: shop.id[product],
  });
  return found.reservedStock;
};
const stateOf = async (order: ShopOrder) => {
  const { state, deliveryState, shipped } = await shop.stateOf(order);
  return [state, deliveryState, ...shipped];
};

describe("orderReopen", () => {
  it("reserves a cancelled order again, which its warehouse then ships", async () => {
    const before = await reserved("hammer");
    const order = await shop.order([{ product: "hammer", quantity: 2 }], [{ lines: [[0, 2]] }]);
    await cancel(order);
    assert.equal(await reserved("hammer"), before);
    const tried = await reopen(order, { validateOnly: true });
    assert.deepEqual([tried.userErrors, await stateOf(order)], [[], ["cancelled", "cancelled", 0]]);
    const answer = await reopen(order);
    assert.deepEqual(answer, { order: { state: "open", deliveryState: "open" }, userErrors: [] });
    assert.equal(await reserved("hammer"), before + 2);
    await assertProof(shop.owner);
    const { userErrors } = await shop.ship(order);
    assert.deepEqual([userErrors, await stateOf(order)], [[], ["completed", "shipped", 2]]);
    assert.equal(await reserved("hammer"), before);
  });

  it("lets a fulfillment order that was cancelled alone stay refused", async () => {
    const order = await shop.order([{ product: "hammer", quantity: 1 }], [{ lines: [[0, 1]] }]);
    const { userErrors } = await shop.mutate("fulfillmentOrderCancel", {
      id: order.fulfillmentOrders[0]!.id,
    });
    assert.deepEqual(userErrors, []);
    await cancel(order);
    await reopen(order);
    assert.deepEqual(refusals(await shop.ship(order)), [["INSUFFICIENT_STOCK", "orderId"]]);
  });

  it("opens a completed order, to which a line is added and shipped", async () => {
    const order = await shop.order([{ product: "hammer", quantity: 1 }], [{ lines: [[0, 1]] }]);
    await shop.ship(order);
    const more = (quantity: number) => ({
      orders: [
        {
          id: order.id,
          lineItems: [
            { id: order.lines[0], quantity: 1 },
            { productId: shop.id.nail, quantity, label: "Nails", unitPrice: 1 },
          ],
        },
      ],
    });
    const errors = async (quantity: number) => (await shop.mutate("ordersUpsert", more(quantity))).userErrors;
    assert.equal((await errors(3))[0].code, "NOT_EDITABLE");
    assert.deepEqual((await reopen(order)).order, {
      state: "in_progress",
      deliveryState: "shipped_partially",
    });
    assert.deepEqual(await errors(3), []);
    assert.deepEqual(await stateOf(order), ["in_progress", "shipped_partially", 1, 0]);
    await shop.ship(order);
    assert.deepEqual(await stateOf(order), ["completed", "shipped", 1, 3]);
    await assertProof(shop.owner);
  });

  it("completes a reopened order again when nothing is added", async () => {
    const order = await shop.order([{ product: "hammer", quantity: 1 }], [{ lines: [[0, 1]] }]);
    await shop.ship(order);
    await reopen(order);
    const same = { orders: [{ id: order.id, lineItems: [{ id: order.lines[0], quantity: 1 }] }] };
    assert.deepEqual((await shop.mutate("ordersUpsert", same)).userErrors, []);
    assert.deepEqual(await stateOf(order), ["completed", "shipped", 1]);
  });

  it("says what an open order and a missing one allow", async () => {
    const order = await shop.order([{ product: "hammer", quantity: 1 }]);
    const { userErrors } = await shop.mutate("orderReopen", { id: order.id });
    assert.deepEqual(
      [userErrors[0].code, userErrors[0].details],
      ["INVALID_STATE_TRANSITION", { state: "open", allowedActions: ["cancel", "process"] }],
    );
    const { userErrors: none } = await shop.mutate("orderReopen", { id: missingId("Order") });
    assert.deepEqual([none[0].code, none[0].field], ["NOT_FOUND", ["id"]]);
    const token = await shop.token({ read: "all", write: ["products"] });
    assert.deepEqual((await shop.tryMutate("orderReopen", { id: order.id }, { token })).codes, ["FORBIDDEN"]);
  });

  it("is told as a change of the state, once", async () => {
    const order = await shop.order([{ product: "hammer", quantity: 1 }]);
    await cancel(order);
    const [{ count: before }] = await shop.sql(
      "select count(*)::int from events.outbox where topic = 'order.state_changed'",
    );
    await Promise.all([reopen(order), reopen(order)]);
    const [{ count: after }] = await shop.sql(
      "select count(*)::int from events.outbox where topic = 'order.state_changed'",
    );
    assert.equal(after - before, 1);
  });
});
