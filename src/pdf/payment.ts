import type { Content } from "pdfmake";
import type { PdfConfig } from "./config.ts";
import type { Formats } from "./formats.ts";
import type { Labels } from "./labels.ts";
import { grey, isText, mm } from "./letter.ts";

/** Codes of UNTDID 4461 for credit transfers. */
const transfers = ["30", "31", "58"];

/** Whether customers pay by a transfer. ZZZ is also the code of other methods, which may have taken the money already. */
const isTransfer = ({ paymentMeansCode: code, paymentMethod }: PdfConfig): boolean =>
  transfers.includes(code ?? "") || (code === "ZZZ" && paymentMethod === null);

/**
 * Returns the text of a GiroCode, by which banking apps fill in the transfer of what is due (EPC069-12, version 2). Null
 * unless the invoice is paid in euros by a transfer.
 */
export function giroCodeText(config: PdfConfig): string | null {
  const { documentType, currency, seller, totals, documentNumber } = config;
  const due = totals?.due ?? 0;
  const bank = seller?.bank;
  const isInvoice = documentType === "invoice" || documentType === "prepayment";
  if (!isInvoice || documentNumber === null || currency.isoCode !== "EUR" || !bank?.iban) return null;
  if (!isTransfer(config) || due <= 0 || due > 999_999_999.99) return null;
  const holder = (bank.accountHolder ?? seller?.legalName ?? "").replace(/\s+/g, " ").slice(0, 70);
  const head = ["BCD", "002", "1", "SCT", bank.bic ?? "", holder, bank.iban];
  return [...head, `EUR${due.toFixed(2)}`, "", "", documentNumber.slice(0, 140)].join("\n");
}

/** The GiroCode with its label, beside the totals. */
export function giroCode(config: PdfConfig, labels: Labels): Content {
  const qr = giroCodeText(config);
  if (qr === null) return "";
  return {
    stack: [
      // Two points for each module, if that isn't more than 40 mm
      { qr, fit: 40 * mm, eccLevel: "M", mode: "octet" },
      { text: labels.giroCode, fontSize: 8, color: grey, margin: [0, 4, 0, 6] },
    ],
  };
}

/** Returns the deducted prepayments, the terms of payment, and the day that it is due on. */
export function paymentTerms(config: PdfConfig, labels: Labels, formats: Formats): string[] {
  const deducted = (config.prepayments ?? []).map(({ number, date, total, tax }) =>
    labels.prepayment(labels.dated(number, formats.date(date)), formats.amount(total), formats.amount(tax)),
  );
  const { dueDate, paymentTerms: terms } = config;
  const due = dueDate && !(terms && names(terms, dueDate)) ? labels.dueOn(formats.date(dueDate)) : null;
  return [...deducted, terms, due].filter(isText);
}

/** Whether terms of payment name a day in digits, as `erp.invoice_terms` writes it. */
const names = (terms: string, day: string): boolean =>
  new RegExp(day.split("-").toReversed().join("[./]")).test(terms);
