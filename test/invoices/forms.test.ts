import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import type { OrderLine, ShippingShop, ShopOrder } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { readPdf } from "../pdf/pdf.ts";

// The form of a customer's invoices decides what is checked, and which files the archive gets
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
  await shop.store("nail", "A-1", 10_000);
  await shop.sql(`
    insert into erp.country (iso_code, name) values ('DE', '{"en-GB": "Germany"}'), ('FR', '{"en-GB": "France"}') on conflict do nothing;
    insert into erp.customer_group (name) values ('{"en-GB": "All"}');
    insert into erp.payment_method (technical_name, name, means_code) values ('transfer', '{"en-GB": "Transfer"}', '58');
    insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
      select '{"en-GB": "Shop"}', c.id, u.id, g.id, p.id from erp.country c, erp.currency u, erp.customer_group g,
        erp.payment_method p where u.is_default_currency and c.iso_code = 'DE' and p.technical_name = 'transfer';
    insert into erp.customer (customer_number, email, first_name, last_name, group_id, sales_channel_id)
      select 'C-FORMS', 'a@example.org', 'Anna', 'Becker', customer_group_id, id from erp.sales_channel`);
});
after(() => shop.close());
beforeEach(() =>
  shop.sql(`
    delete from erp.merchant;
    insert into erp.merchant (legal_name, address, vat_id, email, phone, contact_name, electronic_address,
      electronic_address_scheme, iban, payment_days, payment_terms)
    values ('Nägel GmbH', '{"street": "Weg 1", "zipcode": "20457", "city": "Hamburg", "countryIso": "DE"}', 'DE999999999',
      'shop@example.org', '+49 40 1', 'Billing', 'billing@example.org', 'EM', 'DE50000000000123456789', 14,
      '{"en-GB": "Payable until {dueDate}.", "de-DE": "Zahlbar bis {dueDate}."}');
    update erp.customer set invoice_form = 'zugferd', buyer_reference = null, vat_ids = '["FR12345678901"]',
      electronic_address = 'anna@example.org', electronic_address_scheme = 'EM'`),
);
afterEach(() => assertLedgerIsRight(shop));

const address = (countryIso: string) =>
  JSON.stringify({
    company: "Becker SARL",
    lastName: "Becker",
    street: "Rue 1",
    zipcode: "75001",
    city: "Paris",
    countryIso,
  });
const nails: OrderLine = { product: "nail", quantity: 3, price: 11.9, taxRate: 19 };
async function assigned(changes = "", line: OrderLine = nails): Promise<ShopOrder> {
  const order = await shop.order([line], [{ lines: [[0, line.quantity]] }]);
  await shop.sql(
    `update erp.sales_order set customer_id = (select id from erp.customer), billing_address = '${address("DE")}',
       shipping_address = '${address("DE")}', payment_method_id = (select id from erp.payment_method) ${changes} where id = $1`,
    order.id,
  );
  return order;
}
const complete = async (order: ShopOrder) => {
  const payload = await shop.mutate(
    "orderShipmentComplete",
    { orderId: order.id, documents: ["invoice"] },
    {
      select:
        "order { state } documents { id documentNumber config } warnings { code message field details }",
    },
  );
  assert.deepEqual(payload.userErrors, []);
  assert.equal(payload.order.state, "completed");
  return payload;
};
const create = (order: ShopOrder, documentType: string) =>
  shop.mutate(
    "documentCreate",
    { orderId: order.id, documentType },
    { select: "document { id documentNumber config }" },
  );
const xmlOf = async (document: { id: string }) =>
  (
    await shop.sql(
      "select convert_from(content, 'UTF8') as xml from erp.document_file where document_id = $1 and format = 'xml'",
      document.id,
    )
  )[0]?.xml as string | undefined;

