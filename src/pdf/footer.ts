import type { Content } from "pdfmake";
import type { PdfConfig, Seller } from "./config.ts";
import type { Labels } from "./labels.ts";
import {
  clipText,
  grey,
  isText,
  joinedTexts,
  addressLinesWithCountry,
  margins,
  mm,
  oneLine,
  senderLine,
  textWidth,
} from "./letter.ts";

/** Returns the space below the text: for one line, or for the seller's details that the law requires. */
export const bottomMargin = ({ seller }: PdfConfig): number => (seller ? 38 : 26) * mm;

/** The footer of each page: seller and page number. */
export function footer(config: PdfConfig, labels: Labels) {
  const { seller } = config;
  return (number: number, count: number): Content => {
    const page = oneLine(labels.page(number, count), 7.5, { color: grey, alignment: "right", width: 80 });
    const sender = oneLine(senderLine(config), 7.5, { color: grey, width: "*" });
    return {
      margin: [margins.left, 5 * mm, margins.right, 0],
      stack: seller
        ? [page, { canvas: [rule()], margin: [0, 2, 0, 5] }, sellerColumns(seller, config, labels)]
        : [{ canvas: [rule()], margin: [0, 3 * mm, 0, 5] }, { columns: [sender, page] }],
    };
  };
}

/** Address, contact, registration numbers and bank, side by side. */
function sellerColumns(seller: Seller, { displayPrices }: PdfConfig, labels: Labels): Content {
  const labelled = (label: string, text: string | null) => (isText(text) ? `${label} ${text}` : null);
  const { bank } = seller;
  const columns = [
    [seller.legalName, ...addressLinesWithCountry(seller.address, seller.address?.countryName)],
    [seller.contactName, seller.phone, seller.email, seller.website],
    [
      labelled(labels.vatId, seller.vatId),
      labelled(labels.taxNumber, seller.taxNumber),
      seller.register,
      labelled(labels.managers, seller.managers),
    ],
    displayPrices && bank
      ? [
          bank.name,
          labelled("IBAN", bank.iban === null ? null : formatIban(bank.iban)),
          labelled("BIC", bank.bic),
          bank.accountHolder === seller.legalName ? null : labelled(labels.accountHolder, bank.accountHolder),
        ]
      : [],
  ];
  return {
    columns: columns.map((lines, n) => ({
      width: widths[n],
      stack: [clipText(joinedTexts(lines, "\n"), 7, linesOfFooter, { color: grey })],
    })),
    columnGap: 10,
  };
}

/** Formats an IBAN in groups of four characters. */
const formatIban = (iban: string): string => iban.replace(/.{4}(?=.)/g, "$&\u00a0");

const linesOfFooter = 6;
/** Widths of the columns; an IBAN of 22 characters fits into the last. */
const widths = [104, 103, 113, "*"];
// A new object each time: pdfmake writes into what it prints
const rule = () => ({
  type: "line" as const,
  x1: 0,
  x2: textWidth,
  y1: 0,
  y2: 0,
  lineWidth: 0.5,
  lineColor: grey,
});
