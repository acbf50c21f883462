import { readdir, readFile } from "node:fs/promises";
import { defaultLogger, migrate, watch } from "graphile-migrate";
import type { Settings as MigrateSettings } from "graphile-migrate";
import pg from "pg";
import { DatabaseError } from "./cluster.ts";
import { asOwner } from "./roles.ts";

const root = new URL("../../", import.meta.url);

type Logger = typeof defaultLogger;
const Logger = defaultLogger.constructor as new (factory: () => (level: string, message: string) => void) => Logger;

const quiet = new Logger(() => (level, message) => {
  if (level === "error") process.stderr.write(`${message}\n`);
});

async function settingsFor(adminUrl: string, logger = quiet): Promise<MigrateSettings> {
  const file = JSON.parse(await readFile(new URL(".gmrc", root), "utf8"));
  const url = asOwner(adminUrl);
  // Only its `reset` uses the root connection; we have no such command, but it insists
  const rootConnectionString = Object.assign(new URL(url), { pathname: "/template1" }).href;
  return { ...file, connectionString: url, rootConnectionString, databaseOwner: "service_owner", logger };
}

/** Runs the committed migrations that the database doesn't have yet. */
export async function migrateDatabase(adminUrl: string): Promise<void> {
  await migrate(await settingsFor(adminUrl));
}

/** Whether there is a migration in db/current that isn't committed yet. */
export async function hasCurrentMigration(): Promise<boolean> {
  const folder = new URL("db/current/", root);
  const texts = await Promise.all(
    (await readdir(folder).catch(() => [])).map((name) => readFile(new URL(name, folder), "utf8")),
  );
  return texts.some((text) => /^(?!\s*(--(?!!)|$)).+/m.test(text));
}

/** Runs the migration in db/current once, as development does. */
export async function runCurrentMigration(adminUrl: string): Promise<void> {
  await watch(await settingsFor(adminUrl), true);
}

/**
 * Runs db/current now and whenever it changes, until the process ends.
 *
 * @param onMigrated called after each run that succeeded
 */
export async function watchCurrentMigration(adminUrl: string, onMigrated: () => void): Promise<void> {
  const logger = new Logger(() => (level, message) => {
    if (level !== "debug") process.stderr.write(`${message}\n`);
    if (/: Finished \(/.test(message)) onMigrated();
  });
  await watch(await settingsFor(adminUrl, logger));
}

/**
 * Refuses a database whose migrations are behind those of this code.
 *
 * @throws {DatabaseError} naming the command that brings it up
 */
export async function requireMigrated(client: pg.ClientBase): Promise<void> {
  const wanted = (await readdir(new URL("db/committed/", root)).catch(() => [])).filter((name) => /^\d+/.test(name));
  const { rows: known } = await client.query("select to_regnamespace('api_unstable') is not null as there");
  if (!known[0].there) {
    throw new DatabaseError("This database has not been set up. Run `DATABASE_URL=<admin's URL> npm run db:setup` first.");
  }
  const { rows } = await client.query<{ seen: number }>("select api_meta.migration_count() as seen");
  if (rows[0]!.seen < wanted.length) {
    throw new DatabaseError(
      `This database has ${rows[0]!.seen} of ${wanted.length} migrations. Run \`DATABASE_URL=<admin's URL> npm run db:setup\` first.`,
    );
  }
}
