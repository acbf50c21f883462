import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { renderPdf } from "../../src/pdf/render-pdf.ts";
import { Exact } from "../lib/exact.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { readPdf } from "../pdf/pdf.ts";

// The figures of orders, invoices and receipts, against a model with exact fractions that is rounded where the rules say.
// MONEY_ORDERS says how many random orders.
const count = Number(process.env.MONEY_ORDERS ?? 8);
const random = new Random(seed);
const factor = Exact.of("1.0842");
const hundred = Exact.of(100);

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
  for (const product of ["nail", "hammer"]) await shop.store(product, "A-1", 100_000_000);
  await shop.sql(`insert into erp.exchange_rate (currency_id, reference_date, factor, source)
    select id, (now() at time zone 'UTC')::date - 1, 1.0842, 'ECB' from erp.currency where iso_code = 'USD'`);
});
after(() => shop.close());

const done = async (name: string, input: object, select: string) => {
  const payload = await shop.mutate(name, input, { select });
  assert.deepEqual(payload.userErrors, [], `${name} SEED=${seed}`);
  return payload;
};
const decimal = (most: number, decimals: number) =>
  new Exact(BigInt(random.below(most)), 10n ** BigInt(decimals)).text(decimals);

interface Line {
  input: { type: string; quantity: number; [field: string]: unknown };
  /** Null for lines that are taxed as the others on average. */
  rate: Exact | null;
  quantity: number;
  price: Exact;
  total: Exact;
  /** Whether it has a discount of its own. */
  isReduced: boolean;
  id: string;
  charged: number;
}

function madeUpLine(type: string, n: number): Line {
  const quantity = type === "promotion" ? 1 : random.oneOf([1, 2, 3, 7, 24, 1000, 123_456]);
  const price = decimal(20_000, random.oneOf([2, 2, 2, 3, 4]));
  const unitPrice = type === "promotion" ? `-${decimal(900, 2)}` : price;
  const rate = type === "promotion" ? null : random.oneOf(["19", "7", "5.5", "0"]);
  const exact = Exact.of(unitPrice).times(Exact.of(quantity)).round();
  const isReduced = type === "product" && random.below(5) === 0;
  const total = isReduced ? exact.times(Exact.of("0.93")).round() : exact;
  return {
    input: {
      storefrontId: `l${n}`,
      type,
      label: `${type} ${n}`,
      identifier: `${type}-${n}`,
      quantity,
      ...(type === "product" ? { productId: shop.id[random.oneOf(["nail", "hammer"])] } : {}),
      ...(isReduced ? { totalPrice: Number(total.text()) } : {}),
      unitPrice: Number(unitPrice),
      taxRate: rate === null ? null : Number(rate),
    },
    ...{
      rate: rate === null ? null : Exact.of(rate),
      quantity,
      price: Exact.of(unitPrice),
      total,
      isReduced,
    },
    id: "",
    charged: 0,
  };
}

/** An order as it is to be, and what the model has of it. */
class ModelOrder {
  readonly lines: Line[];
  readonly isForeign = random.below(2) === 0;
  readonly taxStatus = random.oneOf(["gross", "net", "tax-free"]);
  id = "";

  constructor() {
    const types = Array.from({ length: 1 + random.below(3) }, () => "product");
    if (random.below(2)) types.push("shipping");
    if (random.below(3) === 0) types.push("promotion");
    this.lines = types.map(madeUpLine);
  }

  rateOf({ rate }: Line): Exact {
    return this.taxStatus === "tax-free" || rate === null ? new Exact(0n) : rate;
  }

  netOf(line: Line): Exact {
    return line.total
      .times(hundred)
      .dividedBy(hundred.plus(this.rateOf(line)))
      .round();
  }

