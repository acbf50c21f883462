import { open } from "node:fs/promises";
import { LRUCache } from "lru-cache";
import { UserError } from "../../errors/user-error.ts";
import { download } from "./download.ts";
import type { ReadLimits } from "./download.ts";

export const defaultReadLimits: ReadLimits = { maxBytes: 5_000_000, timeoutMs: 15_000, maxRedirects: 3 };

/**
 * Reads a text from a file or from the web.
 *
 * @param from path of a file, or an http or https address
 * @param stopping aborts a download
 * @throws {UserError} if it can't be read or is too large
 */
export async function readText(
  from: string,
  { limits = {}, stopping }: { limits?: Partial<ReadLimits>; stopping?: AbortSignal } = {},
): Promise<string> {
  const all = { ...defaultReadLimits, ...limits };
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(from);
  const bytes = await (isAddress ? download(from, all, stopping) : readFile(from, all));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UserError(`${isAddress ? "The download" : from} is no text in UTF-8.`);
  }
}

async function readFile(path: string, { maxBytes: bytes }: ReadLimits): Promise<Uint8Array> {
  const file = await open(path).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === "ENOENT" ? "there is no such file" : cause.message;
    throw new UserError(`${path} can't be read: ${reason}.`, { cause });
  });
  try {
    const stats = await file.stat();
    // A device or a pipe might never end
    if (!stats.isFile()) throw new UserError(`${path} can't be read: it is no file.`);
    if (stats.size > bytes) throw new UserError(`${path} is larger than ${bytes / 1_000_000} MB.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Reads each source of rates at most once in a quarter of an hour, for all merchants together, to spare its publisher. */
export function sharedReading(): typeof readText {
  const texts = new LRUCache<string, Promise<string>>({
    max: 10,
    ttl: 15 * 60_000,
    memoMethod(from) {
      // No caller may abort it: others may be waiting for it
      const text = readText(from);
      text.catch(() => texts.delete(from));
      return text;
    },
  });
  return (from) => texts.memo(from);
}
