import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { renderPdf } from "../../src/pdf/render-pdf.ts";
import { queryRows } from "../lib/database.ts";
import { readPdf } from "./pdf.ts";
import { legalConfig, sampleSeller } from "./sample.ts";
import { openDocumentShop } from "./document-shop.ts";
import type { DocumentShop } from "./document-shop.ts";

// What the VAT directive (Article 226) and the laws based on it require on invoices

const text = async (config: unknown) => (await readPdf(await renderPdf(config))).pages.join(" ");
const has = (page: string, ...parts: string[]) => {
  for (const part of parts) assert.ok(page.includes(part), `“${part}” is missing in: ${page}`);
};

const words: Record<string, Record<string, string[]>> = {
  "en-GB": {
    numbers: ["VAT no. DE999999999", "Tax no. 99/999/99999", "Managing directors: Hanna Krüger"],
    delivered: ["Delivered on 3 May 2026 – 4 May 2026"],
    referenced: ["INV-10042 of 2 May 2026"],
    part: ["Of 5 ordered, 1 shipped before, 2 still to come", "Still to come: 2 × Boots (Product no. BK-1)"],
    foreign: [
      "VAT in EUR: 7% €64.56, 19% €17.52, Total €82.08",
      "Exchange rate of 30 Apr 2026: 1 EUR = 1.0842 USD",
    ],
    reasons: ["VAT-exempt export", "VAT-exempt intra-Community supply", "exemption for small enterprises"],
  },
  "de-DE": {
    numbers: ["USt-IdNr. DE999999999", "Steuernr. 99/999/99999", "Geschäftsführung: Hanna Krüger"],
    delivered: ["Geliefert am 03.05.2026 – 04.05.2026"],
    referenced: ["INV-10042 vom 02.05.2026"],
    part: [
      "Von 5 bestellten, 1 früher geliefert, 2 folgen noch",
      "Es folgen noch: 2 × Boots (Artikelnr. BK-1)",
    ],
    foreign: [
      "USt. in EUR: 7 % 64,56 €, 19 % 17,52 €, Gesamtbetrag 82,08 €",
      "Wechselkurs vom 30.04.2026: 1 EUR = 1,0842 USD",
    ],
    reasons: [
      "Steuerfreie Ausfuhrlieferung",
      "Steuerfreie innergemeinschaftliche Lieferung",
      "Kleinunternehmer",
    ],
  },
  "fr-FR": {
    numbers: ["N° de TVA DE999999999", "N° fiscal 99/999/99999", "Direction : Hanna Krüger"],
    delivered: ["Livré le 3 mai 2026 – 4 mai 2026"],
    referenced: ["INV-10042 du 2 mai 2026"],
    part: ["Sur 5 commandés, 1 déjà livrés, 2 à suivre", "À suivre : 2 × Boots (Référence BK-1)"],
    foreign: [
      "TVA en EUR : 7 % 64,56 €, 19 % 17,52 €, Total 82,08 €",
      "Taux de change du 30 avr. 2026 : 1 EUR = 1,0842 USD",
    ],
    reasons: [
      "Exportation exonérée de TVA",
      "Livraison intracommunautaire exonérée de TVA",
      "franchise des petites entreprises",
    ],
  },
};
const exemptions = ["export", "intra_community", "small_business"];

