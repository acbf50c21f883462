import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { UserError } from "../errors/user-error.ts";
import { withClient } from "../postgres/client.ts";
import {
  calculateHash,
  getAllMigrations,
  getCurrentMigrationLocation,
  serializeMigration,
  sluggify,
  writeCurrentMigration,
} from "./graphile-migrate-private.ts";
import type { ParsedSettings } from "./graphile-migrate-private.ts";
import type { CurrentFile } from "./migration-files.ts";
import {
  compileMigration,
  currentFolder,
  hasStatements,
  joinFiles,
  migrationsFolder,
  joinNames,
  readCurrent,
} from "./migration-files.ts";
import { requireSameMigrations } from "./migration-history.ts";
import { migrateDatabase } from "./migrations.ts";
import type { MigrateOptions } from "./migrate-options.ts";
import { urlAsOwner } from "../postgres/roles.ts";
import { printCommittedSchema, writeSchema } from "./schema-file.ts";

const settings = { migrationsFolder, blankMigrationContent: "" } as ParsedSettings;
const execute = promisify(execFile);
const blank = "-- Enter migration here\n";

export interface CommitOptions extends MigrateOptions {
  /** Looks at the files before anything is changed; what it throws refuses them. */
  approve?: (files: readonly CurrentFile[]) => Promise<void>;
}

/**
 * Turns files of db/current into a committed migration, after trying it on a new database.
 *
 * @param message becomes part of the file's name
 * @param names which files; all when empty
 * @throws {UserError} when it can't be run; db/current is then unchanged
 */
export async function commitMigration(
  adminUrl: string,
  message: string,
  names: readonly string[] = [],
  { approve, ...options }: CommitOptions = {},
): Promise<void> {
  const files = await readCurrent();
  const unknown = names.filter((name) => !files.some((file) => file.name === name));
  if (unknown.length > 0) throw new UserError(`There is no ${unknown.join(", ")} in db/current.`);
  const wanted = names.length === 0 ? files : files.filter(({ name }) => names.includes(name));
  requireFirst(wanted, files);
  const text = joinFiles(wanted);
  await approve?.(wanted);
  await commitText(adminUrl, message, text, options);
  await Promise.all(wanted.map(({ name }) => rm(new URL(name, currentFolder))));
  if (wanted.length === files.length) await writeFile(new URL("1-current.sql", currentFolder), blank);
}

/** Later files may build on earlier ones, so these are committed first. */
function requireFirst(wanted: readonly CurrentFile[], files: readonly CurrentFile[]): void {
  const last = files.findLastIndex((file) => wanted.includes(file));
  const skipped = files.slice(0, last).filter((file) => !wanted.includes(file) && hasStatements(file));
  if (skipped.length > 0)
    throw new UserError(`${joinNames(skipped)} must be committed before: migrations run in their order.`);
}

/**
 * Commits a migration that is not in db/current: nothing there is read or changed, so a process that watches db/current
 * doesn't notice. It is tried on a new database first. Rewrites db/schema.sql.
 *
 * @throws {UserError} when it can't be run
 */
export async function commitText(
  adminUrl: string,
  message: string,
  text: string,
  options: MigrateOptions = {},
): Promise<void> {
  await withClient(adminUrl, requireSameMigrations);
  const file = await writeMigration(message, text);
  try {
    const schema = await printCommittedSchema(adminUrl);
    await migrateDatabase(adminUrl, options);
    await writeSchema(schema);
  } catch (error) {
    await rm(file);
    throw error;
  }
}

/** Writes a file of db/committed. @returns its path */
async function writeMigration(message: string, text: string): Promise<string> {
  const all = await getAllMigrations(settings);
  const body = await compileMigration(text, settings);
  if (/[\r\n]/.test(message)) throw new UserError("The message is one line.");
  if (!hasStatements({ name: "", text: body })) throw new UserError("There is nothing to commit.");
  const previous = all.at(-1)?.hash ?? null;
  const headers = { Previous: previous ?? "-", Hash: calculateHash(body, previous), Message: message };
  const slug = sluggify(message);
  const name = [String(all.length + 1).padStart(6, "0"), ...(slug === "" ? [] : [slug])].join("-");
  const file = join(migrationsFolder, "committed", `${name}.sql`);
  await writeFile(file, serializeMigration(body, headers), { mode: 0o444, flag: "wx" });
  return file;
}

/**
 * Moves the newest committed migration back into db/current.
 *
 * @param mayBeShared whether others may have it already
 * @throws {UserError} when db/current has a migration, or others have the committed one
 */
export async function uncommitMigration(adminUrl: string, mayBeShared = false): Promise<void> {
  const last = (await getAllMigrations(settings)).at(-1);
  if (last === undefined) throw new UserError("There is no committed migration.");
  if (!mayBeShared && (await isShared(last.fullPath)))
    throw new UserError(
      `Others have ${last.realFilename}: git has it on a remote branch. Write another migration instead. If no database but yours has run it, add --shared.`,
    );
  const current = (await readCurrent()).filter(hasStatements);
  if (current.length > 0)
    throw new UserError(`Commit ${joinNames(current)} first: db/current must be empty for this.`);
  const body = last.body.replace(/^--! Included (\S+)$[^]*?^--! EndIncluded \1$/gm, "--!include $1");
  const location = await getCurrentMigrationLocation(settings);
  // Without headers: the next commit is given a message, and would keep an older one as a comment
  await writeCurrentMigration(settings, location, serializeMigration(body, {}));
  await rm(last.fullPath);
  await withClient(urlAsOwner(adminUrl), (owner) =>
    owner.query("delete from graphile_migrate.migrations where hash = $1", [last.hash]),
  );
  await writeSchema(await printCommittedSchema(adminUrl));
}

/**
 * Returns whether git has a file on a remote branch; false without git, or without remotes.
 *
 * @throws {UserError} when git refuses to say, as for a repository of another user
 */
async function isShared(path: string): Promise<boolean> {
  const search = ["log", "--remotes", "--max-count=1", "--format=%H", "--", path];
  try {
    const { stdout } = await execute("git", search, { cwd: migrationsFolder });
    return stdout.trim() !== "";
  } catch (cause) {
    const { code, stderr = "" } = cause as { code?: unknown; stderr?: string };
    if (code === "ENOENT" || stderr.includes("not a git repository")) return false;
    const [reason] = stderr.split("\n");
    throw new UserError(
      `git can't say whether others have ${basename(path)}: ${reason} Mend that, or add --shared if nobody has.`,
      { cause },
    );
  }
}
