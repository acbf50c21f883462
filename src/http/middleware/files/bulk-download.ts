import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { RequestHandler } from "express";
import type { BulkStorage, Refusal } from "../../../bulk/storage.ts";
import { unpackText } from "../../../bulk/chunks.ts";
import { isCsv } from "../../../bulk/formats.ts";
import { isApiError } from "../../../errors/api-error.ts";
import { checkEach } from "../../../lib/guarded.ts";
import type { Admission } from "../../admission.ts";
import { addVary, refuse } from "../../answers.ts";
import { chooseEncoding } from "../../compression.ts";

/** Paths of files: `BulkOperation.errorsUrl` and `resultUrl`, which the view api_unstable.bulk_operations writes. */
export const bulkFilePath = "/api/bulk/:id/:file";

/** A file that is ready to be sent. */
interface File {
  name: string;
  type: string;
  content: AsyncIterable<string>;
}

/**
 * Sends a file of a bulk operation by its address, without a token, as long as its API credential may read it. A request
 * with a wrong address passes on, so it gets the same response as any unknown path, whichever part of it is wrong.
 */
export function bulkFile(
  storage: BulkStorage,
  admission: Admission,
): RequestHandler<{ id: string; file: string }> {
  return async (request, response, next) => {
    const { code } = request.query;
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return refuse(request, response, 405, "BAD_USER_INPUT", "Files are read-only: use GET.");
    }
    const { id, file } = request.params;
    if (typeof code !== "string") return next();
    const check = async () => {
      const rights = await storage.rightsToFiles(id, code);
      if (rights) await admission.requireFile(rights);
      return rights !== null;
    };
    try {
      if (!(await check())) return next();
    } catch (error) {
      if (!isApiError(error)) throw error;
      const { code: reason } = error.extensions;
      return refuse(request, response, reason === "FORBIDDEN" ? 403 : 503, reason, error.message);
    }
    const opened = await openFile(storage, id, file, code);
    if (opened === null) return next();
    const isCompressed = chooseEncoding(request, Infinity) === "gzip";
    addVary(response, "Accept-Encoding");
    response
      .status(200)
      .setHeader("content-type", `${opened.type}; charset=utf-8`)
      .setHeader("content-disposition", `attachment; filename="${opened.name}"`)
      .setHeader("cache-control", "private, no-store")
      .setHeader("x-robots-tag", "noindex");
    if (isCompressed) response.setHeader("content-encoding", "gzip");
    if (request.method === "HEAD") return void response.end();
    const recheck = async () => {
      if (!(await check())) throw new Error("The file has expired.");
    };
    const content = Readable.from(checkEach(opened.content, recheck), { objectMode: false });
    const parts = isCompressed ? [content, createGzip({ level: 1 }), response] : [content, response];
    // A client that disconnects or loses its rights is no failure. The closed connection shows it that the file is incomplete
    await pipeline(parts as [Readable, NodeJS.WritableStream]).catch(() => response.destroy());
  };
}

async function openFile(storage: BulkStorage, id: string, file: string, code: string): Promise<File | null> {
  if (file === "errors") {
    const pages = await storage.openErrors(id, code);
    return pages && { name: "errors.jsonl", type: "application/jsonl", content: formatLines(pages) };
  }
  const result = file === "result" ? await storage.openResult(id, code) : null;
  if (result === null) return null;
  const { format, parts } = result;
  const content = unpackParts(parts);
  return isCsv(format)
    ? { name: "result.csv", type: "text/csv", content }
    : { name: "result.jsonl", type: "application/jsonl", content };
}

async function* unpackParts(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const part of parts) yield await unpackText(part);
}

async function* formatLines(pages: AsyncIterable<Refusal[]>): AsyncGenerator<string> {
  for await (const page of pages)
    yield page.map((refusal) => `${JSON.stringify(formatRefusal(refusal))}\n`).join("");
}

const formatRefusal = ({ line, code, message, field, details }: Refusal) => ({
  line,
  code,
  message,
  field: field.map((part) => part.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())),
  ...(details !== null && { details }),
});
