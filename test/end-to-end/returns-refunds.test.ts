import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import type { ReturnShop } from "../lib/return-shop.ts";
import { openReturnShop } from "../lib/return-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// What customers get back for returns: amounts, and credit notes
let shop: ReturnShop;
before(async () => {
  shop = await openReturnShop({ poolSize: 5 });
  for (const product of ["hammer", "nail"]) await shop.store(product, "A-1", 1_000);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const refundFields =
  "returnOrder { refundAmount refundedAt documents { edges { node { documentNumber } } } } documents { id documentNumber config }";
async function refund(id: string, rest: object = {}) {
  const payload = await shop.succeed("returnOrderRefund", { id, ...rest }, refundFields);
  return { ...payload, amount: Number(payload.returnOrder?.refundAmount) };
}
const total = ({ config }: any) => config.totals.total;

/** Three hammers for 10.00 with a discount, and shipping: 10.00 - 1.00 + 4.90. */
const discounted = () =>
  shop.shipped([
    { product: "hammer", quantity: 3, price: 10 / 3, taxRate: 19 },
    { type: "promotion", quantity: 1, price: -1 },
    { type: "shipping", quantity: 1, price: 4.9, taxRate: 19 },
  ]);
const invoice = async (order: { id: string }) =>
  (
    await shop.succeed(
      "documentCreate",
      { orderId: order.id, documentType: "invoice" },
      "document { id config }",
    )
  ).document;

describe("a refund", () => {
  it("is what the customer paid for the units that came back, less their share of discounts", async () => {
    const order = await shop.shipped([
      { product: "hammer", quantity: 3, price: 10, taxRate: 19 },
      { type: "promotion", quantity: 1, price: -5 },
      { product: "nail", quantity: 2, price: 10, taxRate: 19 },
    ]);
    const made = await shop.request([[order.lines[0]!, 3]], { isApproved: true });
    const nothing = await shop.mutate("returnOrderRefund", { id: made.id });
    assert.deepEqual(refusals(nothing), [["REQUIRED", "lines"]]);
    await shop.receive([{ line: made.lines[0]!, quantity: 2 }]);
    const first = await refund(made.id);
    assert.equal(first.amount, 18);
    assert.notEqual(first.returnOrder.refundedAt, null);
    assert.deepEqual(first.documents, []);
    const again = await shop.mutate("returnOrderRefund", { id: made.id });
    assert.deepEqual(refusals(again), [["REQUIRED", "lines"]]);
    await shop.receive([{ line: made.lines[0]!, quantity: 1 }]);
    assert.equal((await refund(made.id)).amount, 27);
    const [line] = (await shop.returned(made.id)).lines;
    assert.deepEqual([line!.refundedQuantity, line!.refundAmount], [3, 27]);
  });

  it("makes the credit note, with shipping, to the last cent", async () => {
    const order = await discounted();
    const { config } = await invoice(order);
    const [line, , shipping] = order.lines;
    const made = await shop.request([[line!, 3]], { isApproved: true });
    await shop.receive([{ line: made.lines[0]!, quantity: 1 }]);
    const one = await refund(made.id, { makeCreditNotes: true });
    assert.equal(one.documents.length, 1);
    assert.equal(one.amount, total(one.documents[0]));
    await shop.receive([{ line: made.lines[0]!, quantity: 2 }]);
    const rest = await refund(made.id, { makeCreditNotes: true, charges: [{ orderLineItemId: shipping }] });
    assert.equal(rest.documents.length, 1);
    assert.equal(rest.amount, config.totals.total);
    assert.equal(
      Math.round(100 * (total(one.documents[0]) + total(rest.documents[0]))),
      Math.round(100 * config.totals.total),
    );
    assert.equal(rest.returnOrder.documents.edges.length, 2);
    const more = await shop.mutate("returnOrderRefund", {
      id: made.id,
      lines: [],
      charges: [{ orderLineItemId: shipping, amount: "0.01" }],
    });
    assert.deepEqual(refusals(more), [["OUT_OF_RANGE", "charges.0.amount"]]);
  });

  it("is an amount when the customer keeps the goods, never more than is left", async () => {
    const order = await discounted();
    await invoice(order);
    const made = await shop.request([[order.lines[0]!, 1]], { isApproved: true });
    const returnOrderLineItemId = made.lines[0]!.id;
    const lines = [{ returnOrderLineItemId, amount: "2.5" }];
    const payload = await refund(made.id, { lines, makeCreditNotes: true });
    assert.equal(payload.amount, 2.5);
    assert.equal(total(payload.documents[0]), 2.5);
    const more = await shop.mutate("returnOrderRefund", {
      id: made.id,
      lines: [{ returnOrderLineItemId, amount: "9" }],
    });
    assert.deepEqual(refusals(more), [["OUT_OF_RANGE", "lines.0.amount"]]);
    const units = await shop.mutate("returnOrderRefund", {
      id: made.id,
      lines: [{ returnOrderLineItemId, quantity: 2 }],
    });
    assert.deepEqual(refusals(units), [["OUT_OF_RANGE", "lines.0.quantity"]]);
  });

  it("respects what credit notes of others have taken back", async () => {
    const order = await discounted();
    await invoice(order);
    const credited = { orderLineItemId: order.lines[0], quantity: 3 };
    await shop.succeed("documentCreate", {
      orderId: order.id,
      documentType: "credit_note",
      lines: [credited],
    });
    const made = await shop.request([[order.lines[0]!, 3]], { isApproved: true });
    await shop.receive([{ line: made.lines[0]!, quantity: 3 }]);
    assert.deepEqual(refusals(await shop.mutate("returnOrderRefund", { id: made.id })), [
      ["OUT_OF_RANGE", "lines.0.amount"],
    ]);
  });

  it("needs an invoice and the scope of documents for a credit note, and a known order", async () => {
    const order = await discounted();
    const made = await shop.request([[order.lines[0]!, 1]], { isApproved: true });
    await shop.receive([{ line: made.lines[0]!, quantity: 1 }]);
    const early = await shop.mutate("returnOrderRefund", { id: made.id, makeCreditNotes: true });
    assert.deepEqual(refusals(early), [["INVALID", "makeCreditNotes"]]);
    await invoice(order);
    const token = await shop.token({ read: "all", write: ["return_orders"] });
    const scoped = await shop.mutate("returnOrderRefund", { id: made.id, makeCreditNotes: true }, { token });
    assert.deepEqual(refusals(scoped), [["SCOPE_MISSING", "makeCreditNotes"]]);
    const unknown = await shop.request([{ productId: shop.id["nail"], quantity: 1 }]);
    assert.deepEqual(refusals(await shop.mutate("returnOrderRefund", { id: unknown.id })), [
      ["INVALID_STATE_TRANSITION", null],
    ]);
    await shop.succeed("returnOrderApprove", { id: unknown.id });
    assert.deepEqual(refusals(await shop.mutate("returnOrderRefund", { id: unknown.id })), [
      ["INVALID", "id"],
    ]);
  });

  it("of two parcels with an invoice each makes two credit notes", async () => {
    const order = await shop.order(
      [{ product: "hammer", quantity: 4, price: 2.5, taxRate: 19 }],
      [{ lines: [[0, 1]] }, { lines: [[0, 3]] }],
    );
    for (const part of order.fulfillmentOrders) {
      await shop.fulfill(part);
      await invoice(order);
    }
    const made = await shop.request([[order.lines[0]!, 4]], { isApproved: true });
    await shop.receive([{ line: made.lines[0]!, quantity: 4 }]);
    const { documents, amount } = await refund(made.id, { makeCreditNotes: true });
    assert.deepEqual(documents.map(total), [2.5, 7.5]);
    assert.equal(amount, 10);
  });

  it("of prices without tax is with tax, as the credit note is", async () => {
    const order = await discounted();
    await shop.sql("update erp.sales_order set tax_status = 'net' where id = $1", order.id);
    await invoice(order);
    const made = await shop.request([[order.lines[0]!, 2]], { isApproved: true });
    await shop.receive([{ line: made.lines[0]!, quantity: 2 }]);
    const { documents, amount } = await refund(made.id, { makeCreditNotes: true });
    assert.equal(amount, total(documents[0]));
    assert.equal(amount, 6.22);
  });

  it("is rehearsed and repeated like every call", async () => {
    const order = await discounted();
    const made = await shop.request([[order.lines[0]!, 1]], { isApproved: true });
    await shop.receive([{ line: made.lines[0]!, quantity: 1 }]);
    const tried = await refund(made.id, { validateOnly: true });
    assert.equal(tried.returnOrder, null);
    assert.equal((await shop.returned(made.id)).refundAmount, 0);
    const key = { idempotencyKey: `refund ${uuidOf(made.id)}` };
    await refund(made.id, key);
    const repeated = await refund(made.id, key);
    assert.equal(repeated.amount, (await shop.returned(made.id)).refundAmount);
  });
});
