import type { Content } from "pdfmake";
import type { Address, PdfConfig } from "./config.ts";
import type { Formats } from "./formats.ts";
import type { Labels } from "./labels.ts";
import { breakLongWords } from "./text.ts";

// A letter in form B of DIN 5008, whose address shows in the window of an envelope. Lengths are in points.
export const mm = 72 / 25.4;
export const margins = { left: 25 * mm, right: 20 * mm, top: 24 * mm };
export const grey = "#5f6368";

/** Width between the margins. */
export const textWidth = 210 * mm - margins.left - margins.right;

const window = { top: 45 * mm, width: 80 * mm, addressTop: 62.7 * mm, lines: 9, linesBelow: 6 };
const titleTop = 95.5 * mm;
const info = { label: 28 * mm, value: 40 * mm };
const lineHeight = 12.4;

export const isText = (text: string | null | undefined): text is string =>
  typeof text === "string" && text !== "";
export const joinedTexts = (parts: (string | null | undefined)[], by: string) =>
  parts.filter(isText).join(by);

/** Returns the lines of an address on an envelope. A country other than the sender's is added in capitals. */
export function addressLines(address: Address | null, home: Address | null): string[] {
  const isAbroad = address?.countryIso !== home?.countryIso || address?.countryIso === null;
  return addressLinesWithCountry(address, isAbroad ? address?.countryName?.toLocaleUpperCase("en-GB") : null);
}

/** Returns the lines of an address with a country. */
export function addressLinesWithCountry(
  address: Address | null,
  country: string | null | undefined,
): string[] {
  if (address === null) return [];
  return [
    address.company,
    address.department,
    joinedTexts([address.firstName, address.lastName], " "),
    address.additionalAddressLine1,
    address.additionalAddressLine2,
    address.street,
    joinedTexts([address.zipcode, address.city], " "),
    address.countryStateName,
    country,
  ].filter(isText);
}

/** Returns the sender in one line. */
export function senderLine({ sender: { name, address }, seller }: PdfConfig): string {
  return joinedTexts(
    [
      seller?.legalName ?? name,
      address?.street,
      joinedTexts([address?.zipcode, address?.city], " "),
      address?.countryName,
    ],
    " · ",
  );
}

/** Returns the sender's line above the address, where there is less space. If it doesn't fit, the country is left out. */
function returnLine(config: PdfConfig): string {
  const line = senderLine(config);
  return line.length <= 66 ? line : line.slice(0, line.lastIndexOf(" · "));
}

/** Cuts a text after some lines. pdfmake leaves out lines that begin below maxHeight. */
export function clipText(text: string, fontSize: number, lines: number, more: object = {}): Content {
  // pdfmake's types lack maxHeight
  const node = { text: breakLongWords(text), fontSize, maxHeight: fontSize * (0.2 + 1.5 * lines), ...more };
  return node;
}
export const oneLine = (text: string, fontSize: number, more: object = {}): Content =>
  clipText(text.replaceAll("\n", " "), fontSize, 1, more);

/** Splits long lines of an address, the first ones first, as long as all of it fits into the window. */
function windowLines(lines: string[]): string[] {
  let free = window.lines - lines.length;
  return lines.flatMap((line) => {
    const parts = line.match(/\S.{0,51}(?=\s|$)|\S{1,52}/g) ?? [];
    if (parts.length - 1 > free) return [line];
    free -= parts.length - 1;
    return parts;
  });
}

