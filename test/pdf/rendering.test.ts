import assert from "node:assert/strict";
import { test } from "node:test";
import { renderPdf } from "../../src/pdf/render-pdf.ts";
import { readPdf } from "./pdf.ts";
import type { PdfText } from "./pdf.ts";
import { longConfig, sampleConfig, sampleOf } from "./sample.ts";

const rendered = async (config: unknown): Promise<PdfText> => readPdf(await renderPdf(config));

/** Fails unless a text has these parts in this order. */
function assertHas(text: string, ...parts: string[]): void {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part.replaceAll("\u00a0", " "), from);
    assert.ok(at >= 0, `“${part}” is not in its place in: ${text}`);
    from = at + part.length;
  }
}

/** Nothing is printed far beyond the right margin, or below the page. The reader estimates the width of boxes. */
function assertWithinPage({ extent: { right, bottom } }: PdfText): void {
  assert.ok(right <= 595.3 - 48, `goes to ${right}`);
  assert.ok(bottom <= 841.9 - 28, `goes down to ${bottom}`);
}

test("an invoice has sender, address, numbers, lines, and totals with taxes by rate", async () => {
  const { pages, title, language } = await rendered(sampleConfig());
  assert.deepEqual([pages.length, title, language], [1, "Invoice INV-10042", "en-GB"]);
  const text = pages[0]!;
  assertHas(text, "Gipfel & Bohne · Hafenweg 1 · 20457 Hamburg · Germany");
  assertHas(text, "Café Zeitlos", "Chloé Lefèvre", "Rue des Tilleuls 5", "74000 Annecy", "FRANCE");
  assertHas(text, "Number INV-10042", "Date 4 May 2026", "Order SO-10017", "Ordered on 1 May 2026");
  assertHas(text, "Customer no. C-10003", "Your VAT no. FR123456789", "Shipping Express", "Payment Prepaid");
  assertHas(text, "Invoice INV-10042", "Unit price VAT Amount");
  assertHas(text, "1 Wanderstiefel Größe 42", "BK-0001", "2 59.50 € 19% 119.00 €");
  assertHas(text, "2 Café moulu – 500 g", "BK-0002", "100 10.70 € 7% 1,070.00 €");
  assertHas(text, "Net total 1,100.00 €", "VAT 7% on 1,000.00 € 70.00 €", "VAT 19% on 100.00 € 19.00 €");
  assertHas(text, "Total 1,189.00 €", "Prices include VAT.", "Page 1 of 1");
});

const languages = {
  "en-GB": ["4 May 2026", "1,189.00 €", "119.00 €", "19%", "Page 1 of 1", "Qty"],
  "de-DE": ["04.05.2026", "1.189,00 €", "119,00 €", "19 %", "Seite 1 von 1", "Menge"],
  "fr-FR": ["4 mai 2026", "1 189,00 €", "119,00 €", "19 %", "Page 1 sur 1", "Qté"],
};
for (const [locale, [date, total, lineTotal, rate, page, quantity]] of Object.entries(languages)) {
  test(`documents of each type in ${locale}`, async () => {
    for (const type of ["invoice", "delivery_note", "credit_note", "storno"]) {
      const document = await rendered(sampleOf(type, { locale, title: `Titel ${type}` }));
      const text = document.pages.join(" ");
      const sign = type === "invoice" ? "" : "-";
      assert.equal(document.language, locale);
      assertWithinPage(document);
      assertHas(text, "XX-10001", date!, "SO-10017", `Titel ${type} XX-10001`, quantity!, page!);
      assertHas(text, "Wanderstiefel Größe 42", "BK-0001", "Café moulu – 500 g", "BK-0002");
      if (type === "delivery_note") {
        assert.doesNotMatch(text, /€|119|%|Prepaid/);
      } else {
        assertHas(text, rate!, sign + lineTotal!, sign + total!);
      }
      assert.equal(text.includes("INV-10042"), type === "credit_note" || type === "storno");
    }
  });
}

test("what the lines' prices mean depends on the tax status", async () => {
  const net = (await rendered(sampleConfig({ taxStatus: "net" }))).pages[0]!;
  assertHas(net, "Net total 1,100.00 €", "Total 1,189.00 €", "without VAT");
  const free = (
    await rendered(sampleConfig({ taxStatus: "tax-free", totals: { net: 1100, taxes: [], total: 1100 } }))
  ).pages[0]!;
  assertHas(free, "Total 1,100.00 €", "No VAT is charged.");
  assert.doesNotMatch(free, /Net total|19%/);
});

test("the symbol stands where the shop wants it, and digits are those of the currency", async () => {
  const total = async (currency: object) => (await rendered(sampleConfig({ currency }))).pages[0]!;
  assertHas(await total({ isoCode: "GBP", symbol: "£", position: 0 }), "Total £1,189.00");
  assertHas(await total({ isoCode: "CHF", symbol: "CHF", position: 0 }), "Total CHF 1,189.00");
  assertHas(await total({ isoCode: "JPY", symbol: "¥", position: 0 }), "Total ¥1,189");
  assertHas(await total({ isoCode: "XXX", symbol: "¤", position: 1 }), "Total 1,189.00 ¤");
});

