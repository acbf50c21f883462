import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { noUuid } from "../lib/ids.ts";
import { Random } from "../lib/random.ts";
import { seed } from "../lib/seed.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import { ended, linesAt, startTestBulk, upload } from "../bulk/support.ts";

// Quotes: written as orders are, sent, and accepted once
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
  await shop.sql(`
    insert into erp.country (iso_code, name) values ('FR', '{"en-GB": "France"}');
    insert into erp.customer_group (name) values ('{"en-GB": "Retail"}');
    insert into erp.payment_method (technical_name, name, position) values ('card', '{"en-GB": "Card"}', 1);
    insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
      select '{"en-GB": "Shop"}', c.id, u.id, g.id, p.id
      from erp.country c, erp.currency u, erp.customer_group g, erp.payment_method p where u.iso_code = 'USD'`);
  const [channel] = await shop.sql("select id from erp.sales_channel");
  shop.id.channel = `gid://service/SalesChannel/${channel.id}`;
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const fields = `id number state revision amountNet amountTotal taxStatus validUntil sentAt declineReason
  shippingAddress billingAddress currency { isoCode } order { id }
  lineItems { edges { node { id identifier type label position quantity unitPrice totalPrice taxRate } } }`;
const address = { company: "Café Zeitlos", street: "Rue 5", city: "Annecy", countryIso: "FR" };
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();
const hammers = { identifier: "1", productNumber: "hammer", quantity: 3, unitPrice: 9.99, taxRate: 19 };

const upsert = (rows: object[], rest: object = {}) =>
  shop.mutate(
    "quotesUpsert",
    { quotes: rows, ...rest },
    { select: `quotes { ${fields} } results { outcome userErrors { code field } }` },
  );
