import type { Content, TableCell } from "pdfmake";
import type { PdfConfig } from "./config.ts";
import { makeFormats } from "./formats.ts";
import type { Formats } from "./formats.ts";
import { pdfLocale } from "./labels.ts";
import type { Labels } from "./labels.ts";
import { grey, isText, mm } from "./letter.ts";
import { giroCode, paymentTerms } from "./payment.ts";
import { columnWidth, ruled } from "./table.ts";
import { breakLongWords } from "./text.ts";

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
            layout: { ...ruled, hLineColor: strong, hLineWidth: (row: number) => (rows[row]?.[2] ? 0.8 : 0) },
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
const strong = "#202124";