  /** The totals of the order: lines without a rate are taxed as the others on average. */
  get amounts(): { total: Exact; net: Exact } {
    const total = Exact.sum(this.lines.map((line) => line.total));
    const rated = this.lines.filter(({ rate }) => rate !== null);
    const [gross, net] = [Exact.sum(rated.map((l) => l.total)), Exact.sum(rated.map((l) => this.netOf(l)))];
    const rest = total.minus(gross);
    const share = gross.isZero ? rest : rest.times(net).dividedBy(gross);
    return { total, net: this.taxStatus === "tax-free" ? total : net.plus(share.round()) };
  }
}

/** The amount of units of a line: what all up to the last come to, less what those before come to. */
const amountOf = (amount: Exact, from: number, to: number, quantity: number) => {
  const upTo = (units: number) =>
    units === quantity ? amount : amount.times(new Exact(BigInt(units), BigInt(quantity))).round();
  return upTo(to).minus(upTo(from));
};

/** Compares an invoice over the next units of lines with the model. */
function assertInvoice(order: ModelOrder, config: any, units: Map<Line, number>): void {
  const shown = new Map<string, any>(config.lines.map((line: any) => [line.label, line]));
  const taxes = new Map<string, { net: Exact; total: Exact }>();
  const charged = order.lines.filter((line) => units.has(line));
  for (const line of charged) {
    const [from, to] = [line.charged, line.charged + units.get(line)!];
    line.charged = to;
    const total = amountOf(line.total, from, to, line.quantity);
    const rateOfLine = order.rateOf(line);
    const { quantity, unitPrice, total: stated, isShare } = shown.get(line.input.label as string);
    const product = Exact.of(unitPrice).times(Exact.of(quantity));
    assert.equal(
      product.round().text(),
      Exact.of(stated).text(),
      "the price times the quantity is the amount",
    );
    if (line.rate === null || isShare) continue;
    if (order.taxStatus === "net") {
      // Nets add up to the net of their rate, so some are a cent from their own
      const net = total.times(hundred).dividedBy(hundred.plus(rateOfLine));
      assert.ok(Math.abs(Number(Exact.of(stated).minus(net).round(6).text(6))) < 0.01);
    } else assert.equal(Exact.of(stated).text(), total.text());
    assert.equal(quantity, to - from);
    const exact =
      order.taxStatus === "net" ? line.price.times(hundred).dividedBy(hundred.plus(line.rate)) : line.price;
    // The amounts are rounded with tax and without, by half a cent each
    const off = Math.abs(
      Number(
        product
          .minus(exact.times(Exact.of(quantity)))
          .round(6)
          .text(6),
      ),
    );
    if (!line.isReduced && quantity === line.quantity)
      assert.ok(off <= 0.015, `${unitPrice} for ${exact.n}/${exact.d}`);
    const rate = String(Number(rateOfLine.text(1)));
    const sum = (taxes.get(rate)?.total ?? new Exact(0n)).plus(total);
    taxes.set(rate, { net: sum.times(hundred).dividedBy(hundred.plus(rateOfLine)).round(), total: sum });
  }
  assertTotals(order, config, order.lines.some(({ rate }) => rate === null) ? null : taxes);
}

function assertTotals(
  { taxStatus, isForeign }: ModelOrder,
  config: any,
  expected: Map<string, { net: Exact; total: Exact }> | null,
): void {
  const { net, total, taxes } = config.totals;
  const sums = Exact.sum(config.lines.map((line: any) => Exact.of(line.total)));
  assert.equal(sums.text(), Exact.of(taxStatus === "net" ? net : total).text(), "lines add up to the total");
  const tax = Exact.sum(taxes.map((each: any) => Exact.of(each.tax)));
  assert.equal(Exact.of(net).plus(tax).text(), Exact.of(total).text(), "net and tax add up to the total");
  if (taxStatus === "tax-free") assert.ok(taxes.every((each: any) => each.rate === 0 && each.tax === 0));
  else if (expected)
    assert.deepEqual(
      taxes.map((each: any) => [String(each.rate), Exact.of(each.net).text(), Exact.of(each.tax).text()]),
      [...expected]
        .sort(([a], [b]) => Number(a) - Number(b))
        .map(([rate, sum]) => [rate, sum.net.text(), sum.total.minus(sum.net).text()]),
    );
  const own = config.taxInDefaultCurrency;
  if (!isForeign || taxStatus === "tax-free") return assert.equal(own, null);
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  assert.deepEqual(own.exchangeRate, { factor: 1.0842, date: yesterday, source: "ECB" });
  assert.equal(own.currency.isoCode, "EUR");
  const converted = taxes.map((each: any) => Exact.of(each.tax).dividedBy(factor).round());
  assert.deepEqual(
    own.taxes.map((each: any) => Exact.of(each.tax).text()),
    converted.map((each: Exact) => each.text()),
  );
  assert.equal(Exact.of(own.tax).text(), Exact.sum(converted).text());
}