const outcomes = ({ results }: any) => results.map(({ outcome }: any) => outcome).join();
/** A new quote over three hammers. */
async function make(rest: object = {}): Promise<any> {
  const row = { currencyId: shop.id.EUR, validUntil: tomorrow(), lineItems: [hammers], ...rest };
  const { quotes, userErrors } = await upsert([row]);
  assert.deepEqual(userErrors, []);
  return quotes[0];
}
const act = (action: string, id: string, rest: object = {}, options: object = {}) => {
  const order = action === "Accept" ? "order { id orderNumber amountNet amountTotal }" : "";
  return shop.mutate(
    `quote${action}`,
    { id, ...rest },
    { select: `quote { ${fields} } ${order}`, ...options },
  );
};
async function sent(rest: object = {}): Promise<any> {
  const { quote, userErrors } = await act("Send", (await make(rest)).id);
  assert.deepEqual(userErrors, []);
  return quote;
}
describe("quotesUpsert", () => {
  it("makes a quote with the next free number, and the currency of its channel", async () => {
    await shop.sql(`insert into erp.quote (number, currency_id)
      select replace(r.pattern, '{n}', (r.last_number + 1)::text), c.id
      from erp.number_range r, erp.currency c where r.technical_name = 'quote' and c.iso_code = 'EUR'`);
    const { quotes } = await upsert([{ salesChannelId: shop.id.channel, lineItems: [hammers] }]);
    const [quote] = quotes;
    assert.equal(quote.number, "Q-10002");
    assert.deepEqual([quote.state, quote.currency.isoCode, quote.taxStatus], ["draft", "USD", "gross"]);
    assert.deepEqual([quote.amountTotal, quote.amountNet, quote.revision], [29.97, 25.18, 1]);
    const [{ node }] = quote.lineItems.edges;
    assert.deepEqual([node.identifier, node.label, node.position, node.taxRate], ["1", "Hammer", 1, 19]);
  });

  it("changes what differs, and writes nothing otherwise", async () => {
    const row = { number: "Q-A", currencyId: shop.id.EUR, comment: "one", billingAddress: address };
    const lines = [hammers, { identifier: "2", label: "Engraving", quantity: 1, unitPrice: 5, taxRate: 7 }];
    assert.equal(outcomes(await upsert([{ ...row, lineItems: lines }])), "CREATED");
    assert.equal(outcomes(await upsert([{ ...row, lineItems: lines }])), "UNCHANGED");
    const { quotes, ...changed } = await upsert([
      { number: "Q-A", lineItems: [{ ...hammers, quantity: 1 }] },
    ]);
    assert.equal(outcomes(changed), "UPDATED");
    assert.deepEqual([quotes[0].amountTotal, quotes[0].amountNet], [9.99, 8.39]);
    assert.deepEqual(quotes[0].billingAddress, address);
    const net = await upsert([{ id: quotes[0].id, taxStatus: "tax-free", number: "Q-B" }]);
    assert.deepEqual([net.quotes[0].number, net.quotes[0].amountNet], ["Q-B", 9.99]);
  });

  it("does the rows that it can, if partial", async () => {
    const rows = [{ number: "Q-P1", currencyId: shop.id.EUR }, { number: "Q-P2" }];
    assert.deepEqual(refusals(await upsert(rows)), [["REQUIRED", "quotes.1.currencyId"]]);
    const { results } = await upsert(rows, { partial: true });
    assert.deepEqual(
      results.map(({ outcome }: any) => outcome),
      ["CREATED", "REFUSED"],
    );
  });

  const faults: [string, (quote: any) => object, string, string | null][] = [
    ["an unknown quote", () => ({ id: `gid://service/Quote/${noUuid}` }), "NOT_FOUND", "id"],
    ["a blank number", () => ({ number: " " }), "INVALID", "number"],
    [
      "an unknown customer",
      () => ({ customerId: `gid://service/Customer/${noUuid}` }),
      "NOT_FOUND",
      "customerId",
    ],
    ["another tax status", () => ({ taxStatus: "some" }), "INVALID", "taxStatus"],
    ["an address that is a text", () => ({ billingAddress: "Rue 5" }), "INVALID", "billingAddress"],
    ["a long comment", () => ({ comment: "x".repeat(10_001) }), "OUT_OF_RANGE", "comment"],
    [
      "an unknown product",
      () => ({ lineItems: [{ productNumber: "?", quantity: 1 }] }),
      "NOT_FOUND",
      "lineItems.0.productNumber",
    ],
    [
      "an unknown line",
      () => ({ lineItems: [{ id: `gid://service/QuoteLineItem/${noUuid}`, quantity: 1 }] }),
      "NOT_FOUND",
      "lineItems.0.id",
    ],
    ["no quantity", () => ({ lineItems: [{ label: "x" }] }), "REQUIRED", "lineItems.0.quantity"],
    [
      "a quantity of 0",
      () => ({ lineItems: [hammers, { label: "x", quantity: 0 }] }),
      "OUT_OF_RANGE",
      "lineItems.1.quantity",
    ],
    [
      "a tax rate of 101",
      () => ({ lineItems: [{ ...hammers, taxRate: 101 }] }),
      "OUT_OF_RANGE",
      "lineItems.0.taxRate",
    ],
    [
      "a large price",
      () => ({ lineItems: [{ ...hammers, unitPrice: 1e15 }] }),
      "OUT_OF_RANGE",
      "lineItems.0.unitPrice",
    ],
    [
      "a tax category without its rate",
      () => ({ lineItems: [{ ...hammers, taxCategory: "E" }] }),
      "INVALID",
      "lineItems.0.taxCategory",
    ],
    [
      "too many lines",
      () => ({ lineItems: Array.from({ length: 251 }, () => hammers) }),
      "TOO_MANY_LINES",
      "lineItems",
    ],
    [
      "a line twice",
      ({ lineItems }) => ({ lineItems: [1, 2].map(() => ({ id: lineItems.edges[0].node.id })) }),
      "NOT_UNIQUE",
      "lineItems.1",
    ],
  ];
  it("refuses what is wrong", async () => {
    const quote = await make();
    for (const [what, change, code, field] of faults) {
      const found = refusals(await upsert([{ id: quote.id, ...change(quote) }]));
      assert.ok(
        found.some(([c, f]) => c === code && f === `quotes.0.${field}`),
        `${what}: ${JSON.stringify(found)}`,
      );
    }
    assert.deepEqual(refusals(await upsert([])), [["REQUIRED", "quotes"]]);
    const other = await make();
    assert.deepEqual(refusals(await upsert([{ id: quote.id, number: other.number }])), [
      ["NOT_UNIQUE", "quotes.0.number"],
    ]);
    const token = await shop.token({ read: "all", write: ["orders"] });
    const { codes } = await shop.tryMutate("quotesUpsert", { quotes: [{ number: "x" }] }, { token });
    assert.deepEqual(codes, ["FORBIDDEN"]);
  });

  it("leaves a quote that was sent as it is, for SQL, too", async () => {
    const quote = await sent({ number: "Q-S" });
    for (const change of [{ comment: "x" }, { lineItems: [] }, { lineItems: [{ ...hammers, quantity: 4 }] }])
      assert.deepEqual(refusals(await upsert([{ id: quote.id, ...change }])), [["NOT_EDITABLE", "quotes.0"]]);
    assert.equal(outcomes(await upsert([{ number: "Q-S", lineItems: [hammers] }])), "UNCHANGED");
    for (const text of [
      "update erp.quote_line_item set quantity = 9 where quote_id = $1",
      "delete from erp.quote_line_item where quote_id = $1",
      "update erp.quote set tax_status = 'net' where id = $1",
      `insert into erp.quote_line_item (quote_id, identifier, label, quantity, total_price)
       select id, 'x', 'x', 1, 5 from erp.quote where id = $1`,
    ])
      await assert.rejects(shop.sql(text, quote.id), { code: "23001" });
  });

  it("follows lines that SQL changes", async () => {
    const { id } = await make();
    await shop.sql("update erp.quote_line_item set total_price = 11.9 where quote_id = $1", id);
    const [row] = await shop.sql("select amount_total, amount_net from erp.quote where id = $1", id);
    assert.deepEqual(Object.values(row).map(Number), [11.9, 10]);
    await shop.sql("delete from erp.quote where id = $1", id);
  });

  it("takes files", async () => {
    const token = await shop.token({ read: "all", write: "all" });
    const bulk = startTestBulk(shop);
    try {
      const lines = [
        { number: "Q-F1", currencyId: shop.id.EUR, lineItems: [hammers] },
        { number: "Q-F2", currencyId: shop.id.EUR, lineItems: [{ productNumber: "?", quantity: 1 }] },
      ];
      const file = lines.map((line) => JSON.stringify(line)).join("\n");
      const { status, body, text } = await upload(shop, token, "quotes", file);
      assert.equal(status, 202, text);
      const done = await ended(shop, token, body.bulkOperation.id);
      assert.deepEqual([done.createdCount, done.refusedCount], [1, 1]);
      const [error] = await linesAt(shop, done.errorsUrl);
      assert.deepEqual([error.line, error.code], [2, "NOT_FOUND"]);
    } finally {
      await bulk.stop();
    }
  });
});

