import type { Request } from "./pipeline.ts";

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
    plainTypes.has(headers["content-type"]?.toLowerCase() ?? "")
  );
}

/** Reads such a body into `request.body`, as the body parser does: objects and lists only. */
export function readPlainJson(request: Request, done: (error?: unknown) => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("error", done);
  request.on("end", () => {
    let body: unknown;
    try {
      body = JSON.parse((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString("utf8"));
    } catch (error) {
      return done(error);
    }
    if (typeof body !== "object" || body === null) return done(new SyntaxError("neither object nor list"));
    request.body = body;
    done();
  });
}
