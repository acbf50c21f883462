import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertProof } from "../lib/proof.ts";
import type { ReturnShop } from "../lib/return-shop.ts";
import { figures, openReturnShop } from "../lib/return-shop.ts";
import { refusals } from "../lib/shop.ts";

// Situations after the parcel has arrived: wrong goods, wrong invoices, and exchanges
let shop: ReturnShop;
before(async () => {
  shop = await openReturnShop();
  for (const product of ["hammer", "nail"]) await shop.store(product, "A-1", 100);
});
after(async () => {
  await assertProof(shop.owner);
  await shop.close();
});

const nodes = ({ edges }: any): any[] => edges.map(({ node }: any) => node);
const stateOf = async (order: { id: string; lines: string[] }) => {
  const { state, deliveryState } = await shop.stateOf(order as any);
  return [state, deliveryState];
};
const document = async (input: object) =>
  (
    await shop.succeed(
      "documentCreate",
      input,
      "document { id config referencedDocument { id } } warnings { code }",
    )
  ).document;

describe("a parcel with the wrong product", () => {
  it("comes back, and the right one follows", async () => {
    const order = await shop.shipped([{ product: "hammer", quantity: 2 }]);
    const before = [await shop.stockAt("hammer", "A-1"), await shop.stockAt("nail", "A-1")];
    // Nails were in the parcel. A count sets both bins right
    await shop.succeed("stockSet", {
      lines: [
        shop.line("hammer", "A-1", { quantity: before[0]! + 2 }),
        shop.line("nail", "A-1", { quantity: before[1]! - 2 }),
      ],
      reference: "wrong product in the parcel",
    });
    const made = await shop.request(
      [
        { productId: shop.id.nail, quantity: 2, reason: "wrong_item" },
        { orderLineItemId: order.lines[0], quantity: 2, reason: "wrong_item", wantedOutcome: "replacement" },
      ],
      { isApproved: true },
    );
    const back = await shop.receive([{ line: made.lines[0]!, quantity: 2 }], [[0, "A-1", 2]]);
    assert.deepEqual(figures(back)[0], [2, 2, 2, 0, 0, 0]);
    const replacement = await shop.shipped([{ product: "hammer", quantity: 2, price: 0 }]);
    await shop.succeed("returnOrderUpdate", { id: made.id, replacementOrderId: replacement.id });
    await shop.succeed("returnOrderClose", { id: made.id });
    assert.equal((await shop.returned(made.id)).lines[1]!.missingQuantity, 2);
    assert.deepEqual(await stateOf(replacement), ["completed", "shipped"]);
    assert.deepEqual(
      [await shop.stockAt("hammer", "A-1"), await shop.stockAt("nail", "A-1")],
      [before[0], before[1]],
    );
  });
});

describe("a customer who keeps damaged goods for a lower price", () => {
  it("gets a part of the price by a credit note, and the return closes without goods", async () => {
    const order = await shop.shipped([{ product: "hammer", quantity: 1, price: 20, taxRate: 19 }]);
    await document({ orderId: order.id, documentType: "invoice" });
    const made = await shop.request([{ orderLineItemId: order.lines[0], quantity: 1, reason: "defective" }], {
      isApproved: true,
    });
    const refund = (amount: string) =>
      shop.mutate(
        "returnOrderRefund",
        {
          id: made.id,
          lines: [{ returnOrderLineItemId: made.lines[0]!.id, amount }],
          makeCreditNotes: true,
        },
        { select: "returnOrder { refundAmount } documents { config }" },
      );
    const paid = await refund("5");
    assert.deepEqual(paid.userErrors, []);
    assert.deepEqual([Number(paid.returnOrder.refundAmount), paid.documents[0].config.totals.total], [5, 5]);
    assert.deepEqual(refusals(await refund("15.01")), [["OUT_OF_RANGE", "lines.0.amount"]]);
    const units = await shop.stockAt("hammer", "A-1");
    await shop.succeed("returnOrderClose", { id: made.id });
    assert.equal(await shop.stockAt("hammer", "A-1"), units);
    assert.deepEqual(await stateOf(order), ["completed", "shipped"]);
  });
});

