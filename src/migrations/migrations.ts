import type pg from "pg";
import type { CurrentFile } from "./migration-files.ts";
import { countCommitted } from "./migration-files.ts";
import { requireServedMigrations } from "./migration-history.ts";
import type { MigrateOptions } from "./migrate-options.ts";
import type { Migrator as OpenMigrator } from "./migrator.ts";
import { isBeingMigrated, MissingMigrationsError } from "./being-migrated.ts";

export { hasCurrentMigration } from "./migration-files.ts";
export type { MigrateOptions } from "./migrate-options.ts";

/** Connects for one piece of work, which no other process migrates beside. */
export async function withMigrator<T>(
  adminUrl: string,
  options: MigrateOptions,
  work: (migrator: OpenMigrator) => Promise<T>,
): Promise<T> {
  // Most commands migrate nothing, and what does is a quarter of what they would load
  const { Migrator } = await import("./migrator.ts");
  const migrator = await Migrator.open(adminUrl, options);
  try {
    return await migrator.withLock(work);
  } finally {
    await migrator.close();
  }
}

/**
 * Runs the committed migrations that the database doesn't have yet.
 *
 * @throws {UserError} when one fails, with its name and the cause; those before it stay, and it is undone
 */
export function migrateDatabase(adminUrl: string, options: MigrateOptions = {}): Promise<void> {
  return withMigrator(adminUrl, options, (migrator) => migrator.runCommitted());
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
  await withMigrator(adminUrl, options, (migrator) => migrator.runCurrent({ files: current }));
}

/**
 * Refuses a database that was made by other migrations, or lacks some of this code.
 *
 * @throws {UserError} naming the command that updates it
 */
export async function requireMigrated(client: pg.ClientBase): Promise<void> {
  const command = "Run `DATABASE_URL=<an administrator's URL> npx erp db setup` first.";
  const { rows: found } = await client.query<{ ready: boolean }>(
    "select to_regproc('api_meta.migration_count') is not null as ready",
  );
  if (!found[0]!.ready) {
    if (await isBeingMigrated(client))
      throw new MissingMigrationsError("Another process sets up the database.", true);
    throw new MissingMigrationsError(`This database has not been set up. ${command}`, false);
  }
  await requireServedMigrations(client);
  const { rows } = await client.query<{ count: number }>("select api_meta.migration_count() as count");
  const wanted = await countRequiredMigrations();
  if (rows[0]!.count < wanted) {
    const had = `has had ${rows[0]!.count} of ${wanted} migrations.`;
    if (await isBeingMigrated(client))
      throw new MissingMigrationsError(`Another process migrates the database. It ${had}`, true);
    throw new MissingMigrationsError(`This database ${had} ${command}`, false);
  }
}

let wantedCount: Promise<number> | undefined;

/** Returns the number of migrations that this code needs, counted in db/committed at the first call. */
export function countRequiredMigrations(): Promise<number> {
  return (wantedCount ??= countCommitted());
}
