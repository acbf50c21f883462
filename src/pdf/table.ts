import type { Content, TableCell } from "pdfmake";
import type { PdfConfig, PdfLine } from "./config.ts";
import type { Formats } from "./formats.ts";
import type { Labels } from "./labels.ts";
import { grey, isText, joinedTexts, mm, textWidth } from "./letter.ts";
import { breakLongWords } from "./text.ts";

interface Column {
  label: string;
  width: number;
  isFigure: boolean;
  cell(line: PdfLine): Content;
}

/**
 * The table of the document's lines, whose header is repeated on each page, and what follows it. The last line moves to the
 * next page with what follows it, which is never alone there, unless it is too long to be kept together.
 */
export function linesTable(
  config: PdfConfig,
  ending: Content[],
  labels: Labels,
  formats: Formats,
): Content[] {
  const columns = lineColumns(config, labels, formats);
  const areKeptWhole = config.lines.every(isShort);
  const cell = ({ isFigure }: Column, content: Content): TableCell => ({
    stack: [content],
    alignment: isFigure ? "right" : "left",
  });
  const header = columns.map((column) => cell(column, { text: column.label, bold: true }));
  const rows = config.lines.map((line) => columns.map((column) => cell(column, column.cell(line))));
  // Fixed widths: pdfmake would make a column with a long word wider than the page
  const widths = columns.map(({ width }) => width);
  const last = rows.at(-1);
  const isKept = areKeptWhole && last && linesOf(last, 30) + linesOf(ending) < maxKeptLines;
  const kept = isKept ? { table: { widths, body: [last] }, layout: { ...ruled, ...lastRow } } : null;
  const keptRow = [{ stack: [kept, ...ending], colSpan: columns.length }, ...columns.slice(1).map(() => "")];
  const table: Content = {
    margin: [0, 10, 0, 0],
    fontSize: 9,
    layout: kept ? { ...ruled, ...keptEnding(rows.length) } : ruled,
    table: {
      headerRows: 1,
      dontBreakRows: areKeptWhole,
      keepWithHeaderRows: areKeptWhole ? 1 : 0,
      widths,
      body: [header, ...(kept ? [...rows.slice(0, -1), keptRow as TableCell[]] : rows)],
    },
  };
  return kept ? [table] : [table, { stack: ending, unbreakable: linesOf(ending) < maxKeptLines }];
}

/** Estimates how many lines a content takes on the page, with letters of any width. */
function linesOf(content: unknown, charactersPerLine = 60): number {
  if (typeof content === "string")
    return content
      .split("\n")
      .reduce((sum, { length }) => sum + 1 + Math.floor(length / charactersPerLine), 0);
  if (typeof content !== "object" || content === null) return 0;
  const { text, stack, columns, table } = content as Partial<
    Record<"text" | "stack" | "columns", unknown>
  > & {
    table?: { body: unknown };
  };
  const parts: unknown[] = Array.isArray(content) ? content : [text, stack, columns, table?.body];
  return parts.reduce<number>((sum, part) => sum + linesOf(part, charactersPerLine), 0);
}
/** pdfmake would cut what it had to keep on one page and is longer. */
const maxKeptLines = 40;

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
export function columnWidth(texts: string[]): number {
  const longest = texts.reduce((length, text) => Math.max(length, text.length), 0);
  return Math.min(Math.max(longest * 5 + 2, 7 * mm), 32 * mm);
}

/** Space on either side of a column. */
const gap = 6;
const none = () => 0;
const three: (row: number) => number = () => 3;
const strong = "#202124";
const faint = "#dadce0";

export const ruled = {
  hLineWidth: (row: number) => (row === 0 ? 0 : row === 1 ? 0.8 : 0.4),
  hLineColor: (row: number) => (row === 1 ? strong : faint),
  vLineWidth: none,
  paddingLeft: (column: number) => (column === 0 ? 0 : gap),
  paddingRight: (column: number, { table }: { table: { body: unknown[][] } }) =>
    column === table.body[0]!.length - 1 ? 0 : gap,
  paddingTop: three,
  paddingBottom: three,
};
/** The last line, in a table of its own without a header. */
const lastRow = { hLineWidth: (row: number) => (row === 0 ? 0 : 0.4), hLineColor: faint };
/** The row that has the last line and what follows it. */
const keptEnding = (row: number) => ({
  hLineWidth: (line: number) => (line > row ? 0 : ruled.hLineWidth(line)),
  paddingTop: (of: number) => (of === row ? 0 : 3),
  paddingBottom: (of: number) => (of === row ? 0 : 3),
});
