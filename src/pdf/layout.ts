import type { Content } from "pdfmake";
import type { TDocumentDefinitions } from "pdfmake/interfaces.js";
import type { PdfConfig } from "./config.ts";
import { makeFormats } from "./formats.ts";
import type { Formats } from "./formats.ts";
import { pdfLocale, labelsByLocale } from "./labels.ts";
import type { Labels } from "./labels.ts";
import { bottomMargin, footer } from "./footer.ts";
import { addressLines, grey, header, letterhead, margins, foldMarks, senderLine } from "./letter.ts";
import { linesTable } from "./table.ts";
import { breakLongWords } from "./text.ts";
import { totalsTable } from "./totals.ts";

/**
 * Lays out a document for pdfmake. It depends only on the config, so the same config always gives the same document.
 */
export function layOut(config: PdfConfig): TDocumentDefinitions {
  const locale = pdfLocale(config.locale);
  const labels = labelsByLocale[locale];
  const formats = makeFormats(locale, config.currency);
  const title = `${config.title} ${config.documentNumber ?? `(${labels.draft})`}`;
  const ending = [
    totalsTable(config, labels, formats),
    outstanding(config, labels, formats),
    deliveryAddress(config, labels),
    smallPrint(config.seller?.footer),
    // pdfmake gives an empty text the height of a line
  ].filter((content) => content !== "");
  return {
    pageSize: "A4",
    pageMargins: [margins.left, margins.top, margins.right, bottomMargin(config)],
    defaultStyle: { font: "Roboto", fontSize: 10, lineHeight: 1.15, color: "#202124" },
    language: locale,
    displayTitle: true,
    info: {
      title,
      author: senderLine(config),
      creator: "Stock and order GraphQL",
      creationDate: new Date(`${config.documentDate}T00:00:00Z`),
    },
    background: foldMarks,
    header: header(config, title),
    footer: footer(config, labels),
    content: [
      letterhead(config, labels, formats),
      { text: breakLongWords(title), fontSize: 15, bold: true },
      {
        text: breakLongWords(labels.opening(referenced(config, labels, formats))[config.documentType]),
        margin: [0, 6, 0, 0],
      },
      ...linesTable(config, ending, labels, formats),
    ],
  };
}

/** Returns the number of the reversed invoice, with its date if known. */
function referenced(config: PdfConfig, labels: Labels, formats: Formats): string {
  const { referencedDocumentNumber: number, referencedDocumentDate: date } = config;
  if (number === null) return "–";
  return date ? labels.dated(number, formats.date(date)) : number;
}

/** Lists the units of the order that are in no parcel yet. */
function outstanding(config: PdfConfig, labels: Labels, formats: Formats): Content {
  const lines = config.outstanding ?? [];
  if (lines.length === 0) return "";
  const named = lines.slice(0, maxOutstanding).map(({ label, productNumber, quantity }) => {
    const number = productNumber === null ? "" : ` (${labels.productNumber} ${productNumber})`;
    return `${formats.quantity(quantity)} × ${label ?? ""}${number}`;
  });
  const rest = lines.length - named.length;
  if (rest > 0) named.push(labels.more(formats.quantity(rest)));
  return {
    margin: [0, 10, 0, 0],
    fontSize: 9,
    stack: [
      { text: labels.outstanding, bold: true },
      ...named.map((text) => ({ text: breakLongWords(text) })),
    ],
  };
}
const maxOutstanding = 20;

/** The merchant's text at the end of each document. */
function smallPrint(text: string | null | undefined): Content {
  if (!text) return "";
  return { text: breakLongWords(text), fontSize: 8, color: grey, margin: [0, 4, 0, 0] };
}

/** The delivery address, unless it is the address of the letter. */
function deliveryAddress(
  { documentType, billingAddress, shippingAddress, sender }: PdfConfig,
  labels: Labels,
): Content {
  const billed = addressLines(billingAddress, sender.address).join(", ");
  const delivered = addressLines(shippingAddress, sender.address).join(", ");
  if (documentType === "delivery_note" || billed === "" || delivered === "" || billed === delivered)
    return "";
  return {
    text: breakLongWords(`${labels.deliveryAddress} ${delivered}`),
    fontSize: 8,
    color: grey,
    margin: [0, 4, 0, 0],
  };
}
