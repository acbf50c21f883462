import { hash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { UserError } from "../../errors/user-error.ts";

const file = "manifest.json";
/** How the names of folders end while their backup is made. */
export const unfinished = ".unfinished";

const wal = z.string().regex(/^[0-9A-F]{24}$/);

const manifest = z.object({
  format: z.literal(1),
  /** When the copy began and ended, by the clock of Postgres. */
  begunAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  /** Version of Postgres. */
  postgres: z.string(),
  systemIdentifier: z.string(),
  /** Segments of the write-ahead log that belong to it. */
  firstWal: wal,
  lastWal: wal,
  /** Each file below `data`, with its bytes and their SHA-256. */
  files: z.array(z.object({ path: z.string(), bytes: z.number(), sha256: z.string() })),
});

/** What a backup consists of. It is written last, so a folder without it is no backup. */
export type Manifest = z.infer<typeof manifest>;
export type BackedUpFile = Manifest["files"][number];

/** A complete backup in its folder. */
export interface Backup {
  name: string;
  folder: string;
  manifest: Manifest;
}

/** The files of a manifest: itself, and its hash. */
export function manifestFiles(content: Manifest): Record<string, string> {
  const text = `${JSON.stringify(content)}\n`;
  return { [`${file}.sha256`]: `${hash("sha256", text)}  ${file}\n`, [file]: text };
}

/** @throws {UserError} when the folder is no complete backup, or its manifest was changed */
export async function readBackup(folder: string): Promise<Backup> {
  const path = resolve(folder);
  const read = (name: string) => readFile(join(path, name), "utf8");
  const text = await read(file).catch((cause: unknown) => {
    throw new UserError(`${path} is no complete backup: it has no ${file}.`, { cause });
  });
  const sum = await read(`${file}.sha256`).catch(() => "");
  if (sum.split(" ")[0] !== hash("sha256", text))
    throw new UserError(`The backup ${path} is damaged: ${file} is not as it was written.`);
  return { name: basename(path), folder: path, manifest: manifest.parse(JSON.parse(text)) };
}

/** The complete backups of a folder, the oldest first. */
export async function listBackups(folder: string): Promise<Backup[]> {
  const names = await readdir(folder).catch(() => []);
  const wanted = names.filter((name) => /^\d{8}T\d{6}Z/.test(name) && !name.endsWith(unfinished));
  const backups = await Promise.all(wanted.map((name) => readBackup(join(folder, name))));
  return backups.sort((a, b) => a.manifest.endedAt.localeCompare(b.manifest.endedAt));
}
