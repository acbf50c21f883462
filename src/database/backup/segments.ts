import { createReadStream } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip } from "node:zlib";
import { UserError } from "../../errors/user-error.ts";
import { eachOf } from "./files.ts";

/** Bytes of a segment of the write-ahead log, and how many the middle eight digits of names count. */
const segmentBytes = 16 << 20;
const perLog = 0x1_0000_0000 / segmentBytes;
/** Where the first page of a segment has the identifier of its cluster. */
const identifierAt = 24;

/** The number of a segment, whatever its timeline is. */
export const numberOf = (name: string): number =>
  Number.parseInt(name.slice(8, 16), 16) * perLog + Number.parseInt(name.slice(16, 24), 16);

function nameOf(timeline: string, number: number): string {
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, "0");
  return timeline + hex(Math.floor(number / perLog)) + hex(number % perLog);
}

/** The names of segments of one timeline, from the first to the last. */
export function segmentsBetween(first: string, last: string): string[] {
  const [from, to] = [numberOf(first), numberOf(last)];
  return Array.from({ length: to - from + 1 }, (_, index) => nameOf(last.slice(0, 8), from + index));
}

/** Files of a folder of segments that tell where timelines begin. */
export async function historyFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^[0-9A-F]{8}\.history$/.test(name));
}

/** The archived segments from one on, in their order. */
export async function archivedFrom(folder: string, first: string): Promise<string[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^[0-9A-F]{24}\.gz$/.test(name));
  return names
    .map((name) => name.slice(0, 24))
    .filter((name) => numberOf(name) >= numberOf(first))
    .sort((a, b) => numberOf(a) - numberOf(b) || (a < b ? -1 : 1));
}

export interface ArchiveCheck {
  folder: string;
  systemIdentifier: string;
  /** The segments of the backup itself. */
  first: string;
  last: string;
  onProgress?: (done: number, total: number) => void;
}

/**
 * Checks that the archive continues a backup without a gap, and that each segment can be read and is of that cluster.
 *
 * @returns the names of the segments
 * @throws {UserError} when one is missing or damaged
 */
export async function checkArchive(options: ArchiveCheck): Promise<string[]> {
  const { folder, systemIdentifier, first, last, onProgress = () => {} } = options;
  const segments = await archivedFrom(folder, first);
  let reached = numberOf(last);
  for (const name of segments) {
    if (numberOf(name) > reached + 1) throw await endsBefore(folder, name, segments);
    reached = Math.max(reached, numberOf(name));
  }
  let done = 0;
  await eachOf(segments, async (name) => {
    const trouble = await troubleOf(join(folder, `${name}.gz`), systemIdentifier);
    if (trouble !== null) throw damaged(folder, name, trouble);
    onProgress(++done, segments.length);
  });
  return segments;
}

async function endsBefore(folder: string, name: string, all: readonly string[]): Promise<UserError> {
  const before = all[all.indexOf(name) - 1];
  const at = before && (await stat(join(folder, `${before}.gz`))).mtime.toISOString();
  return new UserError(
    `The archive ${folder} lacks a segment before ${name}. ` +
      `Move that one and those after it elsewhere to restore what comes before${at ? ` (until about ${at})` : ""}.`,
  );
}

const damaged = (folder: string, name: string, trouble: string): UserError =>
  new UserError(
    `The segment ${name} of the archive ${folder} ${trouble}. ` +
      "Move it and those after it elsewhere to restore what comes before.",
  );

/** What is wrong with an archived segment; null for nothing. */
async function troubleOf(path: string, systemIdentifier: string): Promise<string | null> {
  let bytes = 0;
  let head = Buffer.alloc(0);
  try {
    for await (const block of createReadStream(path).pipe(createGunzip()) as AsyncIterable<Buffer>) {
      if (bytes < identifierAt + 8) head = Buffer.concat([head, block]);
      bytes += block.length;
    }
  } catch (error) {
    return `can't be read (${(error as Error).message})`;
  }
  if (bytes !== segmentBytes) return `has ${bytes} bytes instead of ${segmentBytes}`;
  return head.readBigUInt64LE(identifierAt).toString() === systemIdentifier ? null : "is of another cluster";
}

/** Removes archived segments that no backup needs. @returns how many */
export async function pruneArchive(folder: string, before: string): Promise<number> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^[0-9A-F]{24}\./.test(name));
  const old = names.filter((name) => numberOf(name) < numberOf(before));
  for (const name of old) await rm(join(folder, name));
  return old.length;
}
