import { parseBarcode } from "gs1-barcode-parser-mod";

/** A scanned code as `erp.scanned_code` takes it. Fields that the code lacks are missing. */
export interface ScannedCode {
  /** The code as it was scanned. */
  text: string;
  /** The GTIN as 14 digits: of the product (01), or of the content (02). */
  gtin?: string;
  /** The number of the batch (10). */
  batch?: string;
  /** The best-before date (15). */
  best_before?: string;
  /** The serial number (21). */
  serial?: string;
  /** How many of the GTIN there are (37, or 30). */
  count?: number;
  /** The number of a container (00), 18 digits. */
  sscc?: string;
}

/** The beginning that scanners may add to a code: its kind, such as ]C1 for GS1-128, and FNC1. */
const beginning = /^(?:\][A-Za-z]\d)?[\u001d\u00e8]?/;

/** Elements by which a text is a code of GS1 at all; others may be anything. */
const keys = ["00", "01", "02"];

/**
 * Reads a scanned code by the rules of GS1. It is a GTIN alone (EAN, UPC, ITF-14), a GS1 Digital Link, or elements with
 * application identifiers, in parentheses or as in the symbol. Any other text is only a text, such as a product number.
 */
export function readScannedCode(scanned: string): ScannedCode {
  const text = scanned.trim();
  const content = text.replace(beginning, "");
  if (/^(?:\d{8}|\d{12,14})$/.test(content) && hasCheckDigit(content))
    return { text: content, gtin: content.padStart(14, "0") };
  const elements = readElements(content);
  const gtin = elements.get("01") ?? elements.get("02");
  const sscc = elements.get("00");
  const numbers = [gtin, sscc].filter((number) => number !== undefined);
  if (numbers.length === 0 || !numbers.every(hasCheckDigit)) return { text };
  const count = Number(elements.get("37") ?? elements.get("30") ?? Number.NaN);
  return {
    text,
    ...(gtin !== undefined && { gtin }),
    ...pick(elements, { batch: "10", best_before: "15", serial: "21" }),
    ...(Number.isSafeInteger(count) && { count }),
    ...(sscc !== undefined && { sscc }),
  };
}

/** Whether the last digit is the check digit of the others: from the right, they count 3 and 1 in turns. */
export function hasCheckDigit(digits: string): boolean {
  const sum = [...digits]
    .reverse()
    .reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0);
  return /^\d+$/.test(digits) && sum % 10 === 0;
}

/** Returns the elements by application identifier; none if the text is no code of GS1. */
function readElements(content: string): Map<string, string> {
  try {
    const { parsedCodeItems } = parseBarcode(/^https?:\/\//i.test(content) ? readLink(content) : content);
    return new Map(parsedCodeItems.map(({ ai, raw, isoDate }) => [ai, isoDate === "" ? raw : isoDate]));
  } catch {
    return new Map();
  }
}

/**
 * Returns a GS1 Digital Link as elements in parentheses, which the library knows: pairs in its path from the first key
 * on, and in its query.
 *
 * @throws {URIError} when the link is malformed
 */
function readLink(content: string): string {
  const url = new URL(content);
  const parts = url.pathname.split("/").map(decodeURIComponent);
  const first = parts.findIndex((part, index) => keys.includes(part) && /^\d+$/.test(parts[index + 1] ?? ""));
  const path = first === -1 ? [] : parts.slice(first);
  const pairs = path.flatMap((ai, index) => (index % 2 === 0 ? [[ai, path[index + 1] ?? ""] as const] : []));
  return [...pairs, ...url.searchParams]
    .filter(([ai]) => /^\d{2,4}$/.test(ai))
    .map(([ai, value]) => `(${ai})${ai === "01" ? value.padStart(14, "0") : value}`)
    .join("");
}

/** Returns the elements that are there, by the names that they get. */
function pick(elements: Map<string, string>, names: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([name, ai]) => {
      const value = elements.get(ai);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
