import { createGunzip } from "node:zlib";
import type { Readable } from "node:stream";
import type { GraphQLSchema } from "postgraphile/graphql";
import typeIs from "type-is";
import { refuse, sendJson } from "../answers.ts";
import type { Spend } from "../../auth/rate-limits/spend.ts";
import { csvRows } from "../../bulk/csv.ts";
import type { FileRow } from "../../bulk/chunks.ts";
import { jsonLines } from "../../bulk/json-lines.ts";
import type { BulkLimits } from "../../bulk/limits.ts";
import { RefusedFile } from "../../bulk/refused-file.ts";
import { isResource } from "../../bulk/resources.ts";
import type { Format, Resource } from "../../bulk/resources.ts";
import type { BegunUpload, BulkStorage } from "../../bulk/storage.ts";
import { boundedBytes, HashedPieces, payer, storeRows } from "../../bulk/upload.ts";
import { utf8Pieces } from "../../bulk/utf8-pieces.ts";
import { upsertOf } from "../../bulk/upserts.ts";
import { TokenRefusal } from "../../auth/access-token.ts";
import type { Caller } from "../../auth/caller.ts";
import { apiError, isApiError } from "../../errors/api-error.ts";
import { encodeGlobalId } from "../../graphql/global-id.ts";
import { declaredCharset, UnreadableText } from "../../lib/charset.ts";
import { guarded } from "../../lib/guarded.ts";
import type { Admission } from "../admission.ts";
import { allowLongBody } from "../connections.ts";
import type { Middleware, Request, Response } from "../pipeline.ts";
import type { Spending } from "./spend-points.ts";

/** Path of uploads. */
export const bulkUploadPath = "/api/bulk/:resource";

const pathPattern = /^\/api\/bulk\/([a-z]+)(?:$|\?)/;
const formats: Record<string, Format> = {
  "application/jsonl": "jsonl",
  "application/x-ndjson": "jsonl",
  "application/ndjson": "jsonl",
  "text/csv": "csv",
};

/** Points for beginning an upload. */
const pointsToBegin = 10;
/** Uploads that a process takes at a time, and of them those of one credential. */
const [maxUploads, maxOfCredential] = [4, 1];
/** Bytes of a file whose refusal costs next to nothing. */
const shortBytes = 65_536;
/** Longest idempotency key. */
const maxKeyCharacters = 255;

export interface UploadTools {
  storage: BulkStorage;
  limits: BulkLimits;
  /** The schema of the head. */
  schema: () => GraphQLSchema;
  spend: Spend;
  spending: Pick<Spending, "refuseSlowly">;
}

/**
 * `POST /api/bulk/{resource}`: stores the rows of a file, to be taken in by background work. The file is never held as a
 * whole: what has arrived is stored before more is read.
 */
export function bulkUpload(tools: UploadTools, admission: Admission): Middleware {
  const underWay = new Map<string, number>();
  return async (request, response, next) => {
    const resource = pathPattern.exec(request.url!)?.[1];
    if (!isResource(resource)) return next();
    const caller = response.locals.caller!;
    const { credentialId } = caller;
    const check = () => requireRights(admission, caller, resource);
    try {
      requirePost(request, response);
      await check();
      const wanted = wantedOf(request, resource);
      await pay(tools.spend, credentialId, response);
      const own = underWay.get(credentialId) ?? 0;
      const all = [...underWay.values()].reduce((sum, count) => sum + count, 0);
      if (own >= maxOfCredential || all >= maxUploads) throw tooMany(response, own >= maxOfCredential);
      underWay.set(credentialId, own + 1);
      try {
        await receive(request, response, wanted, tools, check);
      } finally {
        if (own === 0) underWay.delete(credentialId);
        else underWay.set(credentialId, own);
      }
    } catch (error) {
      if (!(error instanceof RefusedFile)) throw error;
      await refuseFile(request, response, error, tools.spending);
    } finally {
      // What is left of a refused file
      request.resume();
    }
  };
}

/** Refuses a file. The rest of a long one is read for nothing, so a token that repeats it waits for the answer. */
async function refuseFile(
  request: Request,
  response: Response,
  { status, code, message }: RefusedFile,
  spending: Pick<Spending, "refuseSlowly">,
): Promise<void> {
  const answer = () => refuse(request, response, status, code, message);
  const isLong = !(Number(request.headers["content-length"]) <= shortBytes);
  if (request.complete || !isLong) return answer();
  await new Promise<void>((resolve) =>
    spending.refuseSlowly(response.locals.caller!.credentialId, () => resolve(answer())),
  );
}

/** What a request wants to upload. */
interface Wanted {
  resource: Resource;
  format: Format;
  charset: string;
  isCompressed: boolean;
  idempotencyKey: string | null;
}

function requirePost(request: Request, response: Response): void {
  if (request.method === "POST") return;
  response.setHeader("allow", "POST");
  throw new RefusedFile(405, "Send files by POST.");
}

