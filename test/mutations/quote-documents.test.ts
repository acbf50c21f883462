import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { noUuid } from "../lib/ids.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { refusals } from "../lib/shop.ts";
import { versions as everyVersion } from "../../src/versions/versions.ts";
import { readPdf } from "../pdf/pdf.ts";

// documentCreate of quotes and supplier orders: drafts until they are sent, then one document for each state
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop({ versions: everyVersion });
  await shop.sql("update erp.currency set position = 1");
  await shop.sql(`insert into erp.merchant (legal_name, address, vat_id, quote_terms, supplier_order_terms) values
    ('Muster GmbH', '{"street": "Hafenweg 1", "zipcode": "20457", "city": "Hamburg", "countryIso": "DE"}',
     'DE999999999', '{"en-GB": "Prices hold while stocks last.", "de-DE": "Solange der Vorrat reicht."}',
     '{"en-GB": "Deliver on pallets only."}')`);
});
after(() => shop.close());

const address = { company: "Café Zeitlos", street: "Gasse 5", city: "Wien", countryIso: "AT" };
const lines = [
  { identifier: "1", productNumber: "hammer", quantity: 3, unitPrice: 119, taxRate: 19 },
  { identifier: "2", label: "Engraving", description: "By hand", quantity: 1, unitPrice: 21.4, taxRate: 7 },
];
const fields = `id documentNumber config downloadUrl formats documentType { technicalName }
  order { id } quote { number } supplierOrder { number } referencedDocument { documentNumber }`;
const create = (input: object, options: object = {}) =>
  shop.mutate("documentCreate", input, { select: `document { ${fields} } order { id }`, ...options });
async function quote(rest: object = {}): Promise<{ id: string; number: string }> {
  const row = {
    currencyId: shop.id.EUR,
    validUntil: "2099-06-30T12:00:00Z",
    billingAddress: address,
    lineItems: lines,
  };
  const { quotes } = await shop.mutate(
    "quotesUpsert",
    { quotes: [{ ...row, ...rest }] },
    { select: "quotes { id number }" },
  );
  return quotes[0];
}
const quoted = async ({ id }: { id: string }) => {
  const { document, userErrors } = await create({ quoteId: id, documentType: "quote" });
  assert.deepEqual(userErrors, []);
  return document;
};
async function textOf({ downloadUrl }: any): Promise<string> {
  const response = await fetch(new URL(downloadUrl, shop.url));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/pdf");
  const { pages } = await readPdf(new Uint8Array(await response.arrayBuffer()));
  return pages.join(" ").replaceAll("\u00a0", " ");
}
function assertHas(text: string, ...parts: string[]): void {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    assert.ok(at >= 0, `“${part}” is not in its place in: ${text}`);
    from = at + part.length;
  }
}
const call = async (name: string, input: object) => {
  const { userErrors } = await shop.mutate(name, input);
  assert.deepEqual(userErrors, []);
};

