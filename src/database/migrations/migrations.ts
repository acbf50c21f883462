import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { UserError } from "../../errors/user-error.ts";
import type { CurrentFile } from "./migration-files.ts";
import { countCommitted, migrationsFolder } from "./migration-files.ts";
import { requireServedMigrations } from "./migration-history.ts";
import type { MigrateOptions } from "./migrator.ts";
import { Migrator } from "./migrator.ts";

export { hasCurrentMigration } from "./migration-files.ts";
export type { MigrateOptions } from "./migrator.ts";

/**
 * Runs the committed migrations that the database doesn't have yet.
 *
 * @throws {UserError} when one fails, with its name and the cause; those before it stay, and it is undone
 */
export function migrateDatabase(adminUrl: string, options: MigrateOptions = {}): Promise<void> {
  return Migrator.with(adminUrl, options, (migrator) => migrator.runCommitted());
}

/**
 * Runs the migration in db/current once, for development.
 *
 * @param current its files; by default all
 * @throws {UserError} when it fails, with file and cause; it is then undone
 */
export async function runCurrentMigration(
  adminUrl: string,
  options: MigrateOptions = {},
  current?: readonly CurrentFile[],
): Promise<void> {
  await Migrator.with(adminUrl, options, (migrator) => migrator.runCurrent(current));
}

/** How often to look for changes, and how long files must be unchanged before they are run. */
const lookEveryMs = 200;

export interface WatchOptions extends MigrateOptions {
  /** Called after each successful run. */
  onMigrated: () => void;
  /** Called with messages: progress, and why a run failed. */
  onProgress: (line: string) => void;
}

/**
 * Runs db/current now and whenever it or a fixture changes, until it is stopped.
 *
 * @returns a function that stops watching, without waiting for a run in progress, which reports no more
 */
export function watchCurrentMigration(
  adminUrl: string,
  { onMigrated, onProgress, ...options }: WatchOptions,
): () => void {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async () => {
    const begin = performance.now();
    try {
      const isNew = await Migrator.with(adminUrl, options, (migrator) => migrator.runCurrent());
      if (isNew) onProgress(`db/current has been run, in ${Math.round(performance.now() - begin)} ms.`);
      onMigrated();
    } catch (error) {
      if (signal.aborted) return;
      onProgress(error instanceof UserError ? error.message : `db/current can't be run: ${String(error)}`);
    }
  };
  void (async () => {
    let done = "";
    let seen = await signature();
    while (!signal.aborted) {
      if (seen !== done) {
        done = seen;
        await run();
      }
      // Some editors write files in parts, so wait until nothing changes
      let before: string;
      do {
        before = seen;
        await sleep(lookEveryMs, undefined, { signal }).catch(() => {});
        seen = await signature();
      } while (seen !== before && !signal.aborted);
    }
  })();
  return () => stopping.abort();
}

/** A text that changes with any file of db/current or db/fixtures. */
async function signature(): Promise<string> {
  const lists = ["current", "fixtures"].map(async (folder) => {
    const path = join(migrationsFolder, folder);
    const names = await readdir(path, { recursive: true }).catch(() => []);
    const fileStates = names
      .filter((name) => name.endsWith(".sql"))
      .map(async (name) => {
        const file = await stat(join(path, name)).catch(() => null);
        return `${name} ${file?.mtimeMs} ${file?.size}`;
      });
    return (await Promise.all(fileStates)).sort().join("\n");
  });
  return (await Promise.all(lists)).join("\n");
}

/**
 * Refuses a database that was made by other migrations, or lacks some of this code.
 *
 * @throws {UserError} naming the command that updates it
 */
export async function requireMigrated(client: pg.ClientBase): Promise<void> {
  const command = "Run `DATABASE_URL=<an administrator's URL> npm run db:setup` first.";
  const { rows: found } = await client.query<{ ready: boolean }>(
    "select to_regproc('api_meta.migration_count') is not null as ready",
  );
  if (!found[0]!.ready) throw new UserError(`This database has not been set up. ${command}`);
  await requireServedMigrations(client);
  const { rows } = await client.query<{ count: number }>("select api_meta.migration_count() as count");
  const wanted = await migrationsWanted();
  if (rows[0]!.count < wanted) {
    throw new UserError(`This database has had ${rows[0]!.count} of ${wanted} migrations. ${command}`);
  }
}

let wantedCount: Promise<number> | undefined;

/** The number of migrations that this code needs: those of db/committed at the first call. */
export function migrationsWanted(): Promise<number> {
  return (wantedCount ??= countCommitted());
}
