import { createRequire } from "node:module";
import { dirname, sep } from "node:path";
import pdfmake from "pdfmake";
import { pdfConfig } from "./config.ts";
import { embeddedXml, invoiceMetadata, isHybrid } from "./embedded-xml.ts";
import { layOut } from "./layout.ts";

const require = createRequire(import.meta.url);
const fontFile = require.resolve("pdfmake/fonts/Roboto");
const fontFolder = dirname(fontFile) + sep;

// pdfmake needs no URLs: it only reads the fonts
pdfmake.setUrlAccessPolicy(() => false);
pdfmake.setLocalAccessPolicy((path) => path.startsWith(fontFolder));
pdfmake.setFonts(require(fontFile) as Parameters<typeof pdfmake.setFonts>[0]);

/**
 * Renders a document as PDF.
 *
 * @param config as `erp.open_document` returns it
 * @throws if it has another format
 */
export async function renderPdf(config: unknown): Promise<Buffer> {
  const parsed = pdfConfig.safeParse(config);
  // zod's error would lose its message between threads
  if (!parsed.success) throw new Error(parsed.error.message);
  const { data } = parsed;
  if (!isHybrid(data)) return pdfmake.createPdf(layOut(data)).getBuffer();
  const pdf = pdfmake.createPdf({ ...layOut(data), ...embeddedXml(data) });
  (await pdf.getStream()).appendXML(invoiceMetadata(data));
  return pdf.getBuffer();
}