describe("the document of a quote", () => {
  it("is a draft that a later one replaces, until the quote is sent", async () => {
    const { id, number } = await quote();
    const draft = await quoted({ id });
    assert.deepEqual(
      [draft.documentNumber, draft.order, draft.quote, draft.documentType.technicalName, draft.formats],
      [null, null, { number }, "quote", ["pdf"]],
    );
    assertHas(await textOf(draft), "Quote (Draft)");
    await call("quoteSend", { id });
    const sent = await quoted({ id });
    assert.deepEqual([sent.documentNumber, sent.referencedDocument], [number, { documentNumber: null }]);
    assert.equal((await quoted({ id })).id, sent.id);
    await call("quoteRevise", { id });
    await call("quotesUpsert", { quotes: [{ id, lineItems: lines.slice(0, 1) }] });
    await call("quoteSend", { id });
    const second = await quoted({ id });
    assert.deepEqual(
      [second.documentNumber, second.referencedDocument.documentNumber],
      [`${number}-2`, number],
    );
    assertHas(await textOf(sent), "Engraving");
    assert.doesNotMatch(await textOf(second), /Engraving/);
    const data = await shop.read(
      `query ($id: ID!) { quote(id: $id) { documents { edges { node { documentNumber } } } } }`,
      { id },
    );
    assert.deepEqual(
      data.quote.documents.edges.map(({ node }: any) => node.documentNumber),
      [null, number, `${number}-2`],
    );
  });

  it("shows what was offered, with taxes and totals as an invoice has them", async () => {
    const q = await quote({ number: "Q-PDF" });
    await call("quoteSend", { id: q.id });
    const text = await textOf(await quoted(q));
    assertHas(text, "Café Zeitlos", "Gasse 5", "Number Q-PDF", "Valid until 30 Jun 2099", "Quote Q-PDF");
    assertHas(text, "We offer you:", "1 Hammer hammer 3 119.00 € 19% 357.00 €", "2 Engraving", "By hand");
    assertHas(text, "Net total 320.00 €", "VAT 7% on 20.00 € 1.40 €", "VAT 19% on 300.00 € 57.00 €");
    assertHas(text, "Total 378.40 €", "Prices hold while stocks last.", "Prices include VAT.");
  });

  it("has the language of the customer's country", async () => {
    await shop.sql(
      "insert into erp.language (code, name) values ('de-DE', 'Deutsch') on conflict do nothing",
    );
    const text = await textOf(
      await quoted(await quote({ billingAddress: { ...address, countryIso: "DE" } })),
    );
    assertHas(
      text,
      "Gültig bis 30.06.2099",
      "Angebot (Entwurf)",
      "Wir bieten Ihnen an:",
      "Solange der Vorrat reicht.",
    );
  });

  it("is refused for other types, details and numbers", async () => {
    const q = await quote({ number: "Q-R" });
    const refused = async (input: object) => refusals(await create({ documentType: "quote", ...input }));
    assert.deepEqual(await refused({}), [["REQUIRED", null]]);
    assert.deepEqual(
      await refused({ quoteId: q.id, supplierOrderId: `gid://service/SupplierOrder/${noUuid}` }),
      [["INVALID", null]],
    );
    assert.deepEqual(await refused({ quoteId: q.id, amount: 1 }), [["INVALID", null]]);
    assert.deepEqual(await refused({ quoteId: q.id, documentType: "invoice" }), [
      ["INVALID", "documentType"],
    ]);
    assert.deepEqual(await refused({ quoteId: `gid://service/Quote/${noUuid}` }), [["NOT_FOUND", "quoteId"]]);
    const other = await quote({ number: "Q-R-2" });
    for (const { id } of [q, other]) await call("quoteSend", { id });
    await quoted(other);
    await quoted(q);
    await call("quoteRevise", { id: q.id });
    await call("quotesUpsert", { quotes: [{ id: q.id, lineItems: lines.slice(1) }] });
    await call("quoteSend", { id: q.id });
    assert.deepEqual(await refused({ quoteId: q.id }), [["NOT_UNIQUE", "quoteId"]]);
  });

  it("isn't in the frozen version, which promises an order, and is for readers of documents", async () => {
    const document = await quoted(await quote());
    const query = "{ documents(first: 250) { edges { node { id order { id } } } } }";
    const all = await shop.token({ read: "all" });
    const frozen = await shop.ask(all, { query }, { version: "2026-06-unstable" });
    assert.equal(frozen.body.errors, undefined, frozen.text);
    const has = ({ body }: any) => body.data.documents.edges.some(({ node }: any) => node.id === document.id);
    assert.equal(has(frozen), false);
    assert.equal(has(await shop.ask(all, { query })), true);
    const token = await shop.token({ read: ["quotes"] });
    assert.deepEqual((await shop.ask(token, { query })).codes.slice(0, 1), ["FORBIDDEN"]);
  });

  it("belongs to one thing, and keeps it", async () => {
    const document = await quoted(await quote());
    await assert.rejects(shop.sql("update erp.document set quote_id = null where id = $1", document.id), {
      code: "23514",
    });
  });
});

