import type { Content } from "pdfmake";
import type { PdfConfig } from "./config.ts";
import type { Formats } from "./formats.ts";
import type { Labels } from "./labels.ts";
import { grey } from "./letter.ts";
import { breakLongWords } from "./text.ts";

/** Codes of UNTDID 4461 for credit transfers. */
const transfers = ["30", "31", "58"];

/**
 * Returns the text of a GiroCode, by which banking apps fill in the transfer of what is due (EPC069-12, version 2). Null
 * unless the invoice is paid in euros by a transfer.
 */
export function giroCodeText(config: PdfConfig): string | null {
  const { documentType, currency, seller, totals, paymentMeansCode, documentNumber } = config;
  const due = totals?.due ?? 0;
  const bank = seller?.bank;
  const isInvoice = documentType === "invoice" || documentType === "prepayment";
  if (!isInvoice || documentNumber === null || currency.isoCode !== "EUR" || !bank?.iban) return null;
  if (!transfers.includes(paymentMeansCode ?? "") || due <= 0 || due > 999_999_999.99) return null;
  const holder = (bank.accountHolder ?? seller?.legalName ?? "").slice(0, 70);
  const head = ["BCD", "002", "1", "SCT", bank.bic ?? "", holder, bank.iban];
  return [...head, `EUR${due.toFixed(2)}`, "", "", documentNumber.slice(0, 140)].join("\n");
}

/** The GiroCode with its label, beside the totals. */
export function giroCode(config: PdfConfig, labels: Labels): Content {
  const qr = giroCodeText(config);
  if (qr === null) return "";
  return {
    stack: [
      { qr, fit: 74, eccLevel: "M", mode: "octet" },
      { text: labels.giroCode, fontSize: 7, color: grey, margin: [0, 3, 0, 0] },
    ],
  };
}

/** The deducted prepayments, and the terms of payment. */
export function paymentTerms(config: PdfConfig, labels: Labels, formats: Formats): Content[] {
  const deducted = (config.prepayments ?? []).map(({ number, date, total, tax }) =>
    labels.prepayment(labels.dated(number, formats.date(date)), formats.amount(total), formats.amount(tax)),
  );
  const terms = config.paymentTerms ?? (config.dueDate ? labels.dueOn(formats.date(config.dueDate)) : null);
  return [...deducted, ...(terms === null ? [] : [terms])].map((text) => ({
    text: breakLongWords(text),
    fontSize: 9,
    margin: [0, 6, 0, 0],
  }));
}
