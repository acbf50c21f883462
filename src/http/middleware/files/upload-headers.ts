import typeIs from "type-is";
import { RefusedFile } from "../../../bulk/refused-file.ts";
import type { Format } from "../../../bulk/formats.ts";
import type { UploadedFile } from "../../../bulk/upload.ts";
import { declaredCharset, UnreadableText } from "../../../lib/charset.ts";
import type { Request } from "../../pipeline.ts";

const formats: Record<string, Format> = {
  "application/jsonl": "jsonl",
  "application/x-ndjson": "jsonl",
  "application/ndjson": "jsonl",
  "text/csv": "csv",
};

/** The maximum length of an idempotency key. */
const maxKeyCharacters = 255;

/**
 * Reads the description of a file from the headers of its request.
 *
 * @throws {RefusedFile} when they are invalid
 */
export function readFileHeaders(request: Request): Omit<UploadedFile, "resource"> {
  const { headers } = request;
  const type = typeIs(request, Object.keys(formats));
  if (!type) throw new RefusedFile(415, "Send the file as application/jsonl or text/csv.");
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip")
    throw new RefusedFile(415, "Send the file uncompressed, or compressed by gzip.");
  const idempotencyKey = (headers["idempotency-key"] as string | undefined) ?? null;
  if (idempotencyKey !== null && (idempotencyKey === "" || idempotencyKey.length > maxKeyCharacters))
    throw new RefusedFile(400, `An idempotency key has 1 to ${maxKeyCharacters} characters.`);
  const charset = readCharset(headers["content-type"]);
  return { format: formats[type]!, charset, isCompressed: encoding === "gzip", idempotencyKey };
}

function readCharset(contentType: string | undefined): string {
  try {
    return declaredCharset(contentType);
  } catch (error) {
    throw error instanceof UnreadableText ? new RefusedFile(error.status, error.message) : error;
  }
}
