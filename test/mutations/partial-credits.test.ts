import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { noUuid } from "../lib/ids.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import type { OrderLine, ShippingShop, ShopOrder } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

// documentCreate credits lines of an invoice: by units, by amounts, and in the end the rest to the cent
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
  for (const product of ["nail", "hammer"]) await shop.store(product, "A-1", 1_000_000);
  await shop.sql(`insert into erp.exchange_rate (currency_id, reference_date, factor, source)
    select id, (now() at time zone 'UTC')::date - 1, 1.0842, 'ECB' from erp.currency where iso_code = 'USD'`);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const assigned = (lines: OrderLine[]): Promise<ShopOrder> => {
  const goods = lines.flatMap(({ product }, n) => (product ? [n] : []));
  return shop.order(lines, [{ lines: goods.map((n) => [n, lines[n]!.quantity]) }]);
};
const select = "document { id documentNumber config }";
const credit = (order: ShopOrder, lines: object[] | undefined, rest: object = {}) =>
  shop.mutate(
    "documentCreate",
    { orderId: order.id, documentType: "credit_note", lines, ...rest },
    { select },
  );
const done = async (work: Promise<any>) => {
  const payload = await work;
  assert.deepEqual(payload.userErrors, []);
  return payload;
};
const invoiced = async (order: ShopOrder) =>
  (
    await done(
      shop.mutate(
        "orderShipmentComplete",
        { orderId: order.id, documents: ["invoice"] },
        { select: "documents { id documentNumber config } fulfillments { id }" },
      ),
    )
  ).documents[0];
const cents = (amount: number) => Math.round(amount * 100);
const shown = ({ config }: any) =>
  config.lines.map((line: any) => [line.label, line.quantity, line.unitPrice, line.total]);

