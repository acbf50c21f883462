import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { temporaryFolder } from "../commands/process.ts";
import type { TestJobRunner } from "../jobs/support.ts";
import { answering, openLabelShop } from "../labels/support.ts";
import type { LabelShop } from "../labels/support.ts";
import { uuidOf } from "../lib/ids.ts";
import { assertProof } from "../lib/proof.ts";
import { refusals } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

// Situations of parcels on their way out: addresses and labels
let shop: LabelShop;
let worker: TestJobRunner;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
before(async () => {
  folder = await temporaryFolder();
  shop = await openLabelShop(join(folder.path, "labels.jsonl"));
  await shop.store("hammer", "A-1", 20);
  worker = shop.work();
});
after(async () => {
  await worker.stop();
  await assertProof(shop.owner);
  await shop.close();
  await folder.remove();
});

const address = {
  ...{ firstName: "Anna", lastName: "Becker", street: "Hafenweg 30", zipcode: "20457", city: "Hamburg" },
  countryIso: "DE",
};
/** An order with a fulfillment order, which has the wrong address. */
const planned = async () => {
  const { orders } = await shop.succeed(
    "ordersUpsert",
    {
      orders: [
        {
          ...{ currencyIsoCode: "EUR", orderNumber: `P-${++orderNumber}` },
          shippingAddress: { ...address, street: "Hafenweg 3" },
          lineItems: [{ productNumber: "hammer", quantity: 2 }],
        },
      ],
    },
    "orders { id }",
  );
  const order = orders[0].id;
  return { order, fulfillmentOrder: await plan(order) };
};
let orderNumber = 0;
const plan = async (order: string): Promise<string> => {
  const { fulfillmentOrders } = await shop.succeed(
    "fulfillmentOrderCreate",
    { orderId: order, warehouseId: shop.id.hall },
    "fulfillmentOrders { id }",
  );
  return fulfillmentOrders[0].id;
};
const streetOf = async (fulfillmentOrder: string) =>
  (
    await shop.read("query ($id: ID!) { fulfillmentOrder(id: $id) { shippingAddress } }", {
      id: fulfillmentOrder,
    })
  ).fulfillmentOrder.shippingAddress?.street;
/** Gives an order another address, and plans it again. */
const readdress = async (order: string, former: string, labels: string[] = []) => {
  const input = { orders: [{ id: order, shippingAddress: address }] };
  const select = "orders { id } warnings { code field details }";
  const { userErrors, warnings } = await shop.mutate("ordersUpsert", input, { select });
  assert.deepEqual(userErrors, []);
  const details = { fulfillmentOrderIds: [former], shippingLabelIds: labels };
  const field = ["orders", "0", "shippingAddress"];
  assert.deepEqual(warnings, [{ code: "OLD_ADDRESS_KEPT", field, details }]);
  assert.equal(await streetOf(former), "Hafenweg 3");
  await shop.succeed("fulfillmentOrderCancel", { id: former });
  return plan(order);
};

describe("an address that the carrier refuses", () => {
  it("is corrected, and the parcel gets a label with the new one", async () => {
    const { order, fulfillmentOrder } = await planned();
    shop.carrier.faults.push(answering(422, '{"error":"The street has no number 3."}'));
    const [refused] = await shop.request({ fulfillmentOrderId: fulfillmentOrder });
    const { failure } = await shop.becomes(refused!, "failed");
    assert.match(failure, /no number 3/);
    const next = await readdress(order, fulfillmentOrder);
    // The refused label would go to the former address
    const retried = await shop.mutate("shippingLabelRetry", { id: refused });
    assert.deepEqual(refusals(retried), [["NOT_EDITABLE", "id"]]);
    assert.match(retried.userErrors[0].message, /Request a label for another fulfillment order/);
    const [label] = await shop.request({ fulfillmentOrderId: next });
    const { trackingCodes } = await shop.becomes(label!, "created");
    assert.equal(shop.carrier.labels.get(uuidOf(label!))!.request!.recipient!.street, "Hafenweg 30");
    assert.deepEqual((await shop.fulfill({ id: next })).userErrors, []);
    assert.deepEqual(await shop.trackingCodes(order), trackingCodes);
    const { state } = await shop.stateOf({ id: order, lines: [], fulfillmentOrders: [] });
    assert.equal(state, "completed");
  });
});