/** @throws {RefusedFile} when the caller may not upload, or no longer */
async function requireRights(admission: Admission, caller: Caller, resource: Resource): Promise<void> {
  const refusal = (scopes: ReadonlySet<string>) => {
    const missing = ["bulk_operations:write", `${resource}:write`].filter((scope) => !scopes.has(scope));
    return missing.length > 0 ? apiError("FORBIDDEN", `The token lacks ${missing.join(" and ")}.`) : null;
  };
  try {
    // A file is no operation that could be stored
    await admission.require(caller, { isWrite: true, isStored: () => false, refusal });
  } catch (error) {
    if (error instanceof TokenRefusal) throw new RefusedFile(403, error.message, "UNAUTHORIZED");
    throw isApiError(error) ? new RefusedFile(403, error.message, "FORBIDDEN") : error;
  }
}

/** @throws {RefusedFile} when its headers are wrong */
function wantedOf(request: Request, resource: Resource): Wanted {
  const type = typeIs(request, Object.keys(formats));
  if (!type) throw new RefusedFile(415, "Send the file as application/jsonl or text/csv.");
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip")
    throw new RefusedFile(415, "Send the file as it is, or compressed by gzip.");
  const idempotencyKey = (request.headers["idempotency-key"] as string | undefined) ?? null;
  if (idempotencyKey !== null && (idempotencyKey === "" || idempotencyKey.length > maxKeyCharacters))
    throw new RefusedFile(400, `An idempotency key has 1 to ${maxKeyCharacters} characters.`);
  const charset = charsetOf(request);
  return { resource, format: formats[type]!, charset, isCompressed: encoding === "gzip", idempotencyKey };
}

function charsetOf({ headers }: Request): string {
  try {
    return declaredCharset(headers["content-type"]);
  } catch (error) {
    throw error instanceof UnreadableText ? new RefusedFile(error.status, error.message) : error;
  }
}

async function pay(spend: Spend, credentialId: string, response: Response): Promise<void> {
  const { isAllowed, retryAfterMs } = await spend(credentialId, pointsToBegin);
  if (isAllowed) return;
  response.setHeader("retry-after", Math.ceil(retryAfterMs / 1_000));
  throw new RefusedFile(429, `An upload costs ${pointsToBegin} points; the token has fewer.`, "THROTTLED");
}

function tooMany(response: Response, isOwn: boolean): RefusedFile {
  response.setHeader("retry-after", "5");
  const message = isOwn ? "The token uploads another file now." : "Too many files are being uploaded now.";
  return new RefusedFile(429, message, "THROTTLED");
}

async function receive(
  request: Request,
  response: Response,
  wanted: Wanted,
  tools: UploadTools,
  check: () => Promise<void>,
): Promise<void> {
  const { storage, limits } = tools;
  const { credentialId, scopes } = response.locals.caller!;
  const traceparent = response.locals.trace?.traceparent ?? null;
  const upload = await storage.begin({ ...wanted, credentialId, scopes: [...scopes], traceparent });
  if (!upload.isSame) throw otherFile();
  const end = allowLongBody(request);
  try {
    const bytes = guarded(bytesOf(request, wanted.isCompressed), check);
    const paid = boundedBytes(bytes, limits.maxBytes, payer(tools.spend, credentialId));
    const text = new HashedPieces(utf8Pieces(paid, wanted.charset));
    if (upload.isOurs)
      answer(response, upload, await storeRows(storage, upload, rowsOf(text, wanted, tools), limits, text));
    else if (await text.isOf(upload.contentSha256)) answer(response, upload, null);
    else throw otherFile();
  } catch (error) {
    if (upload.isOurs) await storage.drop(upload);
    // Nobody is there to be answered
    if (!request.complete && request.destroyed) return;
    throw isBadGzip(error) ? new RefusedFile(400, "The file is damaged: it can't be decompressed.") : error;
  } finally {
    end();
  }
}

const otherFile = (): RefusedFile =>
  new RefusedFile(
    409,
    "The idempotency key stands for another file. Send this one with another key.",
    "IDEMPOTENCY_KEY_MISMATCH",
  );

function answer(response: Response, { id }: BegunUpload, rowCount: number | null): void {
  const bulkOperation = { id: encodeGlobalId("BulkOperation", id), ...(rowCount !== null && { rowCount }) };
  sendJson(response, 202, { bulkOperation });
}

function rowsOf(
  bytes: AsyncIterable<Buffer>,
  { format, resource }: Wanted,
  { schema }: UploadTools,
): AsyncIterable<FileRow[]> {
  return format === "csv" ? csvRows(bytes, upsertOf(schema(), resource).rowType) : jsonLines(bytes);
}

/** The bytes of a body, decompressed. To stop reading leaves the request open for an answer. */
function bytesOf(request: Request, isCompressed: boolean): AsyncIterable<Buffer> {
  let source: Readable = request;
  if (isCompressed) {
    const gunzip = createGunzip();
    request.once("close", () => {
      if (!request.complete) gunzip.destroy(new Error("The client has gone."));
    });
    source = request.pipe(gunzip);
  }
  return source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}

const isBadGzip = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^Z_/.test(String(error.code));
