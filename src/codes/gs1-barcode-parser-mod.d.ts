/** The part of the library that we use; it comes without types. */
declare module "gs1-barcode-parser-mod" {
  interface ParsedElement {
    /** The application identifier. */
    ai: string;
    /** The element as it was in the code. */
    raw: string;
    /** The date of an element with a date, otherwise empty. */
    isoDate: string;
  }
  /** @throws when the text has no application identifiers, or an element is not as it should be */
  export function parseBarcode(code: string): { parsedCodeItems: ParsedElement[] };
}
