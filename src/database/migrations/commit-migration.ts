import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomUUID } from "node:crypto";
import { UserError } from "../../errors/user-error.ts";
import { withClient } from "../client.ts";
import type { CurrentFile } from "./migration-files.ts";
import {
  currentFolder,
  hasStatements,
  isWithoutTransaction,
  joinedFiles,
  migrationsFolder,
  namesOf,
  readCurrent,
} from "./migration-files.ts";
import { requireSameMigrations } from "./migration-history.ts";
import type { MigrateOptions } from "./migrator.ts";
import { migratingUrl } from "../roles.ts";
import { defaultLockLimits, LockObserver, retryLocked } from "./retry-locked.ts";
import { writeSchema } from "./schema-file.ts";

const blank = "-- Enter migration here\n";

/** A failure of graphile-migrate, with its output. */
class CommandFailure extends UserError {
  /** Whether it failed because others held locks. */
  readonly isLocked: boolean;

  constructor(command: string, output: string) {
    super(`graphile-migrate ${command} failed, and nothing of it was kept:\n${withoutStack(output).trim()}`);
    this.isLocked = /^ *Code:\s+(55P03|40P01)|Failed to get exclusive lock/m.test(output);
  }
}

/** The output of graphile-migrate without locations in its code. */
function withoutStack(output: string): string {
  return output.replace(/^ +at .*\n?/gm, "");
}

export interface CommitOptions extends MigrateOptions {
  /** Looks at the files before anything is changed; what it throws refuses them. */
  approve?: (files: readonly CurrentFile[]) => Promise<void>;
}

/**
 * Turns files of db/current into a committed migration, after trying it on a new shadow database.
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
  const text = joinedFiles(wanted);
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
    throw new UserError(`${namesOf(skipped)} must be committed before: migrations run in their order.`);
}

/**
 * Commits a migration that is not in db/current: nothing there is read or changed, so a process that watches db/current
 * doesn't notice. Rewrites db/schema.sql.
 *
 * @throws {UserError} when it can't be run
 */
export async function commitText(
  adminUrl: string,
  message: string,
  text: string,
  { locks = defaultLockLimits, onWait = () => {} }: MigrateOptions = {},
): Promise<void> {
  await withClient(adminUrl, requireSameMigrations);
  const folder = await mkdtemp(join(tmpdir(), "migration-"));
  const application = `migration ${randomUUID()}`;
  const mayWait = isWithoutTransaction(text) && /\bconcurrently\b/i.test(text);
  const url = migratingUrl(adminUrl, application, mayWait ? 0 : locks.lockTimeoutMs);
  const observer = new LockObserver(adminUrl, application, locks.lockTimeoutMs);
  try {
    for (const part of ["committed", "fixtures"])
      await symlink(join(migrationsFolder, part), join(folder, part), "junction");
    await writeFile(join(folder, "current.sql"), text);
    await writeFile(join(folder, ".gmrc"), '{ "migrationsFolder": ".", "databaseOwner": "service_owner" }');
    await retryLocked(() => graphileMigrate(url, adminUrl, folder, ["commit", "--message", message]), {
      name: `“${message}”`,
      holders: () => observer.holders(),
      onWait,
      isLocked: (error) => error instanceof CommandFailure && error.isLocked,
      ...locks,
    });
  } finally {
    await observer.close();
    await rm(folder, { recursive: true, force: true });
  }
  await writeSchema(adminUrl);
}

/** Moves the newest committed migration back into db/current. */
export async function uncommitMigration(adminUrl: string): Promise<void> {
  const url = migratingUrl(adminUrl, "uncommit", 0);
  await graphileMigrate(url, adminUrl, fileURLToPath(new URL("../../../", import.meta.url)), ["uncommit"]);
  await writeSchema(adminUrl);
}

/**
 * Runs a command of graphile-migrate in a child process, because it ends its whole process when it loses a connection.
 *
 * @param url the database, as its owner
 * @param folder the folder of its settings
 */
async function graphileMigrate(
  url: string,
  adminUrl: string,
  folder: string,
  words: string[],
): Promise<void> {
  const program = fileURLToPath(import.meta.resolve("graphile-migrate/dist/cli.js"));
  const shadow = new URL(url);
  shadow.pathname += "_shadow";
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      DATABASE_URL: url,
      SHADOW_DATABASE_URL: shadow.href,
      ROOT_DATABASE_URL: Object.assign(new URL(adminUrl), { pathname: "/template1" }).href,
    },
  });
  let output = "";
  const collect = (chunk: Buffer) => void (output += chunk.toString());
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const [code] = (await once(child, "close")) as [code: number | null];
  if (code !== 0) throw new CommandFailure(words.join(" "), output);
}
