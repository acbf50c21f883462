import { decodeBody } from "../../../lib/charset.ts";
import { findExcess, JsonSize, quickJsonLength } from "../../../lib/json-size.ts";
import type { Request } from "../../pipeline.ts";

/** An error for a body that takes too much work to parse. */
export class BodyTooComplex extends Error {}

const plainTypes = new Set([
  "application/json",
  "application/json; charset=utf-8",
  "application/json;charset=utf-8",
]);

/**
 * Whether a body is what nearly all clients send: uncompressed JSON in UTF-8, with an allowed `Content-Length`. It doesn't
 * need Express's body parser, which is slower.
 */
export function isPlainJson({ headers }: Request, largest: number): boolean {
  const length = Number(headers["content-length"]);
  return (
    length > 0 &&
    length <= largest &&
    headers["content-encoding"] === undefined &&
    isUtf8Json(headers["content-type"]?.toLowerCase() ?? "")
  );
}

const isUtf8Json = (type: string): boolean =>
  plainTypes.has(type) ||
  (/^application\/json *;/.test(type) && (/charset *= *"?([^ ";]*)/.exec(type)?.[1] ?? "utf-8") === "utf-8");

/**
 * Reads and parses a plain body.
 *
 * @param scheduleParse calls `parse` for a long body when it may take some milliseconds; `newMembers` determines how many
 */
export function readPlainJson(
  request: Request,
  scheduleParse: (newMembers: number, parse: () => void) => void,
  done: (error: unknown, value?: unknown) => void,
): void {
  const chunks: Buffer[] = [];
  const size = Number(request.headers["content-length"]) < quickJsonLength ? null : new JsonSize();
  let excess: string | null = null;
  request.on("data", (chunk: Buffer) => {
    if (excess !== null) return;
    size?.add(chunk);
    excess = size?.excess ?? null;
    if (excess === null) chunks.push(chunk);
    else chunks.length = 0;
  });
  request.on("error", done);
  const parse = () => {
    let value: unknown;
    try {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      const text = decodeBody(bytes);
      // In UTF-16, which begins with a byte order mark, the check of bytes saw quotes within characters
      const later = bytes[0]! >= 0xfe ? findExcess(text) : null;
      if (later !== null) return done(new BodyTooComplex(`The body has ${later}.`));
      value = JSON.parse(text);
    } catch (error) {
      return done(error);
    }
    done(null, value);
  };
  request.on("end", () => {
    if (excess !== null) done(new BodyTooComplex(`The body has ${excess}.`));
    else if (size) scheduleParse(size.newMembers, parse);
    else parse();
  });
}
