import { textOf } from "../lib/charset.ts";
import { JsonSize } from "./json-size.ts";
import type { Request } from "./pipeline.ts";

/** Bytes from which a body is measured before it is parsed. */
const longBytes = 65_536;
/** Lists, objects and members of a long body. A megabyte of nothing else would take 100 ms to parse. */
const maxSize = 50_000;

/** The body has more of something than is allowed. */
export class TooLaborious extends Error {}

const plainTypes = new Set([
  "application/json",
  "application/json; charset=utf-8",
  "application/json;charset=utf-8",
]);

/**
 * Whether a body is what nearly all clients send: JSON in UTF-8, not compressed, with an allowed `Content-Length`. It
 * needs none of the work that Express's body parser does for the rest.
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

/** Reads such a body into `request.body`, as the body parser does. */
export function readPlainJson(request: Request, done: (error?: unknown) => void): void {
  const chunks: Buffer[] = [];
  const size = Number(request.headers["content-length"]) < longBytes ? null : new JsonSize();
  request.on("data", (chunk: Buffer) => {
    size?.add(chunk);
    if (size === null || size.count <= maxSize) chunks.push(chunk);
    else chunks.length = 0;
  });
  request.on("error", done);
  request.on("end", () => {
    if (size && size.count > maxSize)
      return done(new TooLaborious(`The body has more than ${maxSize} lists, objects and members.`));
    try {
      request.body = JSON.parse(textOf(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    } catch (error) {
      return done(error);
    }
    done();
  });
}