for (const [locale, { numbers, delivered, referenced, part, foreign, reasons }] of Object.entries(words)) {
  describe(`documents in ${locale}`, () => {
    it("say who sells, on every page", async () => {
      for (const type of ["invoice", "credit_note", "storno", "delivery_note"]) {
        const page = await text(legalConfig(type, { locale }));
        has(page, sampleSeller.legalName, "Hafenweg 1", "20457 Hamburg", "Germany", ...numbers!);
        has(page, "HRB 999999", "+49 40 5550 100", "Goods remain our property");
        const bank = ["Beispielbank Hamburg", "IBAN DE12 0000 0000 0123 4567 89", "BIC GUBODEH0XXX"];
        if (type === "delivery_note") for (const name of bank) assert.ok(!page.includes(name));
        else has(page, ...bank, ...delivered!);
        if (type === "credit_note" || type === "storno") has(page, ...referenced!);
      }
    });

    it("state tax in a foreign currency in the merchant's as well (Article 230)", async () => {
      const taxInDefaultCurrency = {
        currency: { isoCode: "EUR", symbol: "€", position: locale === "en-GB" ? 0 : 1 },
        exchangeRate: { factor: 1.0842, date: "2026-04-30", source: "ECB" },
        taxes: [
          { rate: 7, tax: 64.56 },
          { rate: 19, tax: 17.52 },
        ],
        tax: 82.08,
      };
      const currency = { isoCode: "USD", symbol: "$", position: 0 };
      has(await text(legalConfig("invoice", { locale, currency, taxInDefaultCurrency })), ...foreign!);
    });

    it("say why there is no tax", async () => {
      for (const [n, taxExemption] of exemptions.entries()) {
        const totals = { net: 1189, taxes: [], total: 1189 };
        has(
          await text(legalConfig("invoice", { locale, taxStatus: "tax-free", taxExemption, totals })),
          reasons![n]!,
        );
      }
    });

    it("say on the delivery note of a part what is before and after it", async () => {
      const config = legalConfig("delivery_note", { locale });
      Object.assign(config.lines[0], { orderedQuantity: 5, shippedBefore: 1 });
      config.outstanding = [{ label: "Boots", productNumber: "BK-1", quantity: 2 }];
      has(await text(config), ...part!);
      config.outstanding = Array.from({ length: 23 }, (_, n) => ({
        label: `T${n}`,
        productNumber: null,
        quantity: 1,
      }));
      const page = await text(config);
      has(page, "1 × T19", "3");
      assert.ok(!page.includes("T20"));
    });
  });
}

describe("long settings", () => {
  it("stay within the foot of the page", async () => {
    const long = "Wort ".repeat(400);
    const address = {
      company: long,
      street: long,
      zipcode: long,
      city: long,
      countryName: long,
      countryIso: "DE",
    };
    const bank = { accountHolder: long, iban: long, bic: long, name: long };
    const seller = { ...sampleSeller, legalName: long, address, managers: long, register: long, bank };
    const { extent } = await readPdf(await renderPdf(legalConfig("invoice", { seller })));
    assert.ok(extent.bottom <= 841.9 - 20, `goes down to ${extent.bottom}`);
    assert.ok(extent.right <= 595.3 - 48, `goes to ${extent.right}`);
  });
});

