import type { Content, TableCell } from "pdfmake";
import type { DocumentConfig, DocumentLine } from "./config.ts";
import type { Formats } from "./format.ts";
import type { Labels } from "./labels.ts";
import { grey, mm } from "./letter.ts";
import { breakable } from "./text.ts";

interface Column {
  label: string;
  width: number | "*";
  isFigure?: boolean;
  cell(line: DocumentLine): Content;
}

/** From this length on a line of the table may go on on the next page; shorter ones are kept together. */
const longLabel = 600;

/** The lines of the document. Their header stands on each page. */
export function linesTable(config: DocumentConfig, labels: Labels, formats: Formats): Content {
  const columns = columnsOf(config, labels, formats);
  const isShort = config.lines.every(
    ({ label, description }) => (label?.length ?? 0) + (description?.length ?? 0) < longLabel,
  );
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
      // pdfmake would lose what doesn't fit on one page
      dontBreakRows: isShort,
      keepWithHeaderRows: isShort ? 1 : 0,
      widths: columns.map(({ width }) => width),
      body: [
        columns.map((column) => cell(column, { text: column.label, bold: true })),
        ...config.lines.map((line) => columns.map((column) => cell(column, column.cell(line)))),
      ],
    },
  };
}

function columnsOf(config: DocumentConfig, labels: Labels, formats: Formats): Column[] {
  const { lines, displayPrices, taxStatus } = config;
  const figures = (label: string, show: (line: DocumentLine) => string): Column => ({
    label,
    width: widthOf([label, ...lines.map(show)]),
    isFigure: true,
    cell: (line) => show(line),
  });
  const shown = <T>(value: T | null | undefined, format: (value: T) => string) =>
    value === null || value === undefined ? "" : format(value);
  const columns: Column[] = [
    figures(labels.position, ({ position }) => formats.quantity(position)),
    {
      label: labels.description,
      width: "*",
      cell: ({ label, description, productNumber }) => ({
        stack: [
          { text: breakable(label ?? "") },
          ...(description === null ? [] : [{ text: breakable(description), color: grey, fontSize: 8 }]),
          ...(productNumber === null
            ? []
            : [{ text: breakable(`${labels.productNumber} ${productNumber}`), color: grey, fontSize: 8 }]),
        ],
      }),
    },
    figures(labels.quantity, ({ quantity }) => formats.quantity(quantity)),
  ];
  if (!displayPrices) return columns;
  columns.push(figures(labels.unitPrice, ({ unitPrice }) => shown(unitPrice, formats.unitPrice)));
  if (taxStatus !== "tax-free")
    columns.push(figures(labels.taxRate, ({ taxRate }) => shown(taxRate, formats.rate)));
  columns.push(figures(labels.lineTotal, ({ total }) => shown(total, formats.amount)));
  return columns;
}

/** Room for the longest of some figures, within limits; longer ones wrap. */
function widthOf(texts: string[]): number {
  const longest = texts.reduce((length, text) => Math.max(length, text.length), 0);
  return Math.min(Math.max(longest * 5 + 2, 8 * mm), 34 * mm);
}

/** What the lines come to, with the taxes by their rates. */
export function totalsTable(config: DocumentConfig, labels: Labels, formats: Formats): Content {
  if (config.totals === null) return "";
  const { net, taxes, total } = config.totals;
  const row = (label: string, amount: number, more: object = {}): TableCell[] => [
    { text: label, ...more },
    { text: formats.amount(amount), alignment: "right", ...more },
  ];
  const isTaxed = config.taxStatus !== "tax-free";
  return {
    margin: [0, 8, 0, 0],
    unbreakable: true,
    stack: [
      {
        columns: [
          { width: "*", text: "" },
          {
            width: 92 * mm,
            fontSize: 9,
            layout: totalsRules,
            table: {
              widths: ["*", widthOf([formats.amount(total), formats.amount(net)]) + 6 * mm],
              body: [
                ...(isTaxed ? [row(labels.net, net)] : []),
                ...taxes.map(({ rate, net: on, tax }) =>
                  row(labels.tax(formats.rate(rate), formats.amount(on)), tax),
                ),
                row(labels.total, total, { bold: true, fontSize: 11 }),
              ],
            },
          },
        ],
      },
      { text: labels.taxStatus[config.taxStatus], fontSize: 8, color: grey, margin: [0, 12, 0, 0] },
    ],
  };
}

const none = () => 0;
const strong = "#202124";
const faint = "#dadce0";

const ruled = {
  hLineWidth: (row: number) => (row === 0 ? 0 : row === 1 ? 0.8 : 0.4),
  hLineColor: (row: number) => (row === 1 ? strong : faint),
  vLineWidth: none,
  paddingLeft: (column: number) => (column === 0 ? 0 : 6),
  paddingRight: (column: number, { table }: { table: { body: unknown[][] } }) =>
    column === table.body[0]!.length - 1 ? 0 : 6,
  paddingTop: () => 4,
  paddingBottom: () => 4,
};
const totalsRules = {
  ...ruled,
  hLineWidth: (row: number, { table }: { table: { body: unknown[][] } }) =>
    row === table.body.length - 1 ? 0.8 : 0,
  hLineColor: strong,
  paddingTop: () => 3,
  paddingBottom: () => 3,
};