test("long tables continue on the next page, under their header, with page numbers", async () => {
  const document = await rendered(longConfig(120, { locale: "de-DE" }));
  const { pages } = document;
  assert.ok(pages.length >= 4, `${pages.length} pages`);
  for (const [i, page] of pages.entries()) {
    assertHas(page, `Seite ${i + 1} von ${pages.length}`);
    assertHas(page, "Bezeichnung Menge Einzelpreis USt. Betrag");
    if (i > 0) assertHas(page, "Invoice INV-10042");
  }
  for (let n = 1; n <= 120; n++) assertHas(pages.join(" "), `${n} Thing ${n} `);
  assertWithinPage(document);
});

test("sixty lines take three pages, and the totals aren't alone on the last one", async () => {
  const config = longConfig(60, { locale: "de-DE" });
  for (const line of config.lines) line.label = "Kletterseil 60 m, 9,8 mm, imprägniert";
  const { pages } = await rendered(config);
  assert.equal(pages.length, 3);
  assertHas(pages[2]!, "60 Kletterseil", "Summe netto", "Gesamtbetrag");
  // However many lines there are, the totals follow at least one of them
  for (let count = 14; count < 24; count++) {
    const last = (await rendered(longConfig(count))).pages.at(-1)!;
    assertHas(last, `${count} Thing ${count} `, "Net total");
  }
});

test("long names of buyers are printed whole, as long as the address fits into the window", async () => {
  const company =
    "Société coopérative de production et de distribution de matériel de montagne des Hautes-Alpes";
  const billingAddress = { ...sampleConfig().billingAddress, company };
  const { pages } = await rendered(sampleConfig({ billingAddress }));
  assertHas(pages[0]!, company, "Chloé Lefèvre", "74000 Annecy", "FRANCE");
  const everything = Object.fromEntries(Object.keys(billingAddress).map((key) => [key, company]));
  assertHas((await rendered(sampleConfig({ billingAddress: everything }))).pages[0]!, "SOCIÉTÉ COOPÉRATIVE");
});

test("texts of any length stay within the page, and no line is lost", async () => {
  const everything = (text: string) => {
    const config = longConfig(8);
    for (const key of Object.keys(config.billingAddress)) config.billingAddress[key] = text;
    config.shippingAddress = { ...config.billingAddress, street: `other ${text}` };
    config.sender = { name: text, address: config.billingAddress };
    Object.assign(config, { title: text, orderNumber: text, customerNumber: text, shippingMethod: text });
    for (const line of config.lines) Object.assign(line, { description: text, productNumber: text });
    for (const line of config.lines.slice(1, 3)) line.label = text;
    Object.assign(config.lines[3], { quantity: 2147483647, unitPrice: 123456789012.34, total: -1e15 });
    return config;
  };
  const texts = [
    "Lorem ipsum – ö é € ".repeat(2_000),
    "W".repeat(50_000),
    "a\n".repeat(3_000),
    "😀日本".repeat(500),
  ];
  for (const text of texts) {
    const document = await rendered(everything(text));
    assertWithinPage(document);
    assertHas(document.pages.join(" "), "1 Thing 1", "8 Thing 8", "Net total", "Total");
  }
});

test("characters that the font lacks, or that have no shape, do no harm", async () => {
  const label =
    "ö é € – ł Ж α ß \u0000\u0007\u202e\u2066\u200f\ufeff\ud800 e\u0301 \u202f| 日本語 😀👨‍👩‍👧 \u05d0 \u0e01\ufe0f";
  const { pages } = await rendered(sampleConfig({ lines: [{ ...sampleConfig().lines[0], label }] }));
  assertHas(pages[0]!, "ö é € – ł Ж α ß é");
});

test("what is missing leaves no gap that breaks anything", async () => {
  const nothing = {
    orderNumber: null,
    customerNumber: null,
    customerVatId: null,
    shippingMethod: null,
    paymentMethod: null,
  };
  const config = sampleConfig({
    ...nothing,
    documentNumber: null,
    billingAddress: null,
    shippingAddress: { city: 5, street: "Only street" },
    sender: { name: null, address: null },
    lines: [],
    totals: { net: 0, taxes: [], total: -0 },
    locale: "xx-invalid-locale",
  });
  const { pages, title, language } = await rendered(config);
  assert.deepEqual([title, language], ["Invoice (Draft)", "en-GB"]);
  assertHas(pages[0]!, "Only street", "Number Draft", "Total 0.00 €");
});

test("the same config always gives the same bytes", async (context) => {
  const bytes = await renderPdf(longConfig(60));
  context.mock.timers.enable({ apis: ["Date"], now: Date.now() + 86_400_000 });
  assert.ok(bytes.equals(await renderPdf(longConfig(60))));
  assert.equal((await readPdf(bytes)).created, "D:20260504000000Z");
});

test("a config of another form is refused", async () => {
  for (const config of [
    {},
    null,
    sampleConfig({ documentDate: "soon" }),
    sampleConfig({ lines: [{ position: 1 }] }),
  ]) {
    await assert.rejects(async () => renderPdf(config));
  }
});
