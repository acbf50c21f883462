import assert from "node:assert/strict";
import { describe, test } from "node:test";
import pg from "pg";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import { queryRows, useDatabase } from "../lib/database.ts";
import type { Mutant } from "./mutant.ts";
import { mutantsOfDocuments } from "./mutants-of-documents.ts";
import { mutantsOfTaxes } from "./mutants-of-taxes.ts";
import { mutantsOfXRechnung } from "./mutants-of-xrechnung.ts";
import { sampleInvoice, taxFreeInvoice } from "./sample.ts";
import { validInvoices } from "./valid-invoices.ts";

const used = useDatabase("template_schema");
const query = queryRows(() => used.client);

interface Fault {
  rule: string;
  field: string;
  message: string;
}

/** Applies our rules to a config. */
const faultsOf = async (config: object): Promise<Fault[]> =>
  (await query("select * from erp.invoice_faults($1)", [config])) as Fault[];

describe("an invoice without faults", () => {
  for (const [name, config] of validInvoices()) {
    test(name, async () => assert.deepEqual(await faultsOf(config), []));
  }
});

function isRefused(mutants: Mutant[]): void {
  const seen = new Map<string, number>();
  for (const { rules, field, config } of mutants) {
    const [rule] = rules as [string];
    const nth = (seen.get(rule) ?? 0) + 1;
    seen.set(rule, nth);
    test(`${rule}, ${nth}: ${field}`, async () => {
      const faults = await faultsOf(config);
      const found = JSON.stringify(faults);
      assert.deepEqual([...new Set(faults.map((fault) => fault.rule))].sort(), [...rules].sort(), found);
      assert.ok(
        faults.some((fault) => fault.rule === rule && fault.field === field),
        found,
      );
      for (const { message } of faults) assert.match(message, /^[A-Z0-9].*[.#]$/);
    });
  }
}

describe("a mutant is refused by its rule", () => {
  isRefused(mutantsOfDocuments);
  isRefused(mutantsOfTaxes);
});
describe("a mutant of an XRechnung is refused by its rule", () => isRefused(mutantsOfXRechnung));

const broken = { documentNumber: null, buyerReference: null, totals: null };

test("documents without XML have no faults", async () => {
  assert.equal((await faultsOf({ ...sampleInvoice(), documentNumber: null })).length, 1);
  const { form, ...old } = sampleInvoice({}, broken);
  assert.equal(form, "xrechnung");
  for (const config of [
    sampleInvoice({}, { ...broken, form: "pdf" }),
    sampleInvoice({}, { ...broken, documentType: "delivery_note" }),
    old,
    {},
  ]) {
    assert.deepEqual(await faultsOf(config), []);
  }
});

test("the role of mutations may apply the rules", async () => {
  const { adminUrl } = used.database;
  const connectionString = urlAsOwner(adminUrl).replace("service_owner", "service_writer");
  const writer = new pg.Client({ connectionString });
  await writer.connect();
  try {
    const { rows } = await writer.query(
      "select current_user as role, count(*)::int from erp.invoice_faults($1)",
      [sampleInvoice({}, { buyerReference: null })],
    );
    assert.deepEqual(rows, [{ role: "service_writer", count: 1 }]);
  } finally {
    await writer.end();
  }
});

/** The invoice of one line without some values, and what the merchant reads about it. */
const words: [changes: (config: any) => void, message: string, config?: any][] = [
  [
    (c) => Object.assign(c, { customerVatId: null, buyer: { ...c.buyer, vatId: null } }),
    "The buyer's VAT number is missing, which an intra-Community supply needs.",
    taxFreeInvoice("K"),
  ],
  [(c) => (c.seller.contactName = null), "The name of the merchant's contact is missing."],
  [(c) => (c.billingAddress.city = null), "The city of the buyer's address is missing."],
  [
    (c) => (c.lines[1].unitCode = "Stk"),
    "Line 2 (Screws): The unit Stk is no code of UN/ECE Recommendation 20, such as C62.",
  ],
  [(c) => (c.lines[2].label = null), "Line 3: The name is missing."],
  [
    (c) => (c.allowances[0].taxRate = 0),
    "Discount (Voucher SPRING): The tax rate must be above 0 in the tax category S.",
  ],
  [(c) => (c.totals.due = 1), "The amount due is 1, which is not the total 267.85 less 0 paid."],
];

for (const [change, message, base = sampleInvoice()] of words) {
  test(`says: ${message}`, async () => {
    const config = JSON.parse(JSON.stringify(base));
    config.shippingAddress = null;
    change(config);
    assert.ok((await faultsOf(config)).some((fault) => fault.message === message));
  });
}
