import type { Content, TableCell } from "pdfmake";
import type { PdfConfig, PdfLine } from "./config.ts";
import { makeFormats } from "./formats.ts";
import type { Formats } from "./formats.ts";
import { pdfLocale } from "./labels.ts";
import type { Labels } from "./labels.ts";
import { grey, isText, joinedTexts, mm, textWidth } from "./letter.ts";
import { giroCode, paymentTerms } from "./payment.ts";
import { breakLongWords } from "./text.ts";

interface Column {
  label: string;
  width: number;
  isFigure: boolean;
  cell(line: PdfLine): Content;
}

/** The table of the document's lines. Its header is repeated on each page. */
export function linesTable(config: PdfConfig, labels: Labels, formats: Formats): Content {
  const columns = lineColumns(config, labels, formats);
  const areKeptWhole = config.lines.every(isShort);
  const cell = ({ isFigure }: Column, content: Content): TableCell => ({
    stack: [content],
    alignment: isFigure ? "right" : "left",
  });
  return {
    margin: [0, 10, 0, 0],
    fontSize: 9,
    layout: ruled,
    table: {
      headerRows: 1,
      dontBreakRows: areKeptWhole,
      keepWithHeaderRows: areKeptWhole ? 1 : 0,
      // Fixed widths: pdfmake would make a column with a long word wider than the page
      widths: columns.map(({ width }) => width),
      body: [
        columns.map((column) => cell(column, { text: column.label, bold: true })),
        ...config.lines.map((line) => columns.map((column) => cell(column, column.cell(line)))),
      ],
    },
  };
}

/** Whether a line certainly fits on a page. pdfmake would cut a longer one if it had to keep it on one page. */
function isShort({ label, description, productNumber }: PdfLine): boolean {
  const text = [label, description, productNumber].join("\n");
  return text.length + 30 * text.split("\n").length < 900;
}

function lineColumns(config: PdfConfig, labels: Labels, formats: Formats): Column[] {
  const { lines, displayPrices, taxStatus } = config;
  const column = (label: string, show: (line: PdfLine) => string, isFigure = true): Column => ({
    label,
    width: Math.max(columnWidth([label]) * 1.15, columnWidth(lines.map(show))),
    isFigure,
    cell: show,
  });
  const shown = <T>(value: T | null | undefined, format: (value: T) => string) =>
    value === null || value === undefined ? "" : format(value);
  const before = [column(labels.position, ({ position }) => String(position), false)];
  const after = [column(labels.quantity, ({ quantity }) => formats.quantity(quantity))];
  if (displayPrices) {
    after.push(column(labels.unitPrice, ({ unitPrice }) => shown(unitPrice, formats.unitPrice)));
    if (taxStatus !== "tax-free")
      after.push(column(labels.taxRate, ({ taxRate }) => shown(taxRate, formats.rate)));
    after.push(column(labels.lineTotal, ({ total }) => shown(total, formats.amount)));
  }
  const taken = [...before, ...after].reduce((sum, { width }) => sum + width + 2 * gap, 0);
  const cell = (line: PdfLine) => describeLine(line, labels, formats);
  return [
    ...before,
    { label: labels.description, width: textWidth - taken, isFigure: false, cell },
    ...after,
  ];
}

function describeLine(line: PdfLine, labels: Labels, formats: Formats): Content {
  const { label, description, productNumber } = line;
  const small = (text: string) => ({ text: breakLongWords(text), color: grey, fontSize: 8 });
  const number = productNumber === null ? [] : [small(`\u2003${productNumber}`)];
  const details = [
    description,
    line.isShare ? labels.share : null,
    discount(line, labels, formats),
    line.orderedQuantity ? partialDelivery(line, line.orderedQuantity, labels, formats) : null,
  ];
  return {
    stack: [{ text: [breakLongWords(label ?? ""), ...number] }, ...details.filter(isText).map(small)],
  };
}

/** Returns the discount that a line's total contains, in the kind of prices that the lines show. */
function discount({ discount, quantity, unitPrice, total }: PdfLine, labels: Labels, { amount }: Formats) {
  if (!discount) return null;
  const off = (total ?? 0) - quantity * (unitPrice ?? 0);
  const shown =
    typeof unitPrice === "number" && Math.abs(off) >= 0.005 ? `${labels.discount} ${amount(off)}` : null;
  return joinedTexts([shown, discount.reason], ", ");
}

/** Returns the ordered, earlier and later units of a line that is only partly in the parcel. */
function partialDelivery(
  { quantity, shippedBefore }: PdfLine,
  ordered: number,
  labels: Labels,
  formats: Formats,
): string {
  const before = shippedBefore ?? 0;
  const some = (count: number) => (count > 0 ? formats.quantity(count) : null);
  return labels.part(formats.quantity(ordered), some(before), some(ordered - before - quantity));
}