describe("an invoice of the form zugferd", () => {
  it("is archived as XML when it gets its number, and so is what takes it back", async () => {
    const order = await assigned(
      ", paid_amount = 5.70, purchase_order_number = 'PO-7', buyer_reference = 'Team 4'",
    );
    const { documents, warnings } = await complete(order);
    assert.deepEqual(warnings, []);
    const [{ config, documentNumber }] = documents;
    assert.deepEqual(
      [config.form, config.typeCode, config.standard.fileName],
      ["zugferd", "380", "factur-x.xml"],
    );
    assert.deepEqual([config.totals.total, config.totals.paid, config.totals.due], [35.7, 5.7, 30]);
    assert.match(config.paymentTerms, /^Zahlbar bis \d\d\.\d\d\.\d{4}\.$/);
    const xml = (await xmlOf(documents[0]))!;
    for (const text of [
      documentNumber,
      "PO-7",
      "Team 4",
      "Nägel GmbH",
      "DE50000000000123456789",
      ">380<",
      ">30.00<",
    ])
      assert.ok(xml.includes(text), text);
    const { document: storno } = await create(order, "storno");
    const reversed = (await xmlOf(storno))!;
    for (const text of [">384<", documentNumber, ">-3<", ">-35.70<"])
      assert.ok(reversed.includes(text), text);
    const [figures] = await shop.sql(
      "select type_code, form, currency_code, net::float8, tax::float8, total::float8, due::float8 from erp.invoice_figures where document_id = $1",
      storno.id,
    );
    assert.deepEqual(figures, {
      type_code: "384",
      form: "zugferd",
      currency_code: "EUR",
      net: -30,
      tax: -5.7,
      total: -35.7,
      due: -35.7,
    });
  });

  it("is a PDF/A-3 that contains the archived XML; both are downloaded, and other formats aren't there", async () => {
    const order = await assigned();
    const [document] = (await complete(order)).documents;
    const [{ url }] = await shop.sql(
      "select download_url as url from api_unstable.documents where id = $1",
      document.id,
    );
    const get = (parameters = "") => fetch(`${shop.url}${url}${parameters}`);
    const xml = await get("?format=xml");
    assert.deepEqual(
      [xml.status, xml.headers.get("content-type"), xml.headers.get("content-disposition")],
      [
        200,
        "application/xml",
        `attachment; filename="${document.documentNumber}.xml"; filename*=UTF-8''${document.documentNumber}.xml`,
      ],
    );
    const text = await xml.text();
    assert.equal(text, await xmlOf(document));
    const first = await (await get()).bytes();
    const { files, metadata } = await readPdf(first);
    assert.equal(files.get("factur-x.xml")!.toString(), text);
    assert.deepEqual(
      ["pdfaid:part", "pdfaid:conformance", "fx:documentfilename", "fx:conformancelevel"].map((name) =>
        metadata.get(name),
      ),
      ["3", "B", "factur-x.xml", "EN 16931"],
    );
    const raw = Buffer.from(first).toString("latin1");
    for (const part of ["/AFRelationship /Alternative", "/S /GTS_PDFA1", "/AF [", "/Subtype /text#2Fxml"])
      assert.ok(raw.includes(part), part);
    assert.deepEqual(await (await get("?format=pdf")).bytes(), first);
    for (const format of ["docx", "", "XML", "xml&format=pdf", "%00", "x".repeat(11)])
      assert.equal((await get(`?format=${format}`)).status, 404, format);
    const { document: note } = await shop.mutate(
      "documentCreate",
      { orderId: order.id, documentType: "delivery_note" },
      { select: "document { downloadUrl }" },
    );
    assert.equal((await fetch(`${shop.url}${note.downloadUrl}?format=xml`)).status, 404);
  });

  it("is not made while a field is missing; the goods are shipped, and the warning names the field", async () => {
    await shop.sql("update erp.merchant set legal_name = null, vat_id = null");
    const order = await assigned();
    const { documents, warnings } = await complete(order);
    assert.deepEqual(documents, []);
    assert.ok(warnings.every(({ code }: any) => code === "DOCUMENT_NOT_MADE"));
    const rules = warnings.map(({ details }: any) => details.rule);
    assert.ok(rules.includes("BR-06"), rules.join());
    assert.match(warnings[0].message, /^Order O-\d+: /);
    assert.deepEqual(
      [warnings[0].field.join("."), warnings[0].details.documentType],
      ["documents.0", "invoice"],
    );
    const refused = await create(order, "invoice");
    assert.ok(refusals(refused).every(([code]) => code === "INVALID"));
    assert.ok(refused.userErrors.some(({ details }: any) => details.rule === "BR-06"));
    await shop.sql("update erp.merchant set legal_name = 'Nägel GmbH', vat_id = 'DE999999999'");
    const { userErrors, document } = await create(order, "invoice");
    assert.deepEqual(userErrors, []);
    const next = await complete(await assigned());
    const numberOf = (text: string) => Number(text.replace(/\D/g, ""));
    assert.equal(numberOf(next.documents[0].documentNumber), numberOf(document.documentNumber) + 1);
    assert.deepEqual(await shop.sql("select * from erp.number_proof"), []);
  });

  it("is made after its lines were mended, although the order is completed", async () => {
    const order = await assigned();
    await shop.sql("update erp.sales_order_line_item set unit_code = 'QQ' where order_id = $1", order.id);
    const { warnings } = await complete(order);
    assert.deepEqual(
      warnings.map(({ details }: any) => [details.rule, details.field]),
      [["BR-CL-23", "order.lines[0].unitCode"]],
    );
    const upsert = (line: object) =>
      shop.mutate(
        "ordersUpsert",
        { orders: [{ id: order.id, lineItems: [{ id: order.lines[0], ...line }] }] },
        {},
      );
    assert.deepEqual(refusals(await upsert({ unitCode: "C62" })), []);
    assert.deepEqual(refusals(await upsert({ label: "Other" })), [["NOT_EDITABLE", "orders.0.lineItems.0"]]);
    assert.deepEqual(refusals(await create(order, "invoice")), []);
    assert.deepEqual(refusals(await upsert({ taxCategory: "S" })), [
      ["NOT_EDITABLE", "orders.0.lineItems.0.taxCategory"],
    ]);
  });

  it("has the tax category that the line or the order says, with its reason", async () => {
    const reverse = await assigned("", { ...nails, taxRate: 0 });
    await shop.sql(
      "update erp.sales_order_line_item set tax_category = 'AE' where order_id = $1",
      reverse.id,
    );
    const [{ config }] = (await complete(reverse)).documents;
    assert.deepEqual(
      config.totals.taxes.map(({ category, rate, exemptionCode }: any) => [category, rate, exemptionCode]),
      [["AE", 0, "VATEX-EU-AE"]],
    );
    assert.match(config.totals.taxes[0].reason, /§ 13b/);
    const abroad = await assigned(", tax_status = 'tax-free'");
    await shop.sql(
      `update erp.sales_order set shipping_address = '${address("FR")}' where id = $1`,
      abroad.id,
    );
    const [{ config: supply }] = (await complete(abroad)).documents;
    assert.deepEqual(
      [supply.totals.taxes[0].category, supply.totals.taxes[0].exemptionCode, supply.taxExemption],
      ["K", "VATEX-EU-IC", "intra_community"],
    );
    assert.ok((await xmlOf((await create(abroad, "credit_note")).document))!.includes(">381<"));
  });
});

describe("an invoice of the form xrechnung", () => {
  it("also needs what XRechnung demands, and is checked by no rule that the form doesn't have", async () => {
    await shop.sql("update erp.customer set invoice_form = 'xrechnung'");
    const order = await assigned();
    const { warnings } = await complete(order);
    assert.deepEqual(
      warnings.map(({ code, details }: any) => [code, details.rule]),
      [["DOCUMENT_NOT_MADE", "BR-DE-15"]],
    );
    await shop.sql("update erp.customer set buyer_reference = '04011000-12345-34'");
    const { userErrors, document } = await create(order, "invoice");
    assert.deepEqual(userErrors, []);
    assert.ok((await xmlOf(document))!.includes("xrechnung_3.0"));
    const pdf = await (async () => {
      await shop.sql("update erp.customer set invoice_form = 'pdf', buyer_reference = null");
      return (await complete(await assigned())).documents[0];
    })();
    assert.equal(await xmlOf(pdf), undefined);
    assert.equal(pdf.config.standard, null);
  });
});
