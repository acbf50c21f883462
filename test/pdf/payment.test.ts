import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pdfConfig } from "../../src/pdf/config.ts";
import { giroCodeText } from "../../src/pdf/payment.ts";
import { renderPdf } from "../../src/pdf/render-pdf.ts";
import { cancellationOf, creditNoteOf, sampleInvoice } from "../invoices/sample.ts";
import { readPdf } from "./pdf.ts";
import { sampleConfig } from "./sample.ts";

const bank = {
  accountHolder: "Gipfel & Bohne GmbH",
  iban: "DE50000000000123456789",
  bic: null,
  name: "Bank",
};
const seller = { legalName: "Gipfel & Bohne GmbH", address: null, bank };
const totals = {
  net: 100,
  taxes: [{ rate: 19, net: 100, tax: 19, category: "S" }],
  total: 119,
  paid: 0,
  due: 119,
};
const config = (changes: object = {}) => sampleConfig({ seller, totals, paymentMeansCode: "58", ...changes });
const text = async (changes: object = {}) =>
  (await readPdf(await renderPdf(config(changes)))).pages.join(" ");

describe("the GiroCode", () => {
  const code = (changes: object = {}) => giroCodeText(pdfConfig.parse(config(changes)));

  it("has what a banking app fills in", () => {
    assert.equal(
      code(),
      "BCD\n002\n1\nSCT\n\nGipfel & Bohne GmbH\nDE50000000000123456789\nEUR119.00\n\n\nINV-10042",
    );
  });

  it("is only there where something is due in euros by a transfer", () => {
    for (const [name, changes] of Object.entries({
      "nothing due": { totals: { ...totals, paid: 119, due: 0 } },
      "too much due": { totals: { ...totals, due: 1_000_000_000 } },
      "other currency": { currency: { isoCode: "USD", symbol: "$", position: 0 } },
      "paid by card": { paymentMeansCode: "48" },
      "by a method without a code": { paymentMeansCode: "ZZZ", paymentMethod: "PayPal" },
      "no bank account": { seller: { ...seller, bank: null } },
      "a credit note": { documentType: "credit_note" },
      "a draft": { documentNumber: null },
      "an older document": { totals: { net: 100, taxes: [], total: 119 }, paymentMeansCode: undefined },
    }))
      assert.equal(code(changes), null, name);
    assert.match(code({ documentType: "prepayment" })!, /^BCD/);
    assert.match(code({ paymentMeansCode: "ZZZ", paymentMethod: null })!, /^BCD/);
  });

  it("keeps to its lines and lengths, whatever the account holder is called", () => {
    const accountHolder = `Bohne\nGmbH ${"ä".repeat(80)}`;
    const lines = code({ seller: { ...seller, bank: { ...bank, accountHolder, bic: "GUBODEH0" } } })!.split(
      "\n",
    );
    assert.deepEqual([lines.length, lines[4], lines[6]], [11, "GUBODEH0", bank.iban]);
    assert.deepEqual([lines[5]!.slice(0, 12), lines[5]!.length], ["Bohne GmbH ä", 70]);
  });
});

describe("an invoice shows", () => {
  it("what is paid and due, the deducted prepayments, terms and references", async () => {
    const shown = await text({
      totals: { ...totals, paid: 19, due: 100 },
      prepayments: [{ number: "INV-7", date: "2026-04-01", total: 19, tax: 3.03 }],
      paymentTerms: "Payable until Monday.",
      purchaseOrderNumber: "PO-7",
      buyerReference: "Team 4",
    });
    for (const part of [
      "Paid already",
      "Amount due",
      "Prepayment INV-7 of 1 Apr 2026",
      "Payable until Monday.",
      "PO-7",
      "Team 4",
      "GiroCode",
    ])
      assert.ok(shown.includes(part), `${part}: ${shown}`);
    assert.doesNotMatch(await text(), /Amount due|Prepayment/);
    const dueDate = "2026-05-18";
    assert.match(await text({ dueDate }), /Payable until 18 May 2026\./);
    assert.match(await text({ dueDate, paymentTerms: "Net." }), /Net\. Payable until 18 May 2026\./);
    const named = await text({ dueDate, paymentTerms: "Pay by 18/05/2026, please." });
    assert.match(named, /Pay by 18\/05\/2026, please\./);
    assert.doesNotMatch(named, /Payable until/);
  });

  it("whom to ask", async () => {
    const { pages } = await readPdf(
      await renderPdf(config({ seller: { ...seller, contactName: "Hanna Krüger" } })),
    );
    assert.match(pages[0]!, /Hanna Krüger/);
  });

  it("by how much a line is reduced, and why", async () => {
    const [line] = config().lines;
    const shown = async (changes: object) => text({ lines: [{ ...line, ...changes }] });
    const reduced = { total: 100, discount: { amount: 15.97, reason: "Loyal customer" } };
    assert.match(await shown(reduced), /Discount -19\.00 €, Loyal customer/);
    assert.match(
      await shown({ ...reduced, discount: { amount: 15.97, reason: null } }),
      /Discount -19\.00 €/,
    );
    const unexplained = await shown({ discount: { amount: 1, reason: "Sale" } });
    assert.match(unexplained, /Sale/);
    assert.doesNotMatch(unexplained, /Discount/);
  });

  it("why there is no tax, for each category, and no tax at such a rate", async () => {
    const taxes = [
      { rate: 0, net: 50, tax: 0, category: "AE", reason: "The customer owes the VAT." },
      { rate: 19, net: 50, tax: 9.5, category: "S", reason: null },
    ];
    const shown = await text({ totals: { ...totals, taxes } });
    assert.match(shown, /The customer owes the VAT\./);
    assert.doesNotMatch(shown, /VAT 0 ?% on/);
    assert.match(shown, /VAT 19 ?% on/);
    const free = { taxStatus: "tax-free", totals: { ...totals, taxes: [taxes[0]] } };
    const reverse = await text(free);
    assert.match(reverse, /The customer owes the VAT\./);
    assert.doesNotMatch(reverse, /Net total|No VAT/);
    const unexplained = { ...totals, taxes: [{ ...taxes[0], reason: null }] };
    assert.match(
      await text({ ...free, taxExemption: "reverse_charge", totals: unexplained }),
      /Reverse charge: the customer owes the VAT/,
    );
  });
});

describe("documents that take an invoice back", () => {
  const shown = async (document: object) => (await readPdf(await renderPdf(document))).pages.join(" ");

  it("show negative quantities at positive prices, if they cancel it", async () => {
    const storno = await shown(cancellationOf(sampleInvoice({ form: "zugferd" })));
    assert.match(storno, /This cancels invoice INV-10042 of 4 May 2026:/);
    assert.match(storno, /-2 100\.00 € 19% -190\.00 €/);
    assert.match(storno, /VAT 19% on -203\.28 € -38\.62 € .*Total -267\.85 €/);
    assert.doesNotMatch(storno, /Amount due|GiroCode/);
  });

  it("show positive amounts, if they credit it", async () => {
    const note = await shown(creditNoteOf(sampleInvoice({ form: "zugferd" })));
    assert.match(note, /We credit you these amounts of invoice INV-10042 of 4 May 2026:/);
    assert.match(note, /2 100\.00 € 19% 190\.00 € .*Total 267\.85 €/);
    assert.doesNotMatch(note, / -\d\d+\.\d\d €(?!, Loyal)|Amount due|GiroCode/);
  });
});