describe("the document of a supplier order", () => {
  const order = async (rest: object = {}) => {
    const lineItems = [{ productId: shop.id.hammer, quantity: 10, unitPrice: 5, taxRate: 19 }];
    const { supplierOrder, userErrors } = await shop.mutate(
      "supplierOrderCreate",
      { supplierId: shop.id.forge, deliveryDate: "2099-07-01T10:00:00Z", lineItems, ...rest },
      { select: "supplierOrder { id number amountNet amountTotal }" },
    );
    assert.deepEqual(userErrors, []);
    return supplierOrder;
  };
  const ordered = async ({ id }: any) => {
    const { document, userErrors } = await create({ supplierOrderId: id, documentType: "supplier_order" });
    assert.deepEqual(userErrors, []);
    return document;
  };

  it("shows numbers, addresses, lines and taxes, and follows what changes after it was sent", async () => {
    const made = await order();
    assert.equal((await ordered(made)).documentNumber, null);
    await call("supplierOrderSend", { id: made.id });
    const sent = await ordered(made);
    assert.deepEqual([sent.documentNumber, sent.supplierOrder], [made.number, { number: made.number }]);
    const text = await textOf(sent);
    assertHas(
      text,
      "forge",
      `Number ${made.number}`,
      "Delivery by 1 Jul 2099",
      `Purchase order ${made.number}`,
    );
    assertHas(text, "We order from you:", "1 Hammer hammer 10 5.00 € 19% 50.00 €", "Net total 50.00 €");
    assertHas(
      text,
      "VAT 19% on 50.00 € 9.50 €",
      "Total 59.50 €",
      "Deliver on pallets only.",
      "Delivery address: Hall",
    );
    assert.equal((await ordered(made)).id, sent.id);
    await call("supplierOrderConfirm", { id: made.id, supplierOrderNumber: "AB-1" });
    const second = await ordered(made);
    assert.deepEqual(
      [second.documentNumber, second.referencedDocument.documentNumber],
      [`${made.number}-2`, made.number],
    );
    assertHas(await textOf(second), "Your reference AB-1");
  });

  it("has totals that add up, by any tax status", async () => {
    const rates = [7, 19, 7, 0];
    for (const taxStatus of ["net", "gross", "tax-free"]) {
      const lineItems = rates.map((taxRate, n) => ({
        productId: [shop.id.hammer, shop.id.nail, shop.id.glue, shop.id.hammer][n],
        quantity: n + 1,
        unitPrice: 3.333 * (n + 1),
        taxRate,
      }));
      const made = await order({ taxStatus, lineItems });
      const { totals } = (await ordered(made)).config;
      assert.deepEqual([totals.net, totals.total], [made.amountNet, made.amountTotal]);
      const tax = totals.taxes.reduce((sum: number, one: any) => sum + Math.round(one.tax * 100), 0);
      assert.equal(tax, Math.round((made.amountTotal - made.amountNet) * 100));
      assert.equal(totals.taxes.length, taxStatus === "tax-free" ? 0 : 3);
    }
    const text = await textOf(
      await ordered(await order({ lineItems: [{ productId: shop.id.hammer, quantity: 2 }] })),
    );
    assert.doesNotMatch(text, /Total/);
  });

  it("is refused for cancelled orders, and keeps its order when it has a number", async () => {
    const refused = async (id: string) =>
      refusals(await create({ supplierOrderId: id, documentType: "supplier_order" }));
    assert.deepEqual(await refused(`gid://service/SupplierOrder/${noUuid}`), [
      ["NOT_FOUND", "supplierOrderId"],
    ]);
    const [draft, made] = [await order(), await order()];
    await ordered(draft);
    await call("supplierOrderDelete", { id: draft.id });
    await call("supplierOrderSend", { id: made.id });
    await ordered(made);
    await call("supplierOrderCancel", { id: made.id });
    assert.deepEqual(await refused(made.id), [["INVALID", "supplierOrderId"]]);
    assert.deepEqual(refusals(await shop.mutate("supplierOrderDelete", { id: made.id })), [
      ["REFERENCE_IN_USE", "id"],
    ]);
    const { userErrors } = await create({ supplierOrderId: made.id, documentType: "quote" });
    assert.deepEqual([userErrors[0].code, userErrors[0].field], ["INVALID", ["documentType"]]);
  });
});
