import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { GraphQLSchema } from "postgraphile/graphql";
import type { Spend } from "../auth/rate-limits/spend.ts";
import { errorCodeOf } from "../errors/postgres-errors.ts";
import { checkEach } from "../lib/guarded.ts";
import { makeLoopPause } from "../lib/loop-share.ts";
import { pause } from "../lib/retry.ts";
import type { FileRow } from "./chunks.ts";
import { groupIntoChunks, pack } from "./chunks.ts";
import { csvRows } from "./csv.ts";
import { jsonLines } from "./json-lines.ts";
import type { BulkLimits } from "./bulk-limits.ts";
import { RefusedFile } from "./refused-file.ts";
import type { BegunUpload, BulkStorage, UploadRequest } from "./storage.ts";
import { findUpsert } from "./upserts.ts";
import { utf8Pieces } from "./utf8-pieces.ts";

export interface UploadTools {
  storage: BulkStorage;
  limits: BulkLimits;
  /** Returns the schema of `unstable`. */
  schema: () => GraphQLSchema;
  spend: Spend;
}

/** A file as its sender describes it. */
export interface UploadedFile extends Pick<UploadRequest, "resource" | "format" | "idempotencyKey"> {
  charset: string;
  isCompressed: boolean;
}

/**
 * Stores the rows of a file as they arrive.
 *
 * @param check throws if the sender may not continue
 * @returns the bulk operation; its row count is null if the file was uploaded before. Null if the client disconnected
 * @throws {RefusedFile}
 */
export async function storeUpload(
  request: IncomingMessage,
  file: UploadedFile,
  sender: Pick<UploadRequest, "credentialId" | "scopes" | "traceparent">,
  check: () => Promise<void>,
  { storage, limits, schema, spend }: UploadTools,
): Promise<{ id: string; rowCount: number | null } | null> {
  const upload = await storage.begin({ ...file, ...sender });
  const { id } = upload;
  if (!upload.isSame) throw differentFile();
  try {
    const bytes = checkEach(readBody(request, file.isCompressed), check);
    const paid = boundedBytes(bytes, limits.maxBytes, payer(spend, sender.credentialId));
    const hash = createHash("sha256");
    const text = addToHash(utf8Pieces(paid, file.charset), hash);
    if (upload.isOurs) {
      const rows =
        file.format === "csv" ? csvRows(text, findUpsert(schema(), file.resource)!.rowType) : jsonLines(text);
      return { id, rowCount: await storeRows(storage, upload, rows, limits, hash) };
    }
    if (upload.contentSha256 !== null) {
      while (!(await text.next()).done);
      if (!hash.digest().equals(upload.contentSha256)) throw differentFile();
    }
    return { id, rowCount: null };
  } catch (error) {
    if (upload.isOurs) await storage.drop(upload);
    if (!request.complete && request.destroyed) return null;
    throw isBadGzip(error) ? new RefusedFile(400, "The file is damaged: it can't be decompressed.") : error;
  }
}

const differentFile = (): RefusedFile =>
  new RefusedFile(
    409,
    "The idempotency key was used for another file. Send this file with another key.",
    "IDEMPOTENCY_KEY_MISMATCH",
  );

/** Reads a request body, decompressed. If the caller stops reading, the request stays open for a response. */
function readBody(request: IncomingMessage, isCompressed: boolean): AsyncIterable<Buffer> {
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

const isBadGzip = (error: unknown): boolean => errorCodeOf(error)?.startsWith("Z_") ?? false;

/** Most bytes of a piece that is read at a time. */
const pieceBytes = 8_192;

/** Limits the bytes of a file, and yields to other requests between pieces. @throws {RefusedFile} if there are too many */
export async function* boundedBytes(
  bytes: AsyncIterable<Buffer>,
  maxBytes: number,
  pay: (bytes: number) => Promise<void>,
): AsyncGenerator<Buffer> {
  const othersTurn = makeLoopPause();
  let count = 0;
  for await (const some of bytes) {
    count += some.length;
    if (count > maxBytes)
      throw new RefusedFile(413, `The file is longer than ${maxBytes} bytes. Send it in parts.`);
    await pay(some.length);
    for (let start = 0; start < some.length; start += pieceBytes) {
      await othersTurn();
      yield some.subarray(start, start + pieceBytes);
    }
  }
}

/** Adds the text of a file to a hash while it is read. */
async function* addToHash(pieces: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    hash.update(piece);
    yield piece;
  }
}

/**
 * Stores the rows of a file in chunks.
 *
 * @param hash of the text, complete when all rows have been read
 * @returns the number of rows
 * @throws {RefusedFile} if there are too many rows, or none
 */
async function storeRows(
  storage: BulkStorage,
  upload: BegunUpload,
  rows: AsyncIterable<readonly FileRow[]>,
  { maxRows, maxStoredBytes }: BulkLimits,
  hash: Hash,
): Promise<number> {
  let count = 0;
  for await (const chunk of groupIntoChunks(rows)) {
    count += chunk.length;
    if (count > maxRows)
      throw new RefusedFile(413, `The file has more than ${maxRows} rows. Send it in parts.`);
    const outcome = await storage.add(upload, chunk.length, await pack(chunk), maxStoredBytes);
    if (outcome === "gone") throw lostUpload();
    if (outcome === "full") throw storageFull();
  }
  if (count === 0) throw new RefusedFile(400, "The file has no rows.");
  const stored = await storage.end(upload, hash.digest());
  if (stored === null) throw lostUpload();
  return stored;
}

const lostUpload = (): RefusedFile =>
  new RefusedFile(
    409,
    "The upload was cancelled, or another upload with the same idempotency key has started.",
  );

const storageFull = (): RefusedFile =>
  new RefusedFile(
    503,
    "There is no space for more files at the moment. Send the file again when other bulk operations have ended.",
    "SERVICE_UNAVAILABLE",
  );

/** Bytes of a file for one point. */
const bytesPerPoint = 100_000;

/** Makes a function that pays for the bytes of a file. Without enough points, it waits, and so does the client. */
function payer(spend: Spend, credentialId: string): (bytes: number) => Promise<void> {
  let owed = 0;
  return async (bytes) => {
    owed += bytes;
    const points = Math.floor(owed / bytesPerPoint);
    if (points === 0) return;
    owed -= points * bytesPerPoint;
    for (;;) {
      const { isAllowed, retryInSeconds } = await spend(credentialId, points);
      if (isAllowed) return;
      await pause(retryInSeconds * 1_000);
    }
  };
}
