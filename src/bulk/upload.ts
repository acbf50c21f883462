import type { Spend } from "../auth/rate-limits/spend.ts";
import { pause } from "../lib/retry.ts";
import { createHash } from "node:crypto";
import type { BulkLimits } from "./limits.ts";
import { loopShare } from "../lib/loop-share.ts";
import type { FileRow } from "./chunks.ts";
import { chunksOf, pack } from "./chunks.ts";
import { RefusedFile } from "./refused-file.ts";
import type { BegunUpload, BulkStorage } from "./storage.ts";

/** Bytes of a file that are read at a time. */
const pieceBytes = 8_192;

/** Bytes of a file as they arrive, bounded, and in pieces between which requests have their turns. @throws {RefusedFile} when there are too many */
export async function* boundedBytes(
  bytes: AsyncIterable<Buffer>,
  maxBytes: number,
  pay: (bytes: number) => Promise<void>,
): AsyncGenerator<Buffer> {
  const othersTurn = loopShare();
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

/** The text of a file in pieces, whose SHA-256 is known at its end. */
export class HashedPieces implements AsyncIterable<Buffer> {
  readonly #pieces: AsyncIterable<Buffer>;
  readonly #hash = createHash("sha256");

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    for await (const piece of this.#pieces) {
      this.#hash.update(piece);
      yield piece;
    }
  }

  sha256(): Buffer {
    return this.#hash.digest();
  }

  /** Reads to the end, and answers whether the text has a SHA-256. Null stands for any: it was not kept. */
  async isOf(sha256: Buffer | null): Promise<boolean> {
    if (sha256 === null) return true;
    const pieces = this[Symbol.asyncIterator]();
    while (!(await pieces.next()).done);
    return this.sha256().equals(sha256);
  }
}

/**
 * Stores the rows of a file, a chunk at a time.
 *
 * @param text of the file, which is read when its rows are
 * @returns the number of rows
 * @throws {RefusedFile} when there are too many, or none
 */
export async function storeRows(
  storage: BulkStorage,
  upload: BegunUpload,
  rows: AsyncIterable<readonly FileRow[]>,
  { maxRows, maxStoredBytes }: BulkLimits,
  text: HashedPieces,
): Promise<number> {
  let count = 0;
  for await (const chunk of chunksOf(rows)) {
    count += chunk.length;
    if (count > maxRows)
      throw new RefusedFile(413, `The file has more than ${maxRows} rows. Send it in parts.`);
    const outcome = await storage.add(upload, chunk.length, await pack(chunk), maxStoredBytes);
    if (outcome === "gone") throw goneUpload();
    if (outcome === "full") throw noRoom();
  }
  if (count === 0) throw new RefusedFile(400, "The file has no rows.");
  const stored = await storage.end(upload, text.sha256());
  if (stored === null) throw goneUpload();
  return stored;
}

const goneUpload = (): RefusedFile =>
  new RefusedFile(409, "The upload was cancelled, or the same idempotency key began another one meanwhile.");

const noRoom = (): RefusedFile =>
  new RefusedFile(
    503,
    "There is no room for more files now. Send it again when other bulk operations have ended.",
    "SERVICE_UNAVAILABLE",
  );

/** Bytes of a file that cost a point. */
const bytesPerPoint = 100_000;

/** Pays for the bytes of a file; without enough points it waits, and so does the client. */
export function payer(spend: Spend, credentialId: string): (bytes: number) => Promise<void> {
  let owed = 0;
  return async (bytes) => {
    owed += bytes;
    const points = Math.floor(owed / bytesPerPoint);
    if (points === 0) return;
    owed -= points * bytesPerPoint;
    for (;;) {
      const { isAllowed, retryAfterMs } = await spend(credentialId, points);
      if (isAllowed) return;
      await pause(retryAfterMs);
    }
  };
}
