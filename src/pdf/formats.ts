import type { PdfConfig } from "./config.ts";
import { removeUnprintable } from "./text.ts";

/** A document's formatters of numbers, amounts and dates. */
export interface Formats {
  amount(value: number): string;
  /** Formats a price with as many decimals as the config has. Prices without tax have four or more. */
  unitPrice(value: number): string;
  quantity(value: number): string;
  /** Formats a rate in percent. */
  rate(value: number): string;
  /** Formats an exchange rate with its published digits. */
  factor(value: number): string;
  /** Formats a date such as 2026-05-01. */
  date(value: string): string;
}

/** Makes the formatters of a locale, for amounts in a currency. */
export function makeFormats(locale: string, currency: PdfConfig["currency"]): Formats {
  const digits = currencyDecimals(currency.isoCode);
  const number = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options);
  const whole = number({ minimumFractionDigits: digits, maximumFractionDigits: digits });
  const precise = number({ minimumFractionDigits: digits, maximumFractionDigits: 12 });
  const percent = number({ style: "percent", maximumFractionDigits: 2 });
  const quantity = number({ maximumFractionDigits: 6 });
  const factor = number({ maximumSignificantDigits: 15 });
  const date = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
  // Negated amounts must not become -0.00
  const money = (format: Intl.NumberFormat, value: number) =>
    removeUnprintable(withSymbol(format.format(value === 0 ? 0 : value), currency));
  return {
    amount: (value) => money(whole, value),
    unitPrice: (value) => money(precise, value),
    quantity: (value) => removeUnprintable(quantity.format(value)),
    factor: (value) => removeUnprintable(factor.format(value)),
    rate: (value) => removeUnprintable(percent.format(value / 100)),
    date: (value) => removeUnprintable(date.format(new Date(`${value}T00:00:00Z`))),
  };
}

/** Puts the currency symbol where the shop wants it, independent of the locale. */
function withSymbol(text: string, { symbol, position }: PdfConfig["currency"]): string {
  if (position === 1) return `${text}\u00a0${symbol}`;
  const [sign, digits] = /^[-\u2212]/.test(text) ? [text[0]!, text.slice(1)] : ["", text];
  // A symbol of letters needs a space
  return `${sign}${symbol}${/\p{L}$/u.test(symbol) ? "\u00a0" : ""}${digits}`;
}

/** Returns the number of decimals of a currency; 2 if it is unknown. */
function currencyDecimals(isoCode: string): number {
  const format = new Intl.NumberFormat("en", { style: "currency", currency: isoCode });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}