/** Returns the width for the longest figure, within limits. Longer figures wrap. */
function columnWidth(texts: string[]): number {
  const longest = texts.reduce((length, text) => Math.max(length, text.length), 0);
  return Math.min(Math.max(longest * 5 + 2, 7 * mm), 32 * mm);
}

/** The table of totals, with the taxes by rate. */
export function totalsTable(config: PdfConfig, labels: Labels, formats: Formats): Content {
  if (config.totals === null) return "";
  const { net, taxes, total, paid, due } = config.totals;
  const isTaxed = config.taxStatus !== "tax-free";
  const taxStatus = labels.taxStatus[config.taxStatus];
  const rows: [label: string, amount: number, style?: object][] = [
    ...(isTaxed ? [[labels.net, net] as [string, number]] : []),
    ...(isTaxed ? taxes.filter(isCharged) : []).map(({ rate, net: on, tax }): [string, number] => [
      labels.tax(formats.rate(rate), formats.amount(on)),
      tax,
    ]),
    [labels.total, total, strongRow],
    ...(paid
      ? ([
          [labels.paid, -paid],
          [labels.due, due!, strongRow],
        ] as [string, number, object?][])
      : []),
  ];
  return {
    margin: [0, 8, 0, 0],
    unbreakable: true,
    stack: [
      {
        columns: [
          { width: "*", stack: [giroCode(config, labels)] },
          {
            width: 92 * mm,
            fontSize: 9,
            layout: { ...totalsRules, hLineWidth: (row: number) => (rows[row]?.[2] ? 0.8 : 0) },
            table: {
              widths: ["*", columnWidth([formats.amount(total), formats.amount(net)]) + 6 * mm],
              body: rows.map(([label, amount, style]): TableCell[] => [
                { text: label, ...style },
                { text: formats.amount(amount), alignment: "right", ...style },
              ]),
            },
          },
        ],
      },
      ...[...paymentTerms(config, labels, formats), ...taxReasons(config, labels)].map((text): Content => ({
        text: breakLongWords(text),
        fontSize: 9,
        margin: [0, 6, 0, 0],
      })),
      ...(isTaxed ? [{ text: taxStatus, fontSize: 8, color: grey, margin: [0, 8, 0, 0] } as Content] : []),
      ...taxInDefaultCurrency(config, labels, formats),
    ],
  };
}

/** The tax in the merchant's own currency and the exchange rate, as Article 230 of Directive 2006/112/EC requires. */
function taxInDefaultCurrency(config: PdfConfig, labels: Labels, formats: Formats): Content[] {
  const { taxInDefaultCurrency: own, currency } = config;
  if (!own) return [];
  const { amount } = makeFormats(pdfLocale(config.locale), own.currency);
  const taxes = own.taxes.map(({ rate, tax }) => `${formats.rate(rate)} ${amount(tax)}`);
  const { factor, date } = own.exchangeRate;
  const rate = `1 ${own.currency.isoCode} = ${formats.factor(factor)} ${currency.isoCode}`;
  return [
    labels.taxIn(own.currency.isoCode, [...taxes, `${labels.total} ${amount(own.tax)}`].join(", ")),
    labels.exchangeRate(rate, formats.date(date)),
  ].map((text) => ({ text, fontSize: 8, margin: [0, 2, 0, 0] }));
}

type Tax = NonNullable<PdfConfig["totals"]>["taxes"][number];

/** Whether a tax is one that is charged, perhaps at a rate of 0, rather than a reason for none. */
const isCharged = ({ category }: Tax): boolean => !category || category === "S" || category === "Z";

/** Returns why there is no tax, for each category without. */
function taxReasons({ taxStatus, taxExemption, totals }: PdfConfig, labels: Labels): string[] {
  const reasons = new Set(totals!.taxes.map(({ reason }) => reason).filter(isText));
  if (reasons.size > 0 || taxStatus !== "tax-free") return [...reasons];
  // Documents of earlier versions have only its name
  const named: Record<string, string> = labels.taxExemption;
  return [named[taxExemption ?? ""] ?? labels.taxStatus[taxStatus]];
}

const strongRow = { bold: true, fontSize: 11 };
/** Space on either side of a column. */
const gap = 6;
const none = () => 0;
const strong = "#202124";
const faint = "#dadce0";

const ruled = {
  hLineWidth: (row: number) => (row === 0 ? 0 : row === 1 ? 0.8 : 0.4),
  hLineColor: (row: number) => (row === 1 ? strong : faint),
  vLineWidth: none,
  paddingLeft: (column: number) => (column === 0 ? 0 : gap),
  paddingRight: (column: number, { table }: { table: { body: unknown[][] } }) =>
    column === table.body[0]!.length - 1 ? 0 : gap,
  paddingTop: () => 3,
  paddingBottom: () => 3,
};
const totalsRules = {
  ...ruled,
  hLineColor: strong,
  paddingTop: () => 3,
  paddingBottom: () => 3,
};
