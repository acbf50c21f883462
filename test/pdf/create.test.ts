import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { pdfConfig } from "../../src/pdf/config.ts";
import { noUuid } from "../lib/ids.ts";
import { createDocument, openDocumentShop } from "./document-shop.ts";
import type { DocumentShop } from "./document-shop.ts";
import { readPdf } from "./pdf.ts";

let shop: DocumentShop;
before(async () => {
  shop = await openDocumentShop();
});
after(async () => {
  await shop.close();
});

const types = ["invoice", "delivery_note", "credit_note", "storno"];
const counter = (number: string) => Number(number.split("-").at(-1));

/** Fails unless the work is refused with this user error. */
async function assertRefused(work: Promise<unknown>, code: string, message: RegExp): Promise<void> {
  await assert.rejects(work, (error: any) => {
    assert.equal(error.code, "UE001", error);
    const [userError] = JSON.parse(error.detail);
    assert.deepEqual([userError.code, userError.field], [code, null]);
    assert.match(userError.message, message);
    return true;
  });
}

test("the first documents of an empty database get the first numbers, and can be opened", async () => {
  const [order, other] = [await shop.order(), await shop.order()];
  const numbers = ["INV-10001", "DN-10001", "CN-10001", "ST-10001"];
  for (const [i, type] of types.entries()) {
    // The first invoice has been credited by then
    if (type === "storno") await shop.create(other, "invoice");
    const {
      id,
      document_number,
      deep_link_code,
      config,
      static: isStatic,
      sent,
    } = await shop.find(await shop.create(type === "storno" ? other : order, type));
    assert.deepEqual([document_number, isStatic, sent], [numbers[i], false, false]);
    const { documentNumber, documentType, documentDate } = pdfConfig.parse(config);
    assert.deepEqual([documentNumber, documentType], [numbers[i], type]);
    assert.ok(Math.abs(Date.parse(documentDate) - Date.now()) < 2 * 86_400_000);
    const response = await fetch(`${shop.url}/api/_action/document/${id}/${deep_link_code}`);
    assert.equal(response.status, 200);
    const { title, pages } = await readPdf(await response.bytes());
    assert.ok(title.endsWith(` ${numbers[i]}`), title);
    assert.ok(pages[0]!.includes("Hammer"));
  }
});

test("the config has all that the document shows", async () => {
  const { config } = await shop.find(await shop.create(await shop.order(), "invoice"));
  const { lines, totals, orderNumber, documentNumber, documentDate, ...rest } = config;
  const address = { lastName: "Becker", city: "Bremen", countryIso: "DE" };
  assert.match(orderNumber, /^SO-/);
  assert.match(documentNumber, /^INV-/);
  assert.match(documentDate, /^\d{4}-\d\d-\d\d$/);
  assert.deepEqual(rest, {
    documentType: "invoice",
    title: "Rechnung",
    locale: "de-DE",
    displayPrices: true,
    orderDate: "2026-05-01",
    customerNumber: "C-1",
    customerVatId: "DE1",
    taxStatus: "gross",
    taxExemption: null,
    typeCode: "380",
    form: "pdf",
    standard: null,
    dueDate: null,
    paymentTerms: null,
    paymentMeansCode: "ZZZ",
    buyerReference: null,
    purchaseOrderNumber: null,
    buyer: { email: "a@example.org", registrationId: null, electronicAddress: null },
    allowances: [
      { amount: 7.15, reason: "Sale", taxCategory: "S", taxRate: 7 },
      { amount: 3.57, reason: "Sale", taxCategory: "S", taxRate: 19 },
    ],
    charges: [],
    prepayments: [],
    deliveryDate: { from: documentDate, to: documentDate },
    seller: null,
    taxInDefaultCurrency: null,
    currency: { isoCode: "EUR", symbol: "€", position: 1 },
    shippingMethod: "Express",
    paymentMethod: "Vorkasse",
    billingAddress: address,
    shippingAddress: address,
    sender: {
      name: "Laden",
      address: { street: "Hafenweg 1", zipcode: "20457", city: "Hamburg", countryIso: "DE" },
    },
  });
  const description = null;
  const rated = {
    lineId: undefined,
    kind: "line",
    gtin: null,
    unitCode: "C62",
    discount: null,
    baseQuantity: 1,
  };
  assert.ok(lines.every(({ lineId }: any) => /^[0-9a-f-]{36}$/.test(lineId)));
  assert.deepEqual(
    lines.map((line: any) => ({ ...line, lineId: undefined })),
    [
      {
        position: 1,
        label: "Hammer",
        description,
        productNumber: "hammer",
        quantity: 1,
        unitPrice: 119,
        total: 119,
        taxRate: 19,
        ...rated,
        taxCategory: "S",
        net: 100,
        netPrice: 100,
      },
      {
        position: 2,
        label: "Book",
        description,
        productNumber: null,
        quantity: 2,
        unitPrice: 107,
        total: 214,
        taxRate: 7,
        ...rated,
        taxCategory: "S",
        net: 200,
        netPrice: 100,
      },
      {
        position: 3,
        label: "Sale",
        description,
        productNumber: null,
        quantity: 1,
        unitPrice: -11.9,
        total: -11.9,
        taxRate: null,
        lineId: undefined,
        kind: "allowance",
      },
    ],
  );
  assert.deepEqual(totals, {
    net: 289.28,
    taxes: [
      { rate: 7, net: 192.85, tax: 13.5, category: "S", exemptionCode: null, reason: null },
      { rate: 19, net: 96.43, tax: 18.32, category: "S", exemptionCode: null, reason: null },
    ],
    total: 321.1,
    lineNet: 300,
    allowances: 10.72,
    charges: 0,
    paid: 0,
    due: 321.1,
  });
});

