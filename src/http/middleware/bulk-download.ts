import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { RequestHandler } from "express";
import type { BulkStorage, Refusal } from "../../bulk/storage.ts";
import { refuse } from "../answers.ts";

/** Path of the errors of an import: `BulkOperation.errorsUrl`, which the view api_unstable.bulk_operations writes. */
export const bulkErrorsPath = "/api/bulk/:id/errors";

/**
 * Opens a file of a bulk operation by its address, without a token. A wrong address is passed on, so it gets the same
 * answer as any unknown path, whichever part of it is wrong.
 */
export function bulkErrors(storage: BulkStorage): RequestHandler<{ id: string }> {
  return async (request, response, next) => {
    const { code } = request.query;
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return refuse(request, response, 405, "BAD_USER_INPUT", "Files can only be read. Use GET.");
    }
    const pages = typeof code === "string" ? await storage.openErrors(request.params.id, code) : null;
    if (pages === null) return next();
    response
      .status(200)
      .setHeader("content-type", "application/jsonl; charset=utf-8")
      .setHeader("content-disposition", 'attachment; filename="errors.jsonl"')
      .setHeader("cache-control", "private, no-store")
      .setHeader("x-robots-tag", "noindex");
    if (request.method === "HEAD") return void response.end();
    const lines = Readable.from(linesOf(pages), { objectMode: false });
    // A client that goes away is no failure; one that gets half of a file sees that by the connection
    await pipeline(lines, response).catch(() => response.destroy());
  };
}

async function* linesOf(pages: AsyncIterable<Refusal[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((refusal) => `${JSON.stringify(shown(refusal))}\n`).join("");
}

const shown = ({ line, code, message, field, details }: Refusal) => ({
  ...{ line, code, message },
  field: field.map((part) => part.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())),
  ...(details !== null && { details }),
});
