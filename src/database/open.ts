import type { Logger } from "pino";
import type { Settings } from "../settings.ts";
import { withClient } from "./client.ts";
import { runningClusterUrl, startCluster } from "./cluster.ts";
import { requireSameMigrations } from "./migration-history.ts";
import { hasCurrentMigration, migrateDatabase, runCurrentMigration } from "./migrations.ts";
import type { LockPatience } from "./retry-locked.ts";
import { checkDatabase, requireVersion } from "./requirements.ts";
import { asOwner, setUpRoles } from "./roles.ts";
import { waitingFor } from "./wait.ts";
import { installWorkerSchema } from "./worker-schema.ts";

const databaseName = "erp";

/** A database that the service can be built on. */
export interface OpenDatabase {
  /** Where requests are served. */
  url: string;
  /** The database as superuser; null when it isn't the service's own. */
  adminUrl: string | null;
  /** What the operator should hear about. */
  warnings: string[];
  /** Starts a Postgres of the service's own again when it ends; rejected, with a UserError, when that fails. */
  keepRunning?(logger: Logger): Promise<never>;
  close(): Promise<void>;
}

/**
 * The database of the settings: an existing one, checked; or the service's own, started, made and migrated.
 *
 * @param onProgress told what is being done, when it takes a while
 * @throws {UserError} when it can't be used
 */
export async function openDatabase(
  settings: Settings,
  onProgress: (step: string) => void = () => {},
): Promise<OpenDatabase> {
  if (settings.databaseUrl !== undefined) {
    const url = settings.databaseUrl;
    const wait = { url, waitMs: settings.databaseWaitMs, onWaiting: onProgress };
    const warnings = await waitingFor(wait, () => checkDatabase(url, settings));
    return { url, adminUrl: null, warnings, close: async () => {} };
  }
  onProgress("Starting Postgres");
  const cluster = await startCluster({ directory: settings.dataDirectory });
  try {
    await makeDatabase(cluster.adminUrl("postgres"));
    const adminUrl = cluster.adminUrl(databaseName);
    const locks = settings.migrationLocks;
    const url = (await setUpDatabase(adminUrl, { renewPassword: true, locks, onProgress }))!;
    if (!settings.production && (await hasCurrentMigration()))
      await runCurrentMigration(adminUrl, { locks, onWait: onProgress });
    const keepRunning = (logger: Logger) => cluster.keepRunning(logger);
    return { url, adminUrl, warnings: [], keepRunning, close: () => cluster.stop() };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

export interface SetUpOptions {
  /** Whether the login role gets a new password also when it exists already. */
  renewPassword?: boolean;
  /** How long migrations wait for locks. */
  locks?: LockPatience;
  /** Told what is being done, and whom a migration waits for. */
  onProgress?: (step: string) => void;
}

/**
 * Makes roles and grants in a database, and migrates it. Can be repeated.
 *
 * @returns the URL to serve with, when the login role has a new password; else null
 */
export async function setUpDatabase(
  adminUrl: string,
  { renewPassword = false, locks, onProgress = () => {} }: SetUpOptions,
): Promise<string | null> {
  await withClient(adminUrl, async (client) => {
    await requireVersion(client);
    await requireSameMigrations(client);
  });
  onProgress("Setting up roles");
  const url = await setUpRoles(adminUrl, { renewPassword });
  onProgress("Migrating");
  await migrateDatabase(adminUrl, { ...(locks && { locks }), onWait: onProgress });
  await installWorkerSchema(adminUrl);
  return url;
}

/** A database that a command works on. */
export interface CommandDatabase {
  url: string;
  close(): Promise<void>;
}

/** A connection as the owner, for commands, see {@link openAsAdmin}. */
export async function openForCommand(settings: Settings): Promise<CommandDatabase> {
  const { url, close } = await openAsAdmin(settings);
  return { url: asOwner(url), close };
}

/**
 * A connection as administrator: to DATABASE_URL, to the running service's own Postgres, or to that Postgres started for
 * as long as the command runs.
 */
export async function openAsAdmin(settings: Settings): Promise<CommandDatabase> {
  const running = settings.databaseUrl ?? (await runningClusterUrl(settings.dataDirectory, databaseName));
  if (running) return { url: running, close: async () => {} };
  const { adminUrl, close } = await openDatabase(settings);
  return { url: adminUrl!, close };
}

function makeDatabase(url: string): Promise<void> {
  return withClient(url, async (client) => {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [databaseName]);
    if (rowCount === 0) await client.query(`create database ${databaseName}`);
  });
}