describe("quoteSend", () => {
  it("needs lines with a price and a day in the future", async () => {
    const refused = async (rest: object) => refusals(await act("Send", (await make(rest)).id));
    assert.deepEqual(await refused({ lineItems: [] }), [["REQUIRED", "id"]]);
    assert.deepEqual(await refused({ lineItems: [{ label: "x", quantity: 1 }] }), [["PRICE_MISSING", "id"]]);
    assert.deepEqual(await refused({ validUntil: null }), [["REQUIRED", "id"]]);
    assert.deepEqual(await refused({ validUntil: "2026-01-01T00:00:00Z" }), [["OUT_OF_RANGE", "id"]]);
    assert.deepEqual(refusals(await act("Send", `gid://service/Quote/${noUuid}`)), [["NOT_FOUND", "id"]]);
  });

  it("sets the end of the merchant's days, and sends once", async () => {
    await shop.sql(
      "insert into erp.merchant (legal_name, quote_days, time_zone) values ('M', 14, 'Asia/Tokyo')",
    );
    const quote = await sent({ validUntil: null });
    assert.equal(quote.state, "sent");
    assert.ok(quote.sentAt);
    assert.match(quote.validUntil, /T14:59:59/);
    const days = (Date.parse(quote.validUntil) - Date.now()) / 86_400_000;
    assert.ok(days > 14 && days <= 15, String(days));
    const { userErrors } = await act("Send", quote.id);
    assert.equal(userErrors[0].code, "INVALID_STATE_TRANSITION");
    assert.deepEqual(userErrors[0].details.allowedActions, ["accept", "decline", "revise"]);
    await shop.sql("delete from erp.merchant");
  });

  it("sends open quotes, too", async () => {
    const { id } = await make();
    await shop.sql("update erp.quote set state = 'open' where id = $1", id);
    assert.equal(outcomes(await upsert([{ id, comment: "checked" }])), "UPDATED");
    assert.equal((await act("Send", id)).quote.state, "sent");
  });
});

