import assert from "node:assert/strict";
import { inflateSync } from "node:zlib";

/** An object of a PDF as its text, and the decoded bytes of its stream. */
export interface PdfObject {
  text: string;
  stream: Buffer | null;
}

/** The objects of a PDF with a table of references, as pdfkit writes it. */
export class PdfObjects {
  /** The dictionary at the end, with the references to the others. */
  readonly trailer: string;
  readonly all: PdfObject[] = [];
  readonly #byNumber = new Map<string, PdfObject>();

  constructor(data: Uint8Array) {
    const pdf = Buffer.from(data).toString("latin1");
    for (const [, number, body] of pdf.matchAll(/^(\d+) 0 obj\n([^]*?)\nendobj$/gm)) {
      const [text, rest] = body!.split("\nstream\n", 2) as [string, string?];
      const bytes = rest === undefined ? null : Buffer.from(rest.replace(/\nendstream$/, ""), "latin1");
      const stream = bytes && text.includes("/FlateDecode") ? inflateSync(bytes) : bytes;
      this.#byNumber.set(number!, { text, stream });
    }
    this.all.push(...this.#byNumber.values());
    this.trailer = pdf.slice(pdf.lastIndexOf("\ntrailer\n"));
  }

  /** Follows the references of an object, or of the trailer, by the names of their keys. */
  at(...keys: string[]): PdfObject {
    let object: PdfObject = { text: this.trailer, stream: null };
    for (const key of keys) {
      const number = new RegExp(`/${key} \\[?(?:\\(.*?\\) )?(\\d+) 0 R`).exec(object.text)?.[1];
      const next = this.#byNumber.get(number ?? "");
      assert.ok(next, `/${key} refers to no object in ${object.text}`);
      object = next;
    }
    return object;
  }
}
