import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "../errors/user-error.ts";
import type { FileMigration, ParsedSettings } from "./graphile-migrate-private.ts";

const root = new URL("../../", import.meta.url);

/** The folder of migrations. */
export const migrationsFolder = fileURLToPath(new URL("db", root));
export const currentFolder = new URL("db/current/", root);
const committedFolder = new URL("db/committed/", root);

/**
 * The first line of a migration that runs outside of a transaction, as `create index concurrently` must; in a committed
 * one it comes after the headers.
 */
const noTransactionLine = /^(?:--! ?[A-Z]\w*:.*\n|\n)*--! ?no-transaction\b/;

/** A file of db/current. */
export interface CurrentFile {
  name: string;
  text: string;
}

/** The files of db/current in the order in which they run, by the numbers at the beginning of their names. */
export async function readCurrent(): Promise<CurrentFile[]> {
  const names = (await readdir(currentFolder).catch(() => [])).filter((name) => /^\d.*\.sql$/.test(name));
  const files = names
    .toSorted((a, b) => parseNumber(a) - parseNumber(b))
    .map(async (name) => ({
      name,
      text: await readFile(new URL(name, currentFolder), "utf8").catch(explain(name)),
    }));
  return Promise.all(files);
}

/** Explains why a file can't be read. A service that root has started is another user, who may not read what root has made. */
const explain = (name: string) => (cause: unknown) => {
  if ((cause as NodeJS.ErrnoException).code !== "EACCES") throw cause;
  const path = `db/current/${name}`;
  throw new UserError(
    `The user ${process.getuid!()}, as whom this runs, may not read ${path}: chmod a+r ${path}`,
    {
      cause,
    },
  );
};

const parseNumber = (name: string) => Number.parseInt(name);

/** Whether db/current has an uncommitted migration. */
export async function hasCurrentMigration(): Promise<boolean> {
  return (await readCurrent()).some(hasStatements);
}

/** Whether a file contains statements. */
export function hasStatements({ text }: CurrentFile): boolean {
  const isStatement = (line: string) => line.startsWith("--!include") || !/^\s*(--.*)?$/.test(line);
  return text.split("\n").some(isStatement);
}

/** The files that were joined to one text, which do something. One that runs without a transaction has no name there. */
export function splitFiles(text: string): CurrentFile[] {
  const files = text.split(/^(?=--! split: )/m).map((part) => {
    const [, name = "", own = part] = /^--! split: (.*)\n([^]*)$/.exec(part) ?? [];
    return { name, text: own.trim() };
  });
  return files.filter(hasStatements);
}

/** A file from the root of the project, and a line counted from 1. */
export interface Place {
  file: string;
  line: number;
}

/** Returns the original file and line of each line of a migration. @param file the migration's own file */
export function listOrigins(text: string, file: string): Place[] {
  let open: Place[] = [{ file, line: 0 }];
  return text.split("\n").map((line) => {
    const [, split] = /^--! split: (.+)$/.exec(line) ?? [];
    const [, included] = /^--! Included (.+)$/.exec(line) ?? [];
    if (split !== undefined) open = [{ file: `db/current/${split}`, line: 0 }];
    else if (line.startsWith("--! EndIncluded ") && open.length > 1) open.pop();
    else open.at(-1)!.line++;
    const place = { ...open.at(-1)! };
    if (included !== undefined) open.push({ file: `db/fixtures/${included}`, line: 0 });
    return place;
  });
}

/** Files joined to one text, without those that do nothing, which graphile-migrate leaves in it. */
export const removeBlankFiles = (text: string): string =>
  splitFiles(text)
    .map(({ name, text: own }) => `${name}\n${own}`)
    .join("\n\n");

/**
 * Lists files that were deleted since they were run; renamed and committed files don't count.
 *
 * @param ran the files of the last run, including fixtures
 */
export async function findDeletedFiles(ran: readonly CurrentFile[]): Promise<CurrentFile[]> {
  const present = (await readCurrent()).filter(hasStatements);
  const missing = ran.filter(({ name }) => !present.some((file) => isSameFile(name, file)));
  if (missing.length === 0) return [];
  const texts = await Promise.all(present.map(({ text }) => includeFixtures(text).catch(() => text)));
  texts.push(...(await readCommitted()).map(({ text }) => text));
  return missing.filter((file) => !texts.some((text) => text.includes(file.text)));
}

const isSameFile = (name: string, file: CurrentFile): boolean =>
  name === "" ? isWithoutTransaction(file.text) : name === file.name;

/** Whether a migration runs outside of a transaction. */
export function isWithoutTransaction(text: string): boolean {
  return noTransactionLine.test(text);
}

