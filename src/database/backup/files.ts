import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { open, readdir, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import type { BackedUpFile } from "./manifest.ts";

const blockBytes = 1 << 20;
/** Files that are copied at a time. */
const atATime = 4;

/** What of a data folder is only of a running server, or is made anew by each start. */
const emptied = /^pg_(wal|replslot|dynshmem|notify|serial|snapshots|stat_tmp|subtrans)\//;
const left =
  /(^|\/)(pgsql_tmp[^/]*|pg_internal\.init[^/]*|postmaster\.(pid|opts)|server\.log|backup_label|tablespace_map|(standby|recovery)\.signal)(\/|$)/;

/** A file or folder of the data of Postgres. */
export interface DataFile {
  /** From the folder of the data, with `/`. */
  path: string;
  bytes: number;
  isFolder: boolean;
}

/** What of a data folder belongs into a backup; pg_control, which says how to begin, comes last. */
export async function dataFiles(data: string): Promise<DataFile[]> {
  const entries = await readdir(data, { recursive: true, withFileTypes: true });
  const files = await Promise.all(
    entries.map(async (entry): Promise<DataFile | null> => {
      const full = join(entry.parentPath, entry.name);
      const path = full.slice(data.length + 1).replaceAll(sep, "/");
      if (emptied.test(path) || left.test(path)) return null;
      if (entry.isDirectory()) return { path, bytes: 0, isFolder: true };
      // It may have gone since
      const found = await stat(full).catch(ifAway);
      return found === null ? null : { path, bytes: found.size, isFolder: false };
    }),
  );
  const isControl = ({ path }: DataFile) => path === "global/pg_control";
  return files
    .filter((found) => found !== null)
    .sort((a, b) => Number(isControl(a)) - Number(isControl(b)) || (a.path < b.path ? -1 : 1));
}

/** @returns null when a file isn't there; other errors are thrown */
export function ifAway(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
  throw error;
}

export interface CopyOptions {
  /** Called with the bytes that were read. */
  onRead?: (bytes: number) => void;
}

/** Reads a file, and copies it unless `to` is null. @returns its length and hash */
export async function copyFile(
  from: string,
  to: string | null,
  { onRead = () => {} }: CopyOptions = {},
): Promise<Omit<BackedUpFile, "path">> {
  const hash = createHash("sha256");
  const source = await open(from);
  let target: FileHandle | null = null;
  let bytes = 0;
  try {
    if (to !== null) target = await open(to, "w", 0o600);
    // Most files are small, and there are thousands: one reading shows that nothing comes after it
    const { size } = await source.stat();
    const buffer = Buffer.allocUnsafe(Math.min(blockBytes, Math.max(size + 1, 1 << 13)));
    for (let isMore = true; isMore;) {
      const { bytesRead } = await source.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      const block = buffer.subarray(0, bytesRead);
      hash.update(block);
      await target?.writeFile(block);
      bytes += bytesRead;
      onRead(bytesRead);
      // Less than was asked for needn't be the end, where there was more
      isMore = bytesRead === buffer.length || bytes < size;
    }
  } finally {
    await source.close();
    await target?.close();
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Makes all that was written to the disk of a folder safe on it; one by one, thousands of files would take long. */
export async function syncDisk(folder: string): Promise<void> {
  await promisify(execFile)("sync", process.platform === "linux" ? ["-f", folder] : []);
}

/** Does work for each item, some at a time. After a failure it begins no more, and throws it. */
export async function eachOf<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]();
  let hasFailed = false;
  const take = async () => {
    for (let next = rest.next(); !hasFailed && !next.done; next = rest.next()) {
      await work(next.value).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  const takers = await Promise.allSettled(Array.from({ length: atATime }, take));
  const failed = takers.find(({ status }) => status === "rejected");
  if (failed) throw (failed as PromiseRejectedResult).reason;
}