describe("a customer who wants another product instead", () => {
  it("sends it back, gets the other one, and pays the difference", async () => {
    const order = await shop.shipped([{ product: "hammer", quantity: 1, price: 20, taxRate: 19 }]);
    await document({ orderId: order.id, documentType: "invoice" });
    const made = await shop.request(
      [
        {
          orderLineItemId: order.lines[0],
          quantity: 1,
          reason: "changed_mind",
          wantedOutcome: "replacement",
        },
      ],
      { isApproved: true },
    );
    const other = await shop.shipped([{ product: "nail", quantity: 10, price: 3, taxRate: 19 }]);
    await shop.succeed("returnOrderUpdate", { id: made.id, replacementOrderId: other.id });
    await shop.receive([{ line: made.lines[0]!, quantity: 1 }], [[0, "A-1", 1]]);
    const { returnOrder, documents } = await shop.succeed(
      "returnOrderRefund",
      { id: made.id, makeCreditNotes: true },
      "returnOrder { refundAmount replacementOrder { id } } documents { config }",
    );
    assert.deepEqual(
      [Number(returnOrder.refundAmount), returnOrder.replacementOrder.id, documents[0].config.totals.total],
      [20, other.id, 20],
    );
    const bill = await document({ orderId: other.id, documentType: "invoice" });
    assert.equal(bill.config.totals.total, 30);
    assert.deepEqual(await stateOf(order), ["completed", "returned"]);
  });
});

describe("an order that was invoiced with a wrong price or address", () => {
  it("is corrected after the storno of its invoice, and invoiced again", async () => {
    const order = await shop.shipped([{ product: "hammer", quantity: 2, price: 20, taxRate: 19 }]);
    const wrong = await document({ orderId: order.id, documentType: "invoice" });
    const change = (rest: object) => shop.mutate("ordersUpsert", { orders: [{ id: order.id, ...rest }] });
    const price = { lineItems: [{ id: order.lines[0], unitPrice: 18 }] };
    const address = { billingAddress: { company: "Café Zeitlos", city: "Annecy", countryIso: "FR" } };
    const refused = await change(price);
    assert.equal(refused.userErrors[0].code, "NOT_EDITABLE");
    const storno = await document({ orderId: order.id, documentType: "storno" });
    assert.equal(storno.referencedDocument.id, wrong.id);
    const closed = await change(price);
    assert.match(closed.userErrors[0].message, /orderReopen/);
    await shop.succeed("orderReopen", { id: order.id });
    assert.deepEqual((await change({ ...price, ...address })).userErrors, []);
    const right = await document({ orderId: order.id, documentType: "invoice" });
    assert.equal(right.config.totals.total, 36);
    assert.match(JSON.stringify(right.config), /Annecy/);
    assert.deepEqual(await stateOf(order), ["completed", "shipped"]);
  });
});

describe("an order paid in another currency", () => {
  it("keeps its currency in the invoice and in the refund", async () => {
    const { orders } = await shop.succeed(
      "ordersUpsert",
      {
        orders: [
          {
            orderNumber: "US-1",
            currencyIsoCode: "USD",
            ...{ exchangeRate: 1.25, exchangeRateDate: "2026-06-01", exchangeRateSource: "ECB" },
            paidAmount: 25,
            paymentState: "paid",
            lineItems: [{ productNumber: "hammer", quantity: 1, unitPrice: 25, taxRate: 19 }],
          },
        ],
      },
      "orders { id currency { isoCode } exchangeRate lineItems { edges { node { id } } } }",
    );
    const [order] = orders;
    const [line] = nodes(order.lineItems);
    assert.deepEqual([order.currency.isoCode, order.exchangeRate], ["USD", 1.25]);
    await shop.succeed("orderShipmentComplete", { orderId: order.id });
    const bill = await document({ orderId: order.id, documentType: "invoice" });
    assert.equal(bill.config.totals.total, 25);
    assert.match(JSON.stringify(bill.config), /USD/);
    const made = await shop.request([[line.id, 1]], { isApproved: true });
    await shop.receive([{ line: made.lines[0]!, quantity: 1 }]);
    const { returnOrder, documents } = await shop.succeed(
      "returnOrderRefund",
      { id: made.id, makeCreditNotes: true },
      "returnOrder { refundAmount } documents { config }",
    );
    assert.equal(Number(returnOrder.refundAmount), 25);
    assert.match(JSON.stringify(documents[0].config), /USD/);
    assert.deepEqual(await stateOf({ id: order.id, lines: [] }), ["completed", "returned"]);
  });
});
