import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pdfConfig } from "../../src/pdf/config.ts";
import { giroCodeText } from "../../src/pdf/payment.ts";
import { renderPdf } from "../../src/pdf/render-pdf.ts";
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
      "other means": { paymentMeansCode: "ZZZ" },
      "no bank account": { seller: { ...seller, bank: null } },
      "a credit note": { documentType: "credit_note" },
      "a draft": { documentNumber: null },
      "an older document": { totals: { net: 100, taxes: [], total: 119 }, paymentMeansCode: undefined },
    }))
      assert.equal(code(changes), null, name);
    assert.match(code({ documentType: "prepayment" })!, /^BCD/);
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
    assert.match(await text({ dueDate: "2026-05-18" }), /Payable until 18 May 2026\./);
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
  });
});