describe("quoteDecline and quoteRevise", () => {
  it("keep why it was declined until it is written again", async () => {
    const { id, number } = await sent();
    assert.deepEqual(refusals(await act("Decline", id, { declineReason: "x".repeat(10_001) })), [
      ["OUT_OF_RANGE", "declineReason"],
    ]);
    const declined = (await act("Decline", id, { declineReason: "Too dear" })).quote;
    assert.deepEqual([declined.state, declined.declineReason], ["declined", "Too dear"]);
    assert.equal((await act("Decline", id)).userErrors[0].code, "INVALID_STATE_TRANSITION");
    const draft = (await act("Revise", id)).quote;
    assert.deepEqual([draft.state, draft.declineReason, draft.revision], ["draft", null, 2]);
    assert.equal((await act("Revise", id)).userErrors[0].code, "INVALID_STATE_TRANSITION");
    assert.deepEqual(refusals(await upsert([{ id, number: "other" }])), [
      ["NOT_EDITABLE", "quotes.0.number"],
    ]);
    assert.equal(outcomes(await upsert([{ number, lineItems: [{ ...hammers, unitPrice: 8 }] }])), "UPDATED");
    assert.equal((await act("Send", id)).quote.amountTotal, 24);
    const { userErrors } = await act("Accept", id, { revision: 1 });
    assert.deepEqual([userErrors[0].code, userErrors[0].details], ["INVALID", { revision: 2 }]);
    assert.deepEqual((await act("Accept", id, { revision: 2 })).userErrors, []);
    assert.equal((await act("Revise", id)).userErrors[0].code, "INVALID_STATE_TRANSITION");
  });
});

describe("a property of quotes", () => {
  it("is that their amounts, and those of their orders, are what ordersUpsert makes of the lines", async () => {
    const random = new Random(seed);
    const select = "orders { id amountNet amountTotal }";
    const linesOf = async (id: string) =>
      shop.sql(
        `select to_jsonb(l) - '{id,order_id,created_at,updated_at}'::text[] as line
         from erp.sales_order_line_item l where order_id = $1 order by position, l.id`,
        id,
      );
    for (let n = 0; n < 12; n++) {
      const lineItems = Array.from({ length: 1 + random.below(6) }, (_, line) => ({
        identifier: `L${line}`,
        ...(random.below(2)
          ? { productNumber: "nail" }
          : { label: "Thing", type: random.oneOf(["custom", "promotion"]) }),
        quantity: 1 + random.below(30),
        ...(random.below(8) && { unitPrice: Math.round(random.between(-500, 9_999)) / 100 }),
        ...(random.below(4) && { taxRate: random.oneOf([0, 7, 19, 20.5]) }),
        ...(random.below(5) === 0 && { totalPrice: random.between(0, 100), discountReason: "Friend" }),
        ...(random.below(5) === 0 && { unitCode: "KGM" }),
      }));
      const isPriced = lineItems.every(
        (line) => line.unitPrice !== undefined || line.totalPrice !== undefined,
      );
      const taxStatus = random.oneOf(["gross", "net", "tax-free"]);
      const quote = await make({ lineItems, taxStatus });
      const { orders } = await shop.mutate(
        "ordersUpsert",
        { orders: [{ orderNumber: `E-${n}`, currencyId: shop.id.EUR, taxStatus, lineItems }] },
        { select },
      );
      const [expected] = orders;
      assert.deepEqual(
        [quote.amountNet, quote.amountTotal],
        [expected.amountNet, expected.amountTotal],
        `seed ${seed}`,
      );
      if (quote.amountTotal === null) continue;
      await act("Send", quote.id);
      const { order } = await act("Accept", quote.id);
      assert.deepEqual([order.amountNet, order.amountTotal], [expected.amountNet, expected.amountTotal]);
      assert.deepEqual(await linesOf(order.id), await linesOf(expected.id), `seed ${seed}`);
      const [shown] = await shop.sql(
        "select erp.quote_config($1, current_date) -> 'totals' as totals",
        quote.id,
      );
      if (isPriced) assert.equal(shown.totals.total, quote.amountTotal);
    }
  });
});