describe("a credit note of lines", () => {
  it("credits units at their price less their share of discounts, and the last one what is left", async () => {
    const order = await assigned([
      { product: "nail", quantity: 3, price: 10, taxRate: 19 },
      { product: "hammer", quantity: 1, price: 50, taxRate: 7 },
      { quantity: 1, type: "promotion", price: -8 },
    ]);
    const invoice = await invoiced(order);
    assert.equal(invoice.config.totals.total, 72);
    const [nail, hammer] = order.lines;
    const { document } = await done(credit(order, [{ orderLineItemId: nail, quantity: 1 }]));
    assert.equal(document.config.typeCode, "381");
    assert.equal(document.config.referencedDocumentNumber, invoice.documentNumber);
    assert.deepEqual(shown(document), [["nail", 1, 9, 9]]);
    assert.deepEqual(document.config.totals.taxes, [
      { category: "S", rate: 19, net: 7.56, tax: 1.44, exemptionCode: null, reason: null },
    ]);
    const { document: amount } = await done(credit(order, [{ orderLineItemId: hammer, amount: 5.55 }]));
    assert.deepEqual(shown(amount), [["hammer", 1, 5.55, 5.55]]);
    const { document: rest } = await done(credit(order, undefined));
    assert.deepEqual(shown(rest), [
      ["nail", 2, 9, 18],
      ["hammer", 1, 39.45, 39.45],
    ]);
    const notes = [document, amount, rest];
    for (const { rate, net, tax } of invoice.config.totals.taxes) {
      const credited = notes.flatMap(({ config }) => config.totals.taxes.filter((t: any) => t.rate === rate));
      assert.equal(cents(credited.reduce((sum, each) => sum + each.net, 0)), cents(net), `net at ${rate}`);
      assert.equal(cents(credited.reduce((sum, each) => sum + each.tax, 0)), cents(tax), `tax at ${rate}`);
    }
    const again = await credit(order, undefined);
    assert.deepEqual(refusals(again), [["INVALID", "documentType"]]);
  });

  it("refuses what isn't left, and bad lines, and changes nothing", async () => {
    const order = await assigned([
      { product: "nail", quantity: 3, price: 10, taxRate: 19 },
      { product: "hammer", quantity: 1, price: 50, taxRate: 19 },
    ]);
    await invoiced(order);
    const [nail, hammer] = order.lines;
    await done(credit(order, [{ orderLineItemId: nail, quantity: 2, amount: 15 }]));
    for (const [lines, ...expected] of [
      [[], ["REQUIRED", "lines"]],
      [[{ orderLineItemId: nail, quantity: 2 }], ["OUT_OF_RANGE", "lines.0.quantity"]],
      [[{ orderLineItemId: nail, quantity: 0 }], ["OUT_OF_RANGE", "lines.0.quantity"]],
      [[{ orderLineItemId: nail, amount: 15.01 }], ["OUT_OF_RANGE", "lines.0.amount"]],
      [[{ orderLineItemId: nail, amount: 0 }], ["OUT_OF_RANGE", "lines.0.amount"]],
      [[{ orderLineItemId: nail, amount: -1 }], ["OUT_OF_RANGE", "lines.0.amount"]],
      [[{ orderLineItemId: nail, amount: 1.005 }], ["INVALID", "lines.0.amount"]],
      [[{ orderLineItemId: nail }], ["REQUIRED", "lines.0.quantity"]],
      [
        [{ orderLineItemId: `gid://service/OrderLineItem/${noUuid}`, quantity: 1 }],
        ["NOT_FOUND", "lines.0.orderLineItemId"],
      ],
      [
        [
          { orderLineItemId: hammer, amount: 1 },
          { orderLineItemId: hammer, amount: 1 },
        ],
        ["NOT_UNIQUE", "lines.1.orderLineItemId"],
      ],
      [
        Array.from({ length: 251 }, () => ({ orderLineItemId: nail, quantity: 1 })),
        ["TOO_MANY_LINES", "lines"],
      ],
    ] as const)
      assert.deepEqual(refusals(await credit(order, lines as any)), expected, JSON.stringify(lines[0]));
    for (const documentType of ["storno", "invoice", "delivery_note"])
      assert.deepEqual(
        refusals(await credit(order, [{ orderLineItemId: nail, quantity: 1 }], { documentType })),
        [["INVALID", "lines"]],
      );
    const storno = await credit(order, undefined, { documentType: "storno" });
    assert.deepEqual(refusals(storno), [["INVALID", "documentType"]]);
    assert.match(storno.userErrors[0].message, /credit the rest/);
    const [{ count }] = await shop.sql(
      "select count(*)::int from erp.document where order_id = $1",
      order.id,
    );
    assert.equal(count, 2);
  });

  it("credits each unit once, however many clients ask at once", async () => {
    const order = await assigned([{ product: "nail", quantity: 5, price: 10, taxRate: 19 }]);
    const invoice = await invoiced(order);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => credit(order, [{ orderLineItemId: order.lines[0], quantity: 1 }])),
    );
    const made = answers.filter(({ userErrors }) => userErrors.length === 0);
    assert.equal(made.length, 5);
    const sum = made.reduce((all, { document }) => all + cents(document.config.totals.net), 0);
    assert.equal(sum, cents(invoice.config.totals.net));
  });

  it("of an order in another currency states the tax at the rate of the invoice", async () => {
    const order = await assigned([{ product: "nail", quantity: 2, price: 100, taxRate: 19 }]);
    await shop.sql(
      "update erp.sales_order set currency_id = (select id from erp.currency where iso_code = 'USD') where id = $1",
      order.id,
    );
    const invoice = await invoiced(order);
    await shop.sql(`insert into erp.exchange_rate (currency_id, reference_date, factor, source)
      select id, (now() at time zone 'UTC')::date, 9.9, 'ECB' from erp.currency where iso_code = 'USD'`);
    const { document } = await done(credit(order, [{ orderLineItemId: order.lines[0], quantity: 1 }]));
    const { taxInDefaultCurrency } = document.config;
    assert.equal(
      taxInDefaultCurrency.exchangeRate.factor,
      invoice.config.taxInDefaultCurrency.exchangeRate.factor,
    );
    assert.equal(taxInDefaultCurrency.tax, cents(15.97 / 1.0842) / 100);
    await shop.sql("delete from erp.exchange_rate where factor = 9.9");
  });

  it("of a shipment that comes back credits what is left of it, and its units can be charged again", async () => {
    const order = await assigned([{ product: "nail", quantity: 4, price: 10, taxRate: 19 }]);
    const ship = (quantity: number) =>
      done(
        shop.mutate(
          "fulfillmentCreate",
          {
            fulfillmentOrderId: order.fulfillmentOrders[0]!.id,
            lines: [{ fulfillmentOrderLineItemId: order.fulfillmentOrders[0]!.lines[0], quantity }],
          },
          { select: "fulfillment { id }" },
        ),
      );
    const first = await ship(3);
    await ship(1);
    await done(shop.mutate("documentCreate", { orderId: order.id, documentType: "invoice" }, { select }));
    await done(credit(order, [{ orderLineItemId: order.lines[0], quantity: 1 }]));
    const cancelled = await done(
      shop.mutate(
        "fulfillmentCancel",
        { id: first.fulfillment.id },
        { select: "documents { config documentType { technicalName } }" },
      ),
    );
    assert.deepEqual(
      cancelled.documents.map((document: any) => [document.documentType.technicalName, shown(document)]),
      [["credit_note", [["nail", 3, 10, 30]]]],
    );
    assert.deepEqual(shown(await invoiced(order)), [["nail", 3, 10, 30]]);
  });
});

