import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pdfConfig } from "../../src/pdf/config.ts";
import type { PdfConfig } from "../../src/pdf/config.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { readPdf } from "./pdf.ts";

let service: TestService;
let documents: { path: string; config: PdfConfig; net: number; total: number }[];
before(async () => {
  service = await startService({ template: "template_demo" });
  const { rows } = await service.owner.query(
    `select v.download_url as path, v.config, o.amount_net::float8 as net, o.amount_total::float8 as total
     from api_unstable.documents v join erp.sales_order o on o.id = v.order_id where not v.static order by v.id`,
  );
  documents = rows.map(({ config, ...rest }) => ({ ...rest, config: pdfConfig.parse(config) }));
});
after(() => service.close());

const cents = (amount: number) => Math.round(amount * 100);

test("every document has a complete config, whose totals are those of its order", () => {
  assert.ok(documents.length > 500);
  for (const { config, net, total } of documents) {
    const { documentType, totals, lines, taxStatus } = config;
    assert.equal(totals === null, documentType === "delivery_note");
    if (totals === null) continue;
    const sign = documentType === "storno" ? -1 : 1;
    const taxes = totals.taxes.reduce((sum, { tax }) => sum + tax, 0);
    const ofLines = lines.reduce((sum, line) => sum + line.total!, 0);
    assert.equal(cents(totals.total), sign * cents(total));
    // An order rounds the net of each line, an invoice that of each rate
    assert.ok(Math.abs(cents(totals.net) - sign * cents(net)) <= lines.length);
    assert.equal(cents(totals.net + taxes), cents(totals.total));
    assert.equal(cents(ofLines), cents(taxStatus === "net" ? totals.net : totals.total));
  }
});

test("documents of every type, language and tax status can be opened, and show what they hold", async () => {
  const kinds = new Map(documents.map((document) => [kindOf(document.config), document]));
  assert.ok(kinds.size >= 16, [...kinds.keys()].join());
  for (const [kind, { path, config }] of kinds) {
    const response = await fetch(service.url + path);
    assert.equal(response.status, 200, kind);
    const text = (await readPdf(await response.bytes())).pages.join(" ");
    const numbers = [config.documentNumber, config.referencedDocumentNumber, config.orderNumber];
    const products = config.lines.flatMap(({ label, productNumber }) => [label, productNumber]);
    for (const part of [...numbers, ...products])
      if (part !== null) assert.ok(text.includes(part), `${kind}: ${part}`);
    if (config.totals === null) continue;
    const total = Math.abs(config.totals.total).toLocaleString(config.locale, { minimumFractionDigits: 2 });
    assert.ok(text.replace(/\s/g, "").includes(total.replace(/\s/g, "")), `${kind}: ${total}`);
  }
});

const kindOf = ({ documentType, locale, taxStatus, documentNumber }: PdfConfig) =>
  [documentType, locale, taxStatus, documentNumber === null ? "draft" : ""].join(" ");