/**
 * Several files as one migration, each after a line with its name, as graphile-migrate joins them.
 *
 * @throws {UserError} when they can't be one
 */
export function joinFiles(files: readonly CurrentFile[]): string {
  const wanted = files.filter(hasStatements);
  const numbers = new Set(wanted.map(({ name }) => parseNumber(name)));
  if (numbers.size < wanted.length)
    throw new UserError(`Two files of db/current begin with the same number: ${joinNames(wanted)}.`);
  const alone = wanted.find(({ text }) => isWithoutTransaction(text));
  if (alone === undefined)
    return wanted.map(({ name, text }) => `--! split: ${name}\n${text.trim()}\n`).join("\n");
  if (wanted.length === 1) return alone.text;
  throw new UserError(
    `${alone.name} runs without a transaction, and so must be a migration of its own: commit it by itself, npx erp db commit "message" ${alone.name}.`,
  );
}

export const joinNames = (files: readonly CurrentFile[]) => files.map(({ name }) => name).join(", ");

/** Loaded when it is used, as commands only ask which migrations there are. */
const loadGraphileMigrate = () => import("./graphile-migrate-private.ts");

/** The text of a migration with its fixtures included. */
export async function compileMigration(text: string, settings: ParsedSettings): Promise<string> {
  const { parseMigrationText } = await loadGraphileMigrate();
  const { body } = parseMigrationText("db/current", text, false);
  return included(settings, body);
}

/** A file of db/current with its fixtures in it, each between lines that name it. */
export function includeFixtures(text: string): Promise<string> {
  return included({ migrationsFolder } as ParsedSettings, text);
}

/** @throws {UserError} when a fixture isn't there */
async function included(settings: ParsedSettings, text: string): Promise<string> {
  const { compileIncludes } = await loadGraphileMigrate();
  try {
    return await compileIncludes(settings, text, new Set());
  } catch (cause) {
    const [, name] = /^Include of '(.*?)' failed/.exec((cause as Error).message) ?? [];
    if (name === undefined) throw cause;
    const line = text.split("\n").findIndex((one) => one === `--!include ${name}`) + 1;
    throw new UserError(`db/fixtures has no ${name}, which line ${line} includes.`, { cause });
  }
}

/** The number of committed migrations. */
export async function countCommitted(): Promise<number> {
  return (await readCommittedNames()).length;
}

/** All committed migrations, in their order. */
export async function readCommitted(): Promise<CurrentFile[]> {
  const names = (await readCommittedNames()).sort();
  return Promise.all(
    names.map(async (name) => ({ name, text: await readFile(new URL(name, committedFolder), "utf8") })),
  );
}

/** The hashes of the committed migrations, in their order. Each follows from the one before, too. */
export async function readCommittedHashes(): Promise<{ name: string; hash: string }[]> {
  const all = await readCommitted();
  return all.map(({ name, text }) => ({ name, hash: /^--! Hash: (\S+)/m.exec(text)![1]! }));
}

async function readCommittedNames(): Promise<string[]> {
  const names = await readdir(committedFolder).catch(() => []);
  return names.filter((name) => /^\d+.*\.sql$/.test(name));
}

/** @throws {UserError} when a committed migration is not what was committed */
export async function requireUntouched({
  body,
  previousHash,
  hash,
  allowInvalidHash,
  realFilename,
}: FileMigration): Promise<void> {
  const { calculateHash } = await loadGraphileMigrate();
  if (allowInvalidHash || calculateHash(body, previousHash) === hash) return;
  throw new UserError(
    `db/committed/${realFilename} has been changed since it was committed. Take the change back.`,
  );
}

/** The names of the SQL files in a folder of db and below it, in their order. */
export async function listSqlFiles(folder: "current" | "committed" | "fixtures"): Promise<string[]> {
  const names = await readdir(join(migrationsFolder, folder), { recursive: true }).catch(() => []);
  return names
    .filter((name) => name.endsWith(".sql"))
    .map((name) => name.replaceAll("\\", "/"))
    .sort();
}

/** Returns a text that changes whenever a file of db/current or db/fixtures does. */
export async function filesSignature(): Promise<string> {
  const lists = (["current", "fixtures"] as const).map(async (folder) => {
    const fileStates = (await listSqlFiles(folder)).map(async (name) => {
      const file = await stat(join(migrationsFolder, folder, name)).catch(() => null);
      return `${name} ${file?.mtimeMs} ${file?.size}`;
    });
    return (await Promise.all(fileStates)).join("\n");
  });
  return (await Promise.all(lists)).join("\n");
}