describe("an address that changes after the fulfillment order was planned", () => {
  it("stays on the fulfillment order, and is on the next one", async () => {
    const { order, fulfillmentOrder } = await planned();
    await shop.succeed("fulfillmentOrderHold", { id: fulfillmentOrder, comment: "address" });
    const stopped = await shop.fulfill({ id: fulfillmentOrder });
    assert.deepEqual(refusals(stopped), [["ON_HOLD", "fulfillmentOrderId"]]);
    const next = await readdress(order, fulfillmentOrder);
    assert.equal(await streetOf(next), "Hafenweg 30");
    assert.deepEqual((await shop.fulfill({ id: next })).userErrors, []);
    const { state, fulfillmentOrders } = await shop.stateOf({ id: order, lines: [], fulfillmentOrders: [] });
    assert.deepEqual([state, fulfillmentOrders.map(([one]) => one)], ["completed", ["Cancelled", "Closed"]]);
  });

  it("is on no label that was printed before, which the caller is told", async () => {
    const { order, fulfillmentOrder } = await planned();
    const [printed] = await shop.request({ fulfillmentOrderId: fulfillmentOrder });
    await shop.becomes(printed!, "created");
    // Labels of returns have nothing to do with it
    const [back] = await shop.request({ orderId: order, type: "return" });
    await shop.becomes(back!, "created");
    await readdress(order, fulfillmentOrder, [printed!]);
  });

  it("warns of nothing that follows it, or has left", async () => {
    const warnings = async (row: object) => {
      const payload = await shop.mutate(
        "ordersUpsert",
        { orders: [row] },
        { select: "orders { id } warnings { code details }" },
      );
      assert.deepEqual(payload.userErrors, []);
      return payload.warnings;
    };
    const { order, fulfillmentOrder } = await planned();
    const former = { ...address, street: "Hafenweg 3" };
    assert.deepEqual(await warnings({ id: order, paymentState: "paid" }), []);
    assert.deepEqual(await warnings({ id: order, shippingAddress: former }), [], "no change");
    assert.deepEqual(await warnings({ id: order, billingAddress: address }), []);
    // An order without fulfillment orders whose label is requested is labelled with the new address
    await shop.succeed("fulfillmentOrderCancel", { id: fulfillmentOrder });
    assert.deepEqual(await warnings({ id: order, shippingAddress: address }), []);
    const [label] = await shop.request({ orderId: order });
    await shop.becomes(label!, "created");
    assert.deepEqual(await warnings({ id: order, shippingAddress: former }), [
      { code: "OLD_ADDRESS_KEPT", details: { fulfillmentOrderIds: [], shippingLabelIds: [label] } },
    ]);
    const next = await plan(order);
    assert.deepEqual((await shop.fulfill({ id: next })).userErrors, []);
    assert.deepEqual(await warnings({ id: order, shippingAddress: address }), [], "the parcel has left");
  });

  it("is refused with its row, and then warns of nothing", async () => {
    const { order, fulfillmentOrder } = await planned();
    const wrong = { orders: [{ id: order, shippingAddress: address, paidAmount: -1 }] };
    const select = "orders { id } warnings { code }";
    const payload = await shop.mutate("ordersUpsert", wrong, { select });
    assert.deepEqual([refusals(payload).length, payload.warnings], [1, []]);
    assert.equal(await streetOf(fulfillmentOrder), "Hafenweg 3");
    const tried = { orders: [{ id: order, shippingAddress: address }], validateOnly: true };
    const { warnings } = await shop.mutate("ordersUpsert", tried, { select });
    assert.deepEqual(warnings, [{ code: "OLD_ADDRESS_KEPT" }]);
  });
});

describe("a label that was bought for an order that is cancelled", () => {
  it("is called off at the carrier, or stays when the parcel was handed over", async () => {
    const bought = async () => {
      const { order, fulfillmentOrder } = await planned();
      const [label] = await shop.request({ fulfillmentOrderId: fulfillmentOrder });
      await shop.becomes(label!, "created");
      return { order, label: label! };
    };
    const first = await bought();
    await shop.succeed("orderCancel", { id: first.order });
    assert.equal((await shop.label(first.label)).state, "created");
    await shop.succeed("shippingLabelCancel", { id: first.label });
    assert.notEqual((await shop.becomes(first.label, "cancelled")).cancelledAt, null);
    assert.deepEqual(await shop.trackingCodes(first.order), []);
    const again = { orderId: first.order, carrierTechnicalName: "example" };
    assert.deepEqual(refusals(await shop.mutate("shippingLabelRequest", again)), [
      ["INVALID_STATE_TRANSITION", "orderId"],
    ]);
    const second = await bought();
    await shop.succeed("orderCancel", { id: second.order });
    shop.carrier.faults.push(answering(409, '{"error":"The parcel was handed over."}'));
    await shop.succeed("shippingLabelCancel", { id: second.label });
    await until(async () => (await shop.label(second.label)).failure !== null);
    const { state, failure } = await shop.label(second.label);
    assert.deepEqual([state, failure], ["created", "The parcel was handed over."]);
    // A label that could not be bought is not bought later
    const third = await planned();
    shop.carrier.faults.push(answering(422));
    const [failed] = await shop.request({ orderId: third.order });
    await shop.becomes(failed!, "failed");
    await shop.succeed("orderCancel", { id: third.order });
    assert.deepEqual(refusals(await shop.mutate("shippingLabelRetry", { id: failed })), [
      ["NOT_EDITABLE", "id"],
    ]);
  });
});
