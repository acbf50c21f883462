import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { readXml, writeXml } from "./read-xml.ts";
import {
  cancellationOf,
  creditNoteOf,
  inDollars,
  sampleAddress,
  sampleInvoice,
  sampleLines,
  sampleSeller,
  taxFreeInvoice,
} from "./sample.ts";

// Parts of paths
const agreement = "ApplicableHeaderTradeAgreement";
const settlement = "ApplicableHeaderTradeSettlement";
const sums = "SpecifiedTradeSettlementHeaderMonetarySummation";
const day = "DateTimeString[@format='102']";

describe("the XML of an invoice", () => {
  let database: TestDatabase;
  let client: pg.Client;
  before(async () => {
    database = await openTestDatabase("template_schema");
    // The role of mutations, which needs the rights to all functions
    const connectionString = database.ownerUrl.replace("service_owner", "service_writer");
    client = new pg.Client({ connectionString });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await database.close();
  });

  const write = (config: object) => writeXml(client, config);

  /** Checks what paths find in the XML of a config. */
  async function check(config: object, expected: Record<string, string[]>): Promise<void> {
    const xml = await write(config);
    const found: Record<string, string[]> = {};
    for (const path of Object.keys(expected)) found[path] = await readXml(client, xml, path);
    assert.deepEqual(found, expected);
  }

  test("names its rules, number, type and date", () =>
    check(sampleInvoice(), {
      "BusinessProcessSpecifiedDocumentContextParameter/ID": ["urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"],
      "GuidelineSpecifiedDocumentContextParameter/ID": [
        "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0",
      ],
      "ExchangedDocument/ID": ["INV-10042"],
      "ExchangedDocument/TypeCode": ["380"],
      [`ExchangedDocument/IssueDateTime/${day}`]: ["20260504"],
      "IncludedNote/Content": [],
      [`${agreement}/BuyerReference`]: ["04011000-12345-03"],
      "SellerOrderReferencedDocument/IssuerAssignedID": ["SO-10017"],
      "BuyerOrderReferencedDocument/IssuerAssignedID": ["PO-77"],
      [`${settlement}/InvoiceCurrencyCode`]: ["EUR"],
      [`${settlement}/TaxCurrencyCode`]: [],
      "InvoiceReferencedDocument/IssuerAssignedID": [],
    }));

  test("names the profile of Factur-X", () =>
    check(sampleInvoice({ form: "zugferd" }), {
      "GuidelineSpecifiedDocumentContextParameter/ID": ["urn:cen.eu:en16931:2017"],
      "BusinessProcessSpecifiedDocumentContextParameter/ID": [],
    }));

  test("is null if the form has no XML", async () => {
    assert.equal(await write(sampleInvoice({}, { form: "pdf", standard: null })), null);
  });

  test("shows the seller", () =>
    check(sampleInvoice(), {
      "SellerTradeParty/ID": [],
      "SellerTradeParty/Name": ["Gipfel & Bohne Handelsgesellschaft mbH"],
      "SellerTradeParty/Description": ["Managing directors: Hanna Krüger, Thomas Mercier"],
      "SellerTradeParty/SpecifiedLegalOrganization/ID": ["Amtsgericht Hamburg, HRB 999999"],
      "SellerTradeParty/SpecifiedLegalOrganization/TradingBusinessName": ["Gipfel & Bohne"],
      "SellerTradeParty/DefinedTradeContact/PersonName": ["Hanna Krüger"],
      "SellerTradeParty/DefinedTradeContact/TelephoneUniversalCommunication/CompleteNumber": [
        "+49 40 5550 100",
      ],
      "SellerTradeParty/DefinedTradeContact/EmailURIUniversalCommunication/URIID": [
        "rechnung@gipfel-und-bohne.example",
      ],
      "SellerTradeParty/PostalTradeAddress/*": ["20457", "Hafenweg 1", "Hamburg", "DE"],
      "SellerTradeParty/URIUniversalCommunication/URIID[@schemeID='EM']": [
        "rechnung@gipfel-und-bohne.example",
      ],
      "SellerTradeParty/SpecifiedTaxRegistration/ID[@schemeID='VA']": ["DE999999999"],
      "SellerTradeParty/SpecifiedTaxRegistration/ID[@schemeID='FC']": ["99/999/99999"],
    }));

  test("identifies a seller without VAT number by the tax number", () =>
    check(sampleInvoice({}, { seller: { ...sampleSeller, vatId: null, register: null } }), {
      "SellerTradeParty/ID": ["99/999/99999"],
      "SellerTradeParty/SpecifiedLegalOrganization/ID": [],
      "SellerTradeParty/SpecifiedTaxRegistration/ID[@schemeID='VA']": [],
    }));

  test("labels the managing directors in the language of the document", async () => {
    await check(sampleInvoice({}, { locale: "de-DE" }), {
      "SellerTradeParty/Description": ["Geschäftsführung: Hanna Krüger, Thomas Mercier"],
    });
    await check(sampleInvoice({}, { locale: "fr-FR", sender: { name: sampleSeller.legalName } }), {
      "SellerTradeParty/Description": ["Direction : Hanna Krüger, Thomas Mercier"],
      "SellerTradeParty/SpecifiedLegalOrganization/TradingBusinessName": [],
    });
  });

  test("shows a company as buyer, and the person as its contact", () =>
    check(sampleInvoice(), {
      "BuyerTradeParty/ID": ["C-10003"],
      "BuyerTradeParty/Name": ["Bergwacht Süd e. V."],
      "BuyerTradeParty/SpecifiedLegalOrganization/ID": ["HRB 888888"],
      "BuyerTradeParty/DefinedTradeContact/PersonName": ["Anna Becker, Einkauf"],
      "BuyerTradeParty/DefinedTradeContact/EmailURIUniversalCommunication/URIID": [
        "einkauf@bergwacht-sued.example",
      ],
      "BuyerTradeParty/PostalTradeAddress/*": [
        "83471",
        "Almweg 12",
        "Hinterhaus",
        "Berchtesgaden",
        "DE",
        "Bavaria",
      ],
      "BuyerTradeParty/URIUniversalCommunication/URIID[@schemeID='0204']": ["04011000-12345-03"],
      "BuyerTradeParty/SpecifiedTaxRegistration/ID[@schemeID='VA']": ["DE888888888"],
    }));

  test("shows a person as buyer if there is no company", () =>
    check(
      sampleInvoice(
        {},
        {
          billingAddress: { ...sampleAddress, company: " ", firstName: null },
          buyer: { vatId: null, registrationId: null, electronicAddress: null, email: "a@example.org" },
          customerVatId: null,
        },
      ),
      {
        "BuyerTradeParty/Name": ["Becker"],
        "BuyerTradeParty/SpecifiedLegalOrganization": [],
        "BuyerTradeParty/DefinedTradeContact/PersonName": [],
        "BuyerTradeParty/DefinedTradeContact/EmailURIUniversalCommunication/URIID": ["a@example.org"],
        "BuyerTradeParty/URIUniversalCommunication/URIID": [],
        "BuyerTradeParty/SpecifiedTaxRegistration/ID": [],
      },
    ));

  test("shows the delivery, and the address only if it is another one", async () => {
    await check(sampleInvoice(), {
      "ShipToTradeParty/Name": [],
      [`ActualDeliverySupplyChainEvent/OccurrenceDateTime/${day}`]: ["20260504"],
      [`BillingSpecifiedPeriod/StartDateTime/${day}`]: ["20260503"],
      [`BillingSpecifiedPeriod/EndDateTime/${day}`]: ["20260504"],
    });
    const shippingAddress = { lastName: "Moser", city: "Graz", zipcode: "8010", countryIso: "AT" };
    await check(
      sampleInvoice({}, { shippingAddress, deliveryDate: { from: "2026-05-03", to: "2026-05-03" } }),
      {
        "ShipToTradeParty/Name": ["Moser"],
        "ShipToTradeParty/PostalTradeAddress/*": ["8010", "Graz", "AT"],
        [`ActualDeliverySupplyChainEvent/OccurrenceDateTime/${day}`]: ["20260503"],
        [`BillingSpecifiedPeriod/StartDateTime/${day}`]: [],
      },
    );
    await check(sampleInvoice({}, { shippingAddress: { ...sampleAddress, phoneNumber: "+49 1" } }), {
      "ShipToTradeParty/Name": [],
    });
    await check(sampleInvoice({}, { shippingAddress: null }), { "ShipToTradeParty/Name": [] });
    await check(sampleInvoice({}, { deliveryDate: null }), {
      "ShipToTradeParty/Name": ["Bergwacht Süd e. V."],
      "ActualDeliverySupplyChainEvent/*": [],
    });
  });

  test("shows the means and terms of payment", () =>
    check(sampleInvoice(), {
      [`${settlement}/PaymentReference`]: ["INV-10042"],
      "SpecifiedTradeSettlementPaymentMeans/TypeCode": ["58"],
      "SpecifiedTradeSettlementPaymentMeans/Information": ["Bank transfer"],
      "PayeePartyCreditorFinancialAccount/IBANID": ["DE75512108001245126199"],
      "PayeePartyCreditorFinancialAccount/AccountName": ["Gipfel & Bohne Handelsgesellschaft mbH"],
      "PayeeSpecifiedCreditorFinancialInstitution/BICID": ["GUBODEH0XXX"],
      "SpecifiedTradePaymentTerms/Description": ["Payable within 14 days."],
      [`SpecifiedTradePaymentTerms/DueDateDateTime/${day}`]: ["20260518"],
    }));

  test("shows the bank account for credit transfers alone", async () => {
    const noAccount = {
      "SpecifiedTradeSettlementPaymentMeans/Information": ["Bank transfer"],
      "PayeePartyCreditorFinancialAccount/IBANID": [],
      "PayeeSpecifiedCreditorFinancialInstitution/BICID": [],
    };
    for (const paymentMeansCode of ["ZZZ", "10", "68"]) {
      await check(sampleInvoice({}, { paymentMeansCode }), {
        ...noAccount,
        "SpecifiedTradeSettlementPaymentMeans/TypeCode": [paymentMeansCode],
      });
    }
    await check(sampleInvoice({}, { paymentMeansCode: "30" }), {
      "PayeePartyCreditorFinancialAccount/IBANID": ["DE75512108001245126199"],
    });
    await check(sampleInvoice({}, { seller: { ...sampleSeller, bank: null } }), noAccount);
  });

  test("shows lines with prices, discounts and taxes", () =>
    check(sampleInvoice(), {
      "AssociatedDocumentLineDocument/LineID": ["1", "2", "3"],
      "SpecifiedTradeProduct/GlobalID[@schemeID='0160']": ["4006381333931"],
      "SpecifiedTradeProduct/SellerAssignedID": ["BK-0001", "SC-0100"],
      "SpecifiedTradeProduct/Name": ["Climbing boots, size 42", "Screws", "Coffee, ground"],
      "SpecifiedTradeProduct/Description": ["Waterproof leather"],
      "NetPriceProductTradePrice/ChargeAmount": ["99.9951", "7.35", "8.5"],
      "NetPriceProductTradePrice/BasisQuantity[@unitCode='C62']": ["100"],
      BilledQuantity: ["2", "250", "3"],
      "BilledQuantity/@unitCode": ["C62", "C62", "KGM"],
      "SpecifiedLineTradeSettlement/ApplicableTradeTax/*": [
        "VAT",
        "S",
        "19",
        "VAT",
        "S",
        "19",
        "VAT",
        "S",
        "7",
      ],
      "SpecifiedLineTradeSettlement/SpecifiedTradeAllowanceCharge/ChargeIndicator/Indicator": ["false"],
      "SpecifiedLineTradeSettlement/SpecifiedTradeAllowanceCharge/*": ["9.99", "Loyal customer"],
      "SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount": ["190.00", "18.38", "25.50"],
    }));

  test("shows lines of the kind line alone", async () => {
    const config = sampleInvoice();
    config.lines[0].kind = "allowance";
    config.lines[1].kind = "part";
    await check(config, { "AssociatedDocumentLineDocument/LineID": ["3"] });
  });

  test("shows discounts, surcharges, taxes and totals", () =>
    check(sampleInvoice({ paid: 100 }), {
      [`${settlement}/SpecifiedTradeAllowanceCharge/ChargeIndicator/Indicator`]: ["false", "false", "true"],
      [`${settlement}/SpecifiedTradeAllowanceCharge/ActualAmount`]: ["10.00", "1.25", "4.90"],
      [`${settlement}/SpecifiedTradeAllowanceCharge/Reason`]: ["Voucher SPRING", "Voucher SPRING", "Postage"],
      [`${settlement}/SpecifiedTradeAllowanceCharge/CategoryTradeTax/*`]: [
        ...["VAT", "S", "19"],
        ...["VAT", "S", "7"],
        ...["VAT", "S", "19"],
      ],
      [`${settlement}/ApplicableTradeTax/*`]: [
        ...["38.62", "VAT", "203.28", "S", "19"],
        ...["1.70", "VAT", "24.25", "S", "7"],
      ],
      [`${sums}/LineTotalAmount`]: ["233.88"],
      [`${sums}/ChargeTotalAmount`]: ["4.90"],
      [`${sums}/AllowanceTotalAmount`]: ["11.25"],
      [`${sums}/TaxBasisTotalAmount`]: ["227.53"],
      [`${sums}/TaxTotalAmount[@currencyID='EUR']`]: ["40.32"],
      [`${sums}/GrandTotalAmount`]: ["267.85"],
      [`${sums}/TotalPrepaidAmount`]: ["100.00"],
      [`${sums}/DuePayableAmount`]: ["167.85"],
    }));

  test("leaves out sums that are zero, but not the amount due", () =>
    check(sampleInvoice({ lines: [{ label: "Nail", quantity: 1, netPrice: 0 }] }), {
      [`${sums}/ChargeTotalAmount`]: [],
      [`${sums}/AllowanceTotalAmount`]: [],
      [`${sums}/TotalPrepaidAmount`]: [],
      [`${sums}/TaxTotalAmount`]: ["0.00"],
      [`${sums}/DuePayableAmount`]: ["0.00"],
    }));

  test("gives discounts and surcharges without a reason its code", async () => {
    const config = sampleInvoice();
    config.lines[0].discount.reason = null;
    config.allowances[0].reason = "";
    config.charges[0].reason = null;
    await check(config, {
      "SpecifiedTradeAllowanceCharge/ReasonCode": ["95", "95", "ADR"],
      "SpecifiedTradeAllowanceCharge/Reason": ["Voucher SPRING"],
    });
  });

  test("says why there is no tax", async () => {
    const taxes = `${settlement}/ApplicableTradeTax`;
    await check(taxFreeInvoice("K"), {
      [`${taxes}/*`]: [
        ...["0.00", "VAT", "VAT-exempt intra-Community supply", "233.88", "K", "VATEX-EU-IC", "0"],
      ],
      "ShipToTradeParty/PostalTradeAddress/CountryID": ["AT"],
    });
    await check(taxFreeInvoice("K", {}, { shippingAddress: null }), {
      "ShipToTradeParty/PostalTradeAddress/CountryID": ["AT"],
    });
    await check(taxFreeInvoice("E"), {
      [`${taxes}/ExemptionReason`]: ["Exemption for small enterprises"],
      [`${taxes}/ExemptionReasonCode`]: [],
      "ShipToTradeParty/Name": [],
    });
    await check(taxFreeInvoice("Z"), { [`${taxes}/*`]: ["0.00", "VAT", "233.88", "Z", "0"] });
  });

  test("has the tax in the merchant's currency, too", () =>
    check(inDollars(sampleInvoice()), {
      [`${settlement}/InvoiceCurrencyCode`]: ["USD"],
      [`${settlement}/TaxCurrencyCode`]: ["EUR"],
      [`${sums}/TaxTotalAmount[@currencyID='USD']`]: ["40.32"],
      [`${sums}/TaxTotalAmount[@currencyID='EUR']`]: ["32.26"],
      "IncludedNote/Content": ["1 EUR = 1.25 USD (ecb, 2026-05-04)"],
    }));

  test("names the prepayments that it deducts, the first as a reference", async () => {
    const prepayments = [
      { number: "PI-1", date: "2026-04-02", total: 50, tax: 7.98 },
      { number: "PI-2", date: "2026-04-20", total: 30.5, tax: 4.87 },
    ];
    const invoice = sampleInvoice({ paid: 80.5 }, { prepayments });
    await check(invoice, {
      "InvoiceReferencedDocument/IssuerAssignedID": ["PI-1"],
      [`InvoiceReferencedDocument/FormattedIssueDateTime/${day}`]: ["20260402"],
      "IncludedNote/Content": [
        "Charged before: prepayment invoice PI-1 of 2026-04-02, 50.00 EUR including 7.98 EUR VAT.",
        "Charged before: prepayment invoice PI-2 of 2026-04-20, 30.50 EUR including 4.87 EUR VAT.",
      ],
    });
    await check(
      { ...invoice, locale: "de-DE", prepayments: prepayments.slice(1) },
      {
        "IncludedNote/Content": [
          "Bereits berechnet: Anzahlungsrechnung PI-2 vom 2026-04-20 über 30.50 EUR, darin 4.87 EUR Umsatzsteuer.",
        ],
      },
    );
    await check(
      { ...invoice, locale: "fr-FR", prepayments: prepayments.slice(1) },
      {
        "IncludedNote/Content": [
          "Déjà facturé : acompte PI-2 du 2026-04-20, 30.50 EUR dont 4.87 EUR de TVA.",
        ],
      },
    );
    await check(cancellationOf(invoice), {
      "InvoiceReferencedDocument/IssuerAssignedID": ["INV-10042"],
      "IncludedNote/Content": [],
    });
  });

  test("of a cancellation has negative quantities and amounts, and positive prices", () =>
    check(cancellationOf(inDollars(sampleInvoice())), {
      "ExchangedDocument/TypeCode": ["384"],
      "ExchangedDocument/ID": ["CI-10007"],
      "InvoiceReferencedDocument/IssuerAssignedID": ["INV-10042"],
      [`InvoiceReferencedDocument/FormattedIssueDateTime/${day}`]: ["20260504"],
      BilledQuantity: ["-2", "-250", "-3"],
      "NetPriceProductTradePrice/ChargeAmount": ["99.9951", "7.35", "8.5"],
      "NetPriceProductTradePrice/BasisQuantity": ["100"],
      "SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount": ["-190.00", "-18.38", "-25.50"],
      "SpecifiedTradeAllowanceCharge/ActualAmount": ["-9.99", "-10.00", "-1.25", "-4.90"],
      [`${settlement}/ApplicableTradeTax/CalculatedAmount`]: ["-38.62", "-1.70"],
      [`${settlement}/ApplicableTradeTax/BasisAmount`]: ["-203.28", "-24.25"],
      [`${sums}/*`]: [...["-233.88", "-4.90", "-11.25", "-227.53", "-40.32", "-32.26", "-267.85", "-267.85"]],
      [`SpecifiedTradePaymentTerms/DueDateDateTime/${day}`]: [],
    }));

  test("of a credit note has positive amounts", () =>
    check(creditNoteOf(sampleInvoice({ paid: 50 })), {
      "ExchangedDocument/TypeCode": ["381"],
      "InvoiceReferencedDocument/IssuerAssignedID": ["INV-10042"],
      BilledQuantity: ["2", "250", "3"],
      [`${sums}/GrandTotalAmount`]: ["267.85"],
      [`${sums}/TotalPrepaidAmount`]: [],
      [`${sums}/DuePayableAmount`]: ["267.85"],
    }));

  test("writes numbers without exponents and needless zeros", async () => {
    const [line] = sampleLines;
    const config = sampleInvoice({
      lines: [
        { ...line!, quantity: 1e7, netPrice: 1e-7, discount: null },
        { ...line!, quantity: 2.5, netPrice: 12_345_678_901, discount: null, taxRate: 5.5 },
      ],
    });
    await check(config, {
      BilledQuantity: ["10000000", "2.5"],
      "NetPriceProductTradePrice/ChargeAmount": ["0.0000001", "12345678901"],
      "SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount": ["1.00", "30864197252.50"],
      "SpecifiedLineTradeSettlement/ApplicableTradeTax/RateApplicablePercent": ["19", "5.5"],
    });
  });

  test("has no empty elements, whatever the config lacks", async () => {
    const blank = (value: any): any =>
      typeof value === "string" ? " \n" : value && typeof value === "object" ? blankObject(value) : null;
    const blankObject = (value: any): any =>
      Array.isArray(value)
        ? value.map(blank)
        : Object.fromEntries(
            Object.entries(value).map(([key, inner]) => [
              key,
              ["standard", "kind"].includes(key) ? inner : blank(inner),
            ]),
          );
    const full = sampleInvoice();
    const nothing = { standard: full.standard, lines: [{ kind: "line" }], totals: { taxes: [{}] } };
    const nulls = { ...Object.fromEntries(Object.keys(full).map((key) => [key, null])), ...nothing };
    for (const config of [blankObject(full), nothing, nulls]) {
      const xml = await write(config);
      const empty = [...xml.matchAll(/<([\w:]+)[^>]*><\/\1>/g)].map(([, name]) => name);
      const alwaysThere =
        /TradeParty|HeaderTrade|SpecifiedLine|LineDocument|Product|Summation|PaymentMeans|ExchangedDocument$/;
      assert.deepEqual(
        empty.filter((name) => !alwaysThere.test(name!)),
        [],
        xml,
      );
      await client.query("select $1::xml", [xml]);
    }
  });

  test("keeps hostile text as text", async () => {
    const hostile = `]]></ram:Name><x a="1">&amp;&#0; 'q' \u0001\u0008\u000b\u001f\ufffe\uffff\u007f\u0085 🙂 שלום\r\n\tend`;
    const expected = `]]></ram:Name><x a="1">&amp;&#0; 'q' \u007f\u0085 🙂 שלום\n\tend`;
    const lines = sampleLines.map((line) => ({
      ...line,
      label: hostile,
      description: hostile,
      productNumber: hostile,
      unitCode: 'C"62<',
    }));
    const config = sampleInvoice({ lines }, { documentNumber: hostile, paymentTerms: hostile });
    config.billingAddress = { ...sampleAddress, company: hostile, street: hostile };
    config.allowances = [{ amount: 1, reason: hostile, taxCategory: hostile, taxRate: 19 }];
    const xml = await write(config);
    assert.deepEqual(await readXml(client, xml, "x"), []);
    for (const path of ["SpecifiedTradeProduct/Name", "BuyerTradeParty/PostalTradeAddress/LineOne"]) {
      assert.equal((await readXml(client, xml, path))[0], expected);
    }
    assert.equal((await readXml(client, xml, "BilledQuantity/@unitCode"))[0], 'C"62<');
  });

  test("has room for 60 lines with long texts", async () => {
    const lines = Array.from({ length: 60 }, (_, n) => ({
      ...sampleLines[0]!,
      label: `Line ${n} ${"ä<&🙂".repeat(250)}`,
      description: "long ".repeat(2_000),
    }));
    const xml = await write(sampleInvoice({ lines }));
    assert.equal((await readXml(client, xml, "AssociatedDocumentLineDocument/LineID")).length, 60);
    const names = await readXml(client, xml, "SpecifiedTradeProduct/Name");
    assert.deepEqual(
      names,
      lines.map(({ label }) => label),
    );
  });
});