describe("erp.merchant", () => {
  let shop: DocumentShop;
  before(async () => {
    shop = await openDocumentShop();
  });
  after(async () => {
    await shop.close();
  });
  const rows = queryRows(() => shop.owner);
  const invoice = async (changes: object = {}, sql?: string) => {
    const order = await shop.order(changes);
    if (sql) await rows(sql, [order]);
    return (await shop.find(await shop.create(order, "invoice"))).config;
  };
  const settings = `insert into erp.merchant (legal_name, address, vat_id, iban, bic, bank_name, footer)
    values ('Laden GmbH', '{"street": "Hafenweg 1", "zipcode": "20457", "city": "Hamburg", "countryName": "Germany", "countryIso": "DE"}', 'DE999999999',
      'DE89370400440532013000', 'GUBODEH0', 'Bank', '{"en-GB": "Thanks", "de-DE": "Danke"}')`;

  it("takes one row, and no IBAN with wrong digits", async () => {
    await rows(settings);
    await assert.rejects(rows(settings), /merchant_pkey/);
    await assert.rejects(
      rows("update erp.merchant set iban = 'DE89370400440532013001'"),
      /merchant_iban_is_one/,
    );
    await assert.rejects(rows("update erp.merchant set bic = 'bank'"), /merchant_bic_has_its_form/);
    await assert.rejects(rows("update erp.merchant set vat_id = '999'"), /merchant_vat_id_begins/);
  });

  it("is on documents in their language, as it was when they were made", async () => {
    await rows(
      `insert into erp.country (iso_code, name) values ('DE', '{"en-GB": "Germany", "de-DE": "Deutschland"}')`,
    );
    const { seller, sender, taxExemption } = await invoice();
    assert.deepEqual(
      [
        seller.legalName,
        seller.vatId,
        seller.footer,
        seller.address.countryName,
        sender.address.city,
        taxExemption,
      ],
      ["Laden GmbH", "DE999999999", "Danke", "Deutschland", "Hamburg", null],
    );
    assert.deepEqual(seller.bank, {
      accountHolder: "Laden GmbH",
      iban: "DE89370400440532013000",
      bic: "GUBODEH0",
      name: "Bank",
    });
    assert.equal((await invoice({ countryIso: "GB" })).seller.footer, "Thanks");
    const order = await shop.order();
    const id = await shop.create(order, "invoice");
    await rows("update erp.merchant set legal_name = 'Laden AG', iban = null");
    assert.equal((await shop.find(id)).config.seller.legalName, "Laden GmbH");
    const { seller: later } = await invoice();
    assert.deepEqual([later.legalName, later.bank], ["Laden AG", null]);
  });

  it("decides why there is no tax: by destination, VAT number and size", async () => {
    const reason = async (countryIso: string, vatIds: string | null = null) => {
      await rows("update erp.customer set vat_ids = $1", [vatIds]);
      const { taxExemption, customerVatId } = await invoice({ countryIso, taxStatus: "tax-free" });
      return [taxExemption, customerVatId];
    };
    assert.deepEqual(await reason("CH"), ["export", null]);
    assert.deepEqual(await reason("GB", '["DE1"]'), ["export", "DE1"]);
    assert.deepEqual(await reason("FR", '["DE1", "FR2"]'), ["intra_community", "FR2"]);
    assert.deepEqual(await reason("GR", '["DE1", "EL2"]'), ["intra_community", "EL2"]);
    assert.deepEqual(await reason("FR"), [null, null]);
    assert.deepEqual(await reason("FR", '["DE1"]'), [null, "DE1"]);
    assert.deepEqual(await reason("FR", '["NL1"]'), ["intra_community", "NL1"]);
    assert.deepEqual(await reason("DE", '["DE1"]'), [null, "DE1"]);
    await rows("update erp.merchant set is_small_business = true");
    assert.deepEqual(await reason("DE"), ["small_business", null]);
    assert.equal((await invoice({ countryIso: "CH" })).taxExemption, null);
    await rows("update erp.merchant set is_small_business = false");
  });

  it("tells what a document lacks", async () => {
    const missing = async (config: unknown) =>
      (await rows("select erp.missing_in_document($1) as m", [config]))[0].m;
    assert.deepEqual(await missing(await invoice()), []);
    await rows("update erp.customer set vat_ids = null");
    assert.deepEqual(await missing(await invoice({ taxStatus: "tax-free", countryIso: "FR" })), [
      "order.taxExemption",
    ]);
    await rows("update erp.merchant set vat_id = null");
    assert.deepEqual(await missing(await invoice()), ["merchant.vatId"]);
    await rows("update erp.merchant set tax_number = '99/999/99999', legal_name = null");
    assert.deepEqual(await missing(await invoice()), ["merchant.legalName"]);
    await rows("delete from erp.merchant");
    assert.deepEqual(await missing(await invoice()), [
      "merchant.legalName",
      "merchant.address",
      "merchant.vatId",
    ]);
    const note = await shop.find(await shop.create(await shop.order(), "delivery_note"));
    assert.deepEqual(await missing(note.config), []);
  });
});
