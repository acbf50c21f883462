import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import type { OrderLine, ShippingShop, ShopOrder } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

// documentCreate of a prepayment: an amount before the shipment, which invoices deduct once it is paid
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
  for (const product of ["nail", "hammer"]) await shop.store(product, "A-1", 10_000);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const goods: OrderLine[] = [
  { product: "nail", quantity: 2, price: 59.5, taxRate: 19 },
  { product: "hammer", quantity: 1, price: 107, taxRate: 7 },
];
const assigned = (): Promise<ShopOrder> =>
  shop.order(goods, [{ lines: goods.map(({ quantity }, n) => [n, quantity]) }]);
const select = "document { id documentNumber config documentType { technicalName } }";
const create = (order: ShopOrder, documentType: string, rest: object = {}) =>
  shop.mutate("documentCreate", { orderId: order.id, documentType, ...rest }, { select });
const done = async (work: Promise<any>) => {
  const payload = await work;
  assert.deepEqual(payload.userErrors, []);
  return payload;
};
const paid = (order: ShopOrder, amount: number) =>
  shop.sql(`update erp.sales_order set paid_amount = ${amount} where id = $1`, order.id);

describe("a prepayment", () => {
  it("charges an amount before the shipment, by tax rates, and the invoice deducts it once it is paid", async () => {
    const order = await assigned();
    const { document: prepayment } = await done(create(order, "prepayment", { amount: 100 }));
    assert.equal(prepayment.documentType.technicalName, "prepayment");
    const { typeCode, totals, lines, deliveryDate } = prepayment.config;
    assert.deepEqual([typeCode, totals.total, totals.due, deliveryDate], ["386", 100, 100, null]);
    assert.deepEqual(
      totals.taxes.map(({ rate, net, tax }: any) => [rate, net, tax]),
      [
        [7, 44.25, 3.1],
        [19, 44.24, 8.41],
      ],
    );
    assert.deepEqual(
      lines.map(({ quantity, total, net }: any) => [quantity, total, net]),
      [
        [1, 47.35, 44.25],
        [1, 52.65, 44.24],
      ],
    );
    await paid(order, 100);
    const shipped = await done(
      shop.mutate(
        "orderShipmentComplete",
        { orderId: order.id, documents: ["invoice"] },
        { select: "documents { id config }" },
      ),
    );
    const [{ config }] = shipped.documents;
    assert.deepEqual([config.totals.total, config.totals.paid, config.totals.due], [226, 100, 126]);
    assert.deepEqual(config.prepayments, [
      { number: prepayment.documentNumber, date: prepayment.config.documentDate, total: 100, tax: 11.51 },
    ]);
    const storno = await create(order, "storno", { referencedDocumentId: prepayment.id });
    assert.deepEqual(refusals(storno), [["INVALID", "referencedDocumentId"]]);
    assert.match(storno.userErrors[0].message, /deducts/);
    await done(create(order, "storno", { referencedDocumentId: shipped.documents[0].id }));
    const { document } = await done(create(order, "storno", { referencedDocumentId: prepayment.id }));
    assert.deepEqual([document.config.typeCode, document.config.totals.total], ["384", -100]);
  });

  it("is not deducted while it isn't paid", async () => {
    const order = await assigned();
    await done(create(order, "prepayment", { amount: 100 }));
    await paid(order, 99.99);
    const { documents } = await done(
      shop.mutate(
        "orderShipmentComplete",
        { orderId: order.id, documents: ["invoice"] },
        { select: "documents { config }" },
      ),
    );
    assert.deepEqual(documents[0].config.prepayments, []);
    assert.deepEqual([documents[0].config.totals.paid, documents[0].config.totals.due], [99.99, 126.01]);
  });

  it("is refused over more than is open, without an amount, and for cancelled orders", async () => {
    const order = await assigned();
    await done(create(order, "prepayment", { amount: 200 }));
    for (const [rest, ...expected] of [
      [{}, ["REQUIRED", "amount"]],
      [{ amount: 0 }, ["OUT_OF_RANGE", "amount"]],
      [{ amount: -5 }, ["OUT_OF_RANGE", "amount"]],
      [{ amount: 26.01 }, ["OUT_OF_RANGE", "amount"]],
      [{ amount: 1.001 }, ["INVALID", "amount"]],
      [{ amount: 1, fulfillmentIds: [] }, ["INVALID", "fulfillmentIds"]],
    ] as const)
      assert.deepEqual(refusals(await create(order, "prepayment", rest)), expected);
    assert.deepEqual(refusals(await create(order, "invoice", { amount: 1 })), [["INVALID", "amount"]]);
    const cancelled = await shop.mutate("orderCancel", { id: order.id }, {});
    assert.deepEqual(refusals(cancelled), [["NOT_EDITABLE", "id"]]);
    await done(create(order, "storno"));
    await done(shop.mutate("orderCancel", { id: order.id }, {}));
    assert.deepEqual(refusals(await create(order, "prepayment", { amount: 1 })), [["INVALID", "orderId"]]);
  });

  it("of clients at once charges no more than the order", async () => {
    const order = await assigned();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => create(order, "prepayment", { amount: 60 })),
    );
    assert.equal(answers.filter(({ userErrors }) => userErrors.length === 0).length, 3);
  });
});