test("prices follow the tax status of the order", async () => {
  const figures = async (taxStatus: string) => {
    const { config } = await shop.find(await shop.create(await shop.order({ taxStatus }), "invoice"));
    const { lines, totals } = pdfConfig.parse(config);
    const [{ unitPrice, total, taxRate }] = lines as [(typeof lines)[0]];
    return [unitPrice, total, taxRate, totals!.net, totals!.total, totals!.taxes.length];
  };
  assert.deepEqual(await figures("gross"), [119, 119, 19, 289.28, 321.1, 2]);
  assert.deepEqual(await figures("net"), [100, 100, 19, 289.28, 321.1, 2]);
  assert.deepEqual(await figures("tax-free"), [119, 119, 0, 321.1, 321.1, 1]);
});

test("a delivery note has goods, but neither prices nor discounts", async () => {
  const { config } = await shop.find(await shop.create(await shop.order(), "delivery_note"));
  assert.deepEqual(
    config.lines.map(({ label, quantity }: any) => [label, quantity]),
    [
      ["Hammer", 1],
      ["Book", 2],
    ],
  );
  // Ids may have any digits within
  assert.doesNotMatch(JSON.stringify(config), /\b(119|107|11\.9)\b|Price"|"total"/);
});

test("the language is that of the billing address, or of the sales channel", async () => {
  const locale = async (countryIso: string | null) =>
    (await shop.find(await shop.create(await shop.order({ countryIso }), "invoice"))).config.locale;
  assert.equal(await locale("GB"), "en-GB");
  assert.equal(await locale("DE"), "de-DE");
  assert.equal(await locale("AT"), "fr-FR");
  assert.equal(await locale(null), "fr-FR");
});

test("what happens to the order afterwards doesn't change the document", async () => {
  const order = await shop.order();
  const id = await shop.create(order, "invoice");
  const { config: before } = await shop.find(id);
  await shop.owner.query(
    "update erp.sales_order set tax_status = 'net', billing_address = '{}' where id = $1",
    [order],
  );
  await shop.owner.query(
    "update erp.sales_order_line_item set unit_price = 1, total_price = 1, label = 'x' where order_id = $1",
    [order],
  );
  assert.deepEqual((await shop.find(id)).config, before);

  const { config: storno, referenced_document_id } = await shop.find(await shop.create(order, "storno"));
  assert.equal(referenced_document_id, id);
  assert.equal(storno.referencedDocumentNumber, before.documentNumber);
  assert.deepEqual([storno.totals.total, storno.totals.net, storno.taxStatus], [-321.1, -289.28, "gross"]);
  assert.deepEqual(
    storno.lines.map((line: any) => [line.label, line.unitPrice, line.total]),
    [
      ["Hammer", 119, -119],
      ["Book", 107, -214],
      ["Sale", -11.9, 11.9],
    ],
  );
});

test("credit notes and cancellations refer to an invoice of their order", async () => {
  const order = await shop.order();
  const note = await shop.create(order, "delivery_note");
  const foreign = await shop.create(await shop.order(), "invoice");
  for (const type of ["credit_note", "storno"]) {
    await assertRefused(shop.create(order, type), "INVALID", /has no invoice/);
    for (const id of [note, foreign, noUuid])
      await assertRefused(shop.create(order, type, id), "INVALID", /no such invoice/);
  }
  const referenced = async (type: string, id?: string) =>
    (await shop.find(await shop.create(order, type, id))).referenced_document_id;
  const first = await shop.create(order, "invoice");
  assert.equal(await referenced("storno"), first);
  const second = await shop.create(order, "invoice");
  assert.equal(await referenced("credit_note"), second);
  for (const type of ["credit_note", "storno"])
    for (const id of [first, second, null])
      await assertRefused(shop.create(order, type, id), "INVALID", /has taken back invoice .* already/);
  await assertRefused(shop.create(order, "invoice", first), "INVALID", /Only credit notes/);
});

test("what can't be made is refused, and takes no number", async () => {
  const order = await shop.order();
  const { document_number: before } = await shop.find(await shop.create(order, "invoice"));
  await assertRefused(shop.create(noUuid, "invoice"), "NOT_FOUND", /no such order/);
  for (const type of ["upload", "letter", ""])
    await assertRefused(shop.create(order, type), "INVALID", /type/);
  const unpriced = await shop.order();
  await shop.owner.query(
    "update erp.sales_order_line_item set unit_price = null, total_price = null where order_id = $1",
    [unpriced],
  );
  await assertRefused(shop.create(unpriced, "invoice"), "INVALID", /without a price/);
  await shop.create(unpriced, "delivery_note");
  await assertRefused(shop.create(order, "invoice"), "INVALID", /invoiced already/);
  const { document_number: next } = await shop.find(await shop.create(await shop.order(), "invoice"));
  assert.equal(counter(next), counter(before) + 1);
});

test("codes are long, random, and fit into an address", async () => {
  const order = await shop.order();
  const codes = new Set<string>();
  for (let i = 0; i < 50; i++)
    codes.add((await shop.find(await shop.create(order, "delivery_note"))).deep_link_code);
  assert.equal(codes.size, 50);
  // 43 characters of 6 bits hold SHA-256 of 244 random bits
  for (const code of codes) assert.match(code, /^[A-Za-z0-9_-]{43}$/);
});

test("documents made at the same time get consecutive numbers", async () => {
  const { document_number: before } = await shop.find(await shop.create(await shop.order(), "invoice"));
  const clients = await Promise.all(Array.from({ length: 8 }, () => shop.connect()));
  const ids = await Promise.all(
    clients.map(async (client) => {
      const made: string[] = [];
      for (let i = 0; i < 5; i++) made.push(await createDocument(client, await shop.order(), "invoice"));
      await client.end();
      return made;
    }),
  );
  const numbers = await Promise.all(
    ids.flat().map(async (id) => counter((await shop.find(id)).document_number)),
  );
  assert.deepEqual(
    numbers.sort((a, b) => a - b),
    Array.from({ length: 40 }, (_, i) => counter(before) + 1 + i),
  );
});

test("no other role makes documents, and the one that opens them does nothing else", async () => {
  const allowed = async (role: string, right: string) => {
    const { rows } = await shop.owner.query(`select ${right.replaceAll("$role", `'${role}'`)} as may`);
    return rows[0].may;
  };
  const call = "has_function_privilege($role, 'erp.create_document(uuid, text, uuid)', 'execute')";
  for (const role of ["service_api", "service_auth", "service_document", "service_login", "service_ledger"]) {
    assert.equal(await allowed(role, call), false, role);
  }
  assert.equal(await allowed("service_writer", call), true);
  const open = "has_function_privilege($role, 'erp.open_document(uuid, bytea, text)', 'execute')";
  for (const role of ["service_api", "service_auth", "service_login"])
    assert.equal(await allowed(role, open), false, role);
  const { rows } = await shop.owner.query(`
    select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname !~ '^(pg_|information_schema)' and c.relkind in ('r', 'v')
      and (has_any_column_privilege('service_document', c.oid, 'select, insert, update') or has_table_privilege('service_document', c.oid, 'delete'))`);
  assert.deepEqual(rows.map(({ name }: { name: string }) => name).sort(), [
    "erp.document",
    "erp.document_file",
    "erp.shipping_label",
    "erp.shipping_label_file",
  ]);
  for (const rights of [
    "has_any_column_privilege($role, 'erp.document', 'insert, update')",
    "has_any_column_privilege($role, 'erp.document_file', 'update')",
    "has_table_privilege($role, 'erp.document_file', 'delete')",
  ]) {
    assert.equal(await allowed("service_document", rights), false, rights);
  }
});

test("an unknown id takes the way of a wrong code", async () => {
  const { rows } = await shop.owner.query(
    "select count(*)::int as n from erp.open_document($1, sha256('x')) union all select count(*)::int from erp.open_document($2, null)",
    [randomUUID(), await shop.create(await shop.order(), "invoice")],
  );
  assert.deepEqual(rows, [{ n: 0 }, { n: 0 }]);
});