/** Fails unless the PDF shows the figures of the config. */
async function assertPdf(config: any): Promise<void> {
  const text = (await readPdf(await renderPdf({ ...config, locale: "en-GB" }))).pages.join(" ");
  const withCommas = (value: number | string) => {
    const [whole, decimals = ""] = String(value).replace("-", "").split(".") as [string, string?];
    return `${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${decimals.padEnd(2, "0")}`;
  };
  const own = config.taxInDefaultCurrency;
  const taxes = config.taxStatus === "tax-free" ? [] : config.totals.taxes;
  const figures = [
    ...config.lines.flatMap((line: any) => [line.unitPrice, line.total]),
    ...[config.totals.total, ...taxes.map((each: any) => each.tax)],
    ...(own ? [own.tax, ...own.taxes.map((each: any) => each.tax)] : []),
  ];
  for (const figure of figures)
    assert.ok(text.includes(withCommas(figure)), `${figure} is missing in: ${text}`);
  if (own) assert.match(text, /VAT in EUR: .*Exchange rate of \d+ \w+ \d{4}: 1 EUR = 1\.0842 USD/);
}

const lineFields = "lineItems(first: 50) { edges { node { id identifier totalPrice } } }";

async function assertOrder(order: ModelOrder, n: number): Promise<void> {
  const { orders } = await done(
    "ordersUpsert",
    {
      orders: [
        {
          ...{
            orderNumber: `M-${n}`,
            taxStatus: order.taxStatus,
            currencyId: shop.id[order.isForeign ? "USD" : "EUR"],
          },
          lineItems: order.lines.map(({ input }) => input),
        },
      ],
    },
    `orders { id amountTotal amountNet ${lineFields} }`,
  );
  const [made] = orders;
  const { total, net } = order.amounts;
  assert.deepEqual(
    [made.amountTotal, made.amountNet].map(Exact.of).map((a) => a.text()),
    [total.text(), net.text()],
  );
  for (const line of order.lines) {
    const { node } = made.lineItems.edges.find(({ node }: any) => node.identifier === line.input.identifier);
    line.id = node.id;
    assert.equal(Exact.of(node.totalPrice).text(), line.total.text());
  }
  const goods = order.lines.filter(({ input }) => input.type === "product");
  const { fulfillmentOrder } = await done(
    "fulfillmentOrderCreate",
    {
      orderId: made.id,
      warehouseId: shop.id.hall,
      lines: goods.map(({ id, quantity }) => ({ orderLineItemId: id, quantity })),
    },
    "fulfillmentOrder { id lineItems(first: 50) { edges { node { id destinationOrderLineItem { id } } } } }",
  );
  const partOf = new Map<string, string>(
    fulfillmentOrder.lineItems.edges.map(({ node }: any) => [node.destinationOrderLineItem.id, node.id]),
  );
  const documents: any[] = [];
  for (let isFirst = true; goods.some((line) => line.charged < line.quantity); isFirst = false) {
    const units = new Map<Line, number>();
    for (const line of goods) {
      const open = line.quantity - line.charged;
      if (open > 0 && (units.size === 0 || random.below(2))) units.set(line, 1 + random.below(open));
    }
    // Two parcels at most of the same line
    for (const [line, quantity] of units)
      if (line.charged > 0) units.set(line, Math.max(quantity, line.quantity - line.charged));
    const {
      documents: [document],
    } = await done(
      "fulfillmentCreate",
      {
        fulfillmentOrderId: fulfillmentOrder.id,
        lines: [...units].map(([{ id }, quantity]) => ({
          fulfillmentOrderLineItemId: partOf.get(id),
          quantity,
        })),
        documents: ["invoice"],
      },
      "documents { config }",
    );
    if (isFirst)
      for (const line of order.lines) if (line.input.type === "shipping") units.set(line, line.quantity);
    assertInvoice(order, document.config, units);
    documents.push(document.config);
  }
  const sumOf = (figure: "net" | "total") =>
    Exact.sum(documents.map(({ totals }) => Exact.of(totals[figure]))).text();
  assert.equal(sumOf("total"), total.text(), "invoices equal the order");
  const cents = order.lines.length * documents.length;
  assert.ok(Math.abs(Number(Exact.of(sumOf("net")).minus(net).text())) * 100 < cents + 1);
  if (n % 4 === 0) for (const config of documents) await assertPdf(config);
}

