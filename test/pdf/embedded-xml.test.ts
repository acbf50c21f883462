import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { renderPdf } from "../../src/pdf/render-pdf.ts";
import { sampleInvoice } from "../invoices/sample.ts";
import { PdfObjects } from "./pdf-objects.ts";
import { readPdf } from "./pdf.ts";

// What PDF/A-3b (ISO 19005-3) and Factur-X 1.0 ask of the structure of a PDF with an XML

const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<a b="ü€𝄞">\r\n\t${"x".repeat(10_000)}</a>\n`;
const render = (changes: object = {}) =>
  renderPdf({ ...sampleInvoice({ form: "zugferd" }), xml, ...changes });

/** Characters by blocks, with letters, marks and symbols that fonts have or lack. */
const oddTexts = [..."AΑАא字𝄞ﬁ\ue000\ufdd0"].map((first) =>
  Array.from({ length: 200 }, (_, n) => String.fromCodePoint(first.codePointAt(0)! + n)).join(" "),
);

describe("the PDF of an invoice with XML", () => {
  let bytes: Buffer;
  let pdf: PdfObjects;
  before(async () => {
    bytes = await render();
    pdf = new PdfObjects(bytes);
  });

  it("contains it byte for byte, as a file that is another form of the invoice", async () => {
    const { text } = pdf.at("Root", "AF");
    assert.match(text, /\/Type \/Filespec\b/);
    assert.match(text, /\/AFRelationship \/Alternative\b/);
    assert.match(text, /\/F \(factur-x\.xml\)/);
    assert.match(text, /\/UF \(factur-x\.xml\)/);
    const names = pdf.at("Root", "Names").text;
    const [, number] = /\/EmbeddedFiles <<\s*\/Names \[\s*\(factur-x\.xml\) (\d+) 0 R/.exec(names) ?? [];
    assert.match(pdf.at("Root").text, new RegExp(`/AF \\[${number} 0 R\\]`));
    const file = pdf.at("Root", "AF", "F");
    assert.match(file.text, /\/Type \/EmbeddedFile\b[^]*\/ModDate \(D:20260504000000Z\)/);
    assert.match(file.text, /\/Subtype \/text#2Fxml\b/);
    assert.match(file.text, new RegExp(`/Size ${Buffer.byteLength(xml)}\\b`));
    assert.ok(file.stream!.equals(Buffer.from(xml)));
    const { files } = await readPdf(bytes);
    assert.deepEqual([...files.keys()], ["factur-x.xml"]);
    assert.ok(files.get("factur-x.xml")!.equals(Buffer.from(xml)));
  });

  it("says so in its metadata, with the schema of these properties", async () => {
    const { metadata } = await readPdf(bytes);
    const values = ["documenttype", "documentfilename", "version", "conformancelevel"];
    assert.deepEqual(
      [...values.map((name) => metadata.get(`fx:${name}`)), metadata.get("dc:title")],
      ["INVOICE", "factur-x.xml", "1.0", "EN 16931", "Invoice INV-10042"],
    );
    assert.deepEqual([metadata.get("pdfaid:part"), metadata.get("pdfaid:conformance")], ["3", "B"]);
    const { text, stream } = pdf.at("Root", "Metadata");
    assert.match(text, /\/Type \/Metadata\n\/Subtype \/XML\b/);
    assert.doesNotMatch(text, /\/Filter/);
    const xmp = stream!.toString();
    const uri = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#";
    assert.ok(xmp.includes(`xmlns:fx="${uri}"`));
    assert.ok(xmp.includes(`<pdfaSchema:namespaceURI>${uri}</pdfaSchema:namespaceURI>`));
    assert.deepEqual(
      [...xmp.matchAll(/<pdfaProperty:name>(\w+)</g)].map(([, name]) => name!.toLowerCase()).toSorted(),
      values.toSorted(),
    );
  });

  it("has the colours, the fonts and the id that PDF/A demands, and no encryption", () => {
    assert.equal(bytes.subarray(0, 9).toString(), "%PDF-1.7\n");
    assert.match(pdf.trailer, /\/ID \[<([0-9a-f]{32})> <\1>\]/);
    assert.doesNotMatch(pdf.trailer, /\/Encrypt/);
    assert.match(pdf.at("Root", "OutputIntents").text, /\/S \/GTS_PDFA1\b/);
    const profile = pdf.at("Root", "OutputIntents", "DestOutputProfile");
    assert.match(profile.text, /\/N 3\b/);
    assert.equal(profile.stream!.toString("latin1", 16, 20), "RGB ");
    assert.equal(profile.stream!.toString("latin1", 36, 40), "acsp");
    const fonts = pdf.all.filter(({ text }) => text.includes("/Type /FontDescriptor"));
    assert.equal(fonts.length, 2);
    for (const { text } of fonts) assert.match(text, /\/FontFile2 \d+ 0 R/);
  });
});

describe("its text", () => {
  it("uses no glyph that the fonts lack", async () => {
    const [line] = sampleInvoice().lines;
    const lines = oddTexts.map((label) => ({ ...line, label, description: `**${label}` }));
    const pdf = new PdfObjects(await render({ lines, title: "Weird 日本", orderNumber: "字" }));
    const content = pdf.all.map(({ stream }) => stream?.toString("latin1") ?? "").join("\n");
    const texts = [...content.matchAll(/^\[<.*>.*\] TJ$/gm)].flatMap(([text]) => text.match(/<[0-9a-f]*>/g)!);
    const shown = texts.flatMap((text) => text.match(/[0-9a-f]{4}/g) ?? []);
    assert.ok(shown.length > 2_000, `${shown.length} glyphs`);
    assert.ok(!shown.includes("0000"));
  });

  it("can be any, also in the metadata", async () => {
    const { title, metadata } = await readPdf(await render({ title: "A & B <c>", documentNumber: "1>2" }));
    assert.equal(metadata.get("dc:title")?.replaceAll(/\s+/g, " "), title.replaceAll(/\s+/g, " "));
    assert.match(title, /^A +B +c +1 2$/);
  });
});

describe("other PDFs", () => {
  it("contain no XML: those of the form xrechnung, of older documents and of drafts", async () => {
    const { standard } = sampleInvoice({ form: "xrechnung" });
    for (const changes of [
      { standard },
      { xml: null },
      { standard: null },
      { standard: undefined, xml: undefined },
    ]) {
      const { files, metadata } = await readPdf(await render(changes));
      assert.deepEqual([files.size, metadata.size], [0, 0]);
    }
  });
});
