import { gzipSync } from "node:zlib";
import type { Attack, Play, RequestToSend } from "../attack.ts";
import { repeat, sendRepeatedly } from "../attack.ts";

const headers = { "content-type": "application/jsonl" };
const rowsOfFile = 5_000;
/** Makes a file of products with unusual prices and searchable words. */
const products = (file: number): string =>
  repeat(rowsOfFile, (n) => {
    const row = {
      productNumber: `UP-${file}-${n}`,
      name: `Upload ${n}`,
      description: "x".repeat(200),
      tags: ["up"],
    };
    return `${JSON.stringify(row)}\n`;
  });
/** A small compressed file with a hundred megabytes of blank lines. */
const inflated = gzipSync(Buffer.alloc(100_000_000, "\n"));

/** An attack by uploads, which the service imports in the background while clients send requests. */
export const uploads: Attack = {
  name: "uploads",
  what: "files of many rows, one after the other",
  run: sendRepeatedly(4, ({ token }: Play, n): RequestToSend => {
    if (n % 10 === 9)
      return {
        ...{ token, path: "/api/bulk/customers", headers: { ...headers, "content-encoding": "gzip" } },
        body: new Blob([inflated]).stream(),
      };
    return { token, path: "/api/bulk/products", headers, body: products(n) };
  }),
};