describe("credit notes of random orders", () => {
  it("add up to the invoice to the cent, by rate, whatever is credited in which order", async () => {
    const random = new Random(seed);
    for (let n = 0; n < 10; n++) {
      const order = await assigned([
        ...Array.from({ length: 1 + random.below(3) }, (_, i) => ({
          product: i % 2 ? "nail" : "hammer",
          quantity: 1 + random.below(7),
          price: (1 + random.below(10_000)) / 100,
          taxRate: random.oneOf([19, 7, 5.5, 0]),
        })),
        ...(random.below(2) ? [{ quantity: 2, type: "shipping", price: 4.95, taxRate: 19 }] : []),
        ...(random.below(2) ? [{ quantity: 1, type: "promotion", price: -random.below(100) / 100 }] : []),
      ]);
      const taxStatus = random.oneOf(["gross", "net", "tax-free"]);
      await shop.sql(`update erp.sales_order set tax_status = '${taxStatus}' where id = $1`, order.id);
      const { config } = await invoiced(order);
      const notes: any[] = [];
      for (let step = 0; step < 4; step++) {
        const open = await shop.sql(
          `select c.line_id as id, c.left_quantity as quantity, c.left_amount::float8 as amount
           from erp.document d join erp.invoice i on i.document_id = d.id cross join erp.creditable_lines(d.id) c
           where d.order_id = $1 order by c.n`,
          order.id,
        );
        const lines = open
          .filter(({ quantity, amount }) => quantity > 0 && amount > 0.02 && random.below(2))
          .map(({ id, quantity, amount }) => ({
            orderLineItemId: `gid://service/OrderLineItem/${id}`,
            ...(random.below(2)
              ? { quantity: 1 + random.below(quantity) }
              : { amount: Math.ceil(amount * random.below(100)) / 100 || 0.01 }),
          }));
        if (lines.length > 0) notes.push((await done(credit(order, lines))).document.config);
      }
      const last = await credit(order, undefined);
      if (last.userErrors.length === 0) notes.push(last.document.config);
      for (const figure of ["net", "tax"]) {
        const byRate = (configs: any[]) =>
          Object.fromEntries(
            config.totals.taxes.map(({ rate }: any) => [
              rate,
              configs
                .flatMap(({ totals }) => totals.taxes)
                .filter((tax: any) => tax.rate === rate)
                .reduce((sum, tax) => sum + cents(tax[figure]), 0),
            ]),
          );
        assert.deepEqual(
          byRate(notes),
          byRate([config]),
          `SEED=${seed}, order ${n}, ${taxStatus}, ${figure}`,
        );
      }
      for (const { lines, totals, taxStatus: status } of notes) {
        const amount = lines.reduce((sum: number, { total }: any) => sum + cents(total), 0);
        assert.equal(amount, cents(status === "net" ? totals.net : totals.total));
        const net = lines
          .filter(({ kind }: any) => kind === "line")
          .reduce((sum: number, line: any) => sum + cents(line.net), 0);
        assert.equal(net, cents(totals.lineNet));
      }
    }
  });
});