/** The part above the title on the first page: the address in its window, and the document's details. */
export function letterhead(config: PdfConfig, labels: Labels, formats: Formats): Content {
  const { billingAddress, shippingAddress, sender } = config;
  const isDelivery = config.documentType === "delivery_note";
  const recipient = isDelivery ? (shippingAddress ?? billingAddress) : (billingAddress ?? shippingAddress);
  const lines = windowLines(addressLines(recipient, sender.address));
  // An address with more lines than fit begins higher, where DIN 5008 has room for remarks
  const addressTop = window.addressTop - Math.max(0, lines.length - window.linesBelow) * lineHeight;
  const size = Math.max(0, ...lines.map((line) => line.length)) > 40 ? 8 : 10;
  const address: Content = {
    stack: [
      oneLine(returnLine(config), 6.5, { color: grey, margin: [0, addressTop - window.top - 11, 0, 3] }),
      ...lines.map((line) => oneLine(line, size, { lineHeight: lineHeight / (size * 1.172) })),
    ],
  };
  return {
    margin: [0, window.top - margins.top, 0, 8],
    layout: bare,
    table: {
      widths: [window.width, textWidth - window.width - info.label - info.value, info.label + info.value],
      heights: [titleTop - window.top],
      body: [[address, "", { margin: [0, 5 * mm, 0, 0], ...information(config, labels, formats) }]],
    },
  };
}

function information(config: PdfConfig, labels: Labels, formats: Formats) {
  const dayOf = (date: string | null | undefined) => (date ? formats.date(date) : null);
  const rows: [string, string | null][] = [
    [labels.number, config.documentNumber ?? labels.draft],
    [labels.date, formats.date(config.documentDate)],
    [labels.referencedNumber, config.referencedDocumentNumber],
    [labels.orderNumber, config.orderNumber],
    [labels.orderDate, dayOf(config.orderDate)],
    [labels.validUntil, dayOf(config.validUntil)],
    [labels.deliverBy, dayOf(config.deliverBy)],
    [labels.purchaseOrderNumber, config.purchaseOrderNumber ?? null],
    [labels.buyerReference, config.displayPrices ? (config.buyerReference ?? null) : null],
    [labels.deliveryDate, config.displayPrices ? deliveryDate(config, formats) : null],
    [labels.customerNumber, config.customerNumber],
    [labels.customerVatId, config.displayPrices ? config.customerVatId : null],
    [labels.shippingMethod, config.shippingMethod],
    [labels.paymentMethod, config.displayPrices ? config.paymentMethod : null],
  ];
  const body = rows
    .filter(([, value]) => isText(value))
    .map(([label, value]): Content[] => [{ text: label, color: grey, fontSize: 9 }, clipText(value!, 9, 2)]);
  return { layout: tight, table: { widths: [info.label, info.value], body } };
}

/** Returns the day of delivery, or the days of the first and the last parcel. */
function deliveryDate({ deliveryDate: period }: PdfConfig, { date }: Formats): string | null {
  if (!period) return null;
  return period.from === period.to ? date(period.to) : `${date(period.from)} – ${date(period.to)}`;
}

/** Makes the page header: the shop's name on the first page, the document's name on the others. */
export function header(config: PdfConfig, title: string) {
  const name = config.sender.name ?? "";
  return (number: number): Content => ({
    margin: [margins.left, number === 1 ? 14 * mm : 12 * mm, margins.right, 0],
    columns:
      number === 1
        ? [oneLine(name, 17, { bold: true })]
        : [oneLine(name, 8, { color: grey }), oneLine(title, 8, { color: grey, alignment: "right" })],
  });
}

/** Marks for folding and punching the first page. */
export function foldMarks(number: number): Content {
  if (number > 1) return "";
  return {
    canvas: [105, 148.5, 210].map((at) => ({
      type: "line",
      x1: 3 * mm,
      x2: (at === 148.5 ? 9 : 7) * mm,
      y1: at * mm,
      y2: at * mm,
      lineWidth: 0.3,
      lineColor: grey,
    })),
  };
}

const none = () => 0;
const bare = {
  hLineWidth: none,
  vLineWidth: none,
  paddingLeft: none,
  paddingRight: none,
  paddingTop: none,
  paddingBottom: none,
};
const tight = { ...bare, paddingBottom: () => 1.5 };