describe("amounts", () => {
  it("are rounded by the functions of one file", async () => {
    const names = await shop.sql(
      `select p.proname as name from pg_proc p
       where p.pronamespace in ('erp'::regnamespace, 'ledger'::regnamespace) and p.prokind = 'f'
         and pg_get_functiondef(p.oid) ~ '\\yround\\(' order by p.proname`,
    );
    const text = await readFile("db/fixtures/erp/rounded.sql", "utf8");
    const own = [...text.matchAll(/function erp\.(\w+)\(/g)].map(([, name]) => name);
    assert.deepEqual(
      names.map(({ name }) => name).filter((name) => !own.includes(name)),
      [],
    );
  });

  it("of random orders and their invoices are those of the model", async () => {
    for (let n = 0; n < count; n++) {
      const order = new ModelOrder();
      await assertOrder(order, n).catch((error) => {
        error.message += ` (SEED=${seed}, order ${n}, ${order.taxStatus}, ${JSON.stringify(order.lines.map(({ input }) => input))})`;
        throw error;
      });
    }
  });

  it("of lines are cents, also those that a shop sends", async () => {
    const line = { type: "custom", label: "Half a cent", quantity: 1, unitPrice: 10.005 };
    const lineItems = [
      { ...line, storefrontId: "l1", totalPrice: 10.005 },
      { ...line, storefrontId: "l2", totalPrice: 10.005 },
    ];
    const upsert = () =>
      done(
        "ordersUpsert",
        { orders: [{ orderNumber: "M-half", currencyId: shop.id.EUR, lineItems }] },
        `results { outcome } orders { amountTotal ${lineFields} }`,
      );
    const { orders } = await upsert();
    assert.equal(orders[0].amountTotal, 20.02);
    assert.deepEqual(
      orders[0].lineItems.edges.map(({ node }: any) => node.totalPrice),
      [10.01, 10.01],
    );
    assert.deepEqual((await upsert()).results, [{ outcome: "UNCHANGED" }]);
  });

  it("of tax are converted at the rate of the delivery, although the invoice comes later", async () => {
    const line = { storefrontId: "l1", productId: shop.id.nail, quantity: 2, unitPrice: 59.5, taxRate: 19 };
    const { orders } = await done(
      "ordersUpsert",
      { orders: [{ orderNumber: "M-late", currencyId: shop.id.USD, lineItems: [line] }] },
      "orders { id }",
    );
    const [{ id: orderId }] = orders;
    const { fulfillments } = await done("orderShipmentComplete", { orderId }, "fulfillments { id }");
    await shop.sql(
      "update erp.fulfillment set created_at = now() - interval '3 days' where id = $1",
      fulfillments[0].id,
    );
    await shop.sql(`insert into erp.exchange_rate (currency_id, reference_date, factor, source)
      select id, (now() at time zone 'UTC')::date - 4, 1.5, 'ECB' from erp.currency where iso_code = 'USD'`);
    const { document } = await done(
      "documentCreate",
      { orderId, documentType: "invoice" },
      "document { config }",
    );
    const { exchangeRate, tax } = document.config.taxInDefaultCurrency;
    const published = new Date(Date.now() - 4 * 86_400_000).toISOString().slice(0, 10);
    assert.deepEqual([exchangeRate.factor, exchangeRate.date, tax], [1.5, published, 12.67]);
  });

  it("of a storno are those of its invoice, at its rate, whatever the rate is by then", async () => {
    const line = {
      storefrontId: "l1",
      type: "custom",
      label: "Advice",
      identifier: "advice",
      quantity: 3,
      unitPrice: 33.33,
      taxRate: 19,
    };
    const { orders } = await done(
      "ordersUpsert",
      { orders: [{ orderNumber: "M-storno", currencyId: shop.id.USD, lineItems: [line] }] },
      "orders { id }",
    );
    const create = (documentType: string) =>
      done("documentCreate", { orderId: orders[0].id, documentType }, "document { config }");
    const { document: invoice } = await create("invoice");
    await shop.sql("update erp.exchange_rate set factor = 2");
    const { document: storno } = await create("storno");
    await shop.sql("update erp.exchange_rate set factor = 1.0842");
    const own = invoice.config.taxInDefaultCurrency;
    assert.deepEqual([own.tax, own.exchangeRate.factor], [14.72, 1.0842]);
    assert.deepEqual(storno.config.taxInDefaultCurrency, {
      ...own,
      tax: -own.tax,
      taxes: [{ rate: 19, tax: -own.tax }],
    });
    await shop.sql("delete from erp.exchange_rate");
    const { document: later } = await create("invoice");
    const today = new Date().toISOString().slice(0, 10);
    // The factor of the shop, where no rate is known
    assert.deepEqual(later.config.taxInDefaultCurrency.exchangeRate, {
      factor: 1.25,
      date: today,
      source: null,
    });
  });

  it("of goods receipts are converted from what isn't rounded yet", async () => {
    const lines = [
      [1_000_000, "0.333"],
      ...Array.from({ length: 20 }, () => [
        1 + random.below(2_000_000),
        decimal(9_999_999, random.oneOf([2, 3, 4])),
      ]),
    ] as [number, string][];
    for (const rate of ["1.0842", decimal(90_000, 4), decimal(9_999, 3)].filter((text) => Number(text) > 0)) {
      const { goodsReceipt } = await done(
        "goodsReceiptCreate",
        {
          currencyId: shop.id.USD,
          currencyFactor: Number(rate),
          taxStatus: "net",
          lineItems: lines.map(([quantity, unitPrice]) => ({
            productId: shop.id.hammer,
            quantity,
            unitPrice: Number(unitPrice),
            taxRate: 19,
          })),
        },
        "goodsReceipt { amountNet amountTotal lineItems(first: 50) { edges { node { quantity unitPrice unitPriceInDefaultCurrency totalPriceInDefaultCurrency } } } }",
      );
      for (const { node } of goodsReceipt.lineItems.edges) {
        const price = Exact.of(node.unitPrice);
        const total = price.times(Exact.of(node.quantity));
        assert.deepEqual(
          [
            Number(price.dividedBy(Exact.of(rate)).round(6).text(6)),
            Number(total.dividedBy(Exact.of(rate)).round().text()),
          ],
          [node.unitPriceInDefaultCurrency, node.totalPriceInDefaultCurrency],
          `SEED=${seed}: ${node.quantity} x ${node.unitPrice} at ${rate}`,
        );
        if (rate === "1.0842" && node.unitPrice === 0.333 && node.quantity === 1_000_000)
          assert.equal(node.totalPriceInDefaultCurrency, 307138.9);
      }
      const net = Exact.sum(lines.map(([quantity, price]) => Exact.of(price).times(Exact.of(quantity))));
      const gross = net.times(Exact.of("1.19")).round();
      assert.deepEqual(
        [goodsReceipt.amountNet, goodsReceipt.amountTotal],
        [net.round(), gross].map((a) => Number(a.text())),
      );
    }
  });
});
