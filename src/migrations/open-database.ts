import type { Logger } from "pino";
import { withClient } from "../postgres/client.ts";
import { runningClusterUrl, startCluster } from "../cluster/cluster.ts";
import { openFolder } from "../cluster/content.ts";
import type { Folder, FolderSettings } from "../cluster/content.ts";
import { requireSameMigrations } from "./migration-history.ts";
import { afterMigrations } from "./being-migrated.ts";
import { hasCurrentMigration, migrateDatabase, runCurrentMigration } from "./migrations.ts";
import type { LockRetryOptions } from "./retry-locked.ts";
import { checkDatabase, findApiLogin, requireVersion } from "./requirements.ts";
import type { PoolerUses } from "./requirements.ts";
import { revokeDefaultDatabases } from "./neighbours.ts";
import { toApiLoginUrl, requireOwner, setUpRoles } from "../postgres/roles.ts";
import type { Identity } from "../cluster/postgres-user.ts";
import { enableStatistics, statisticsModule } from "../plans/statement-statistics.ts";
import { waitForDatabase } from "../postgres/wait.ts";
import { installQueueSchema } from "./worker-schema.ts";

/** The database in the service's own Postgres. */
export const databaseName = "erp";

/** Settings of the database. The service's settings (src/process/settings.ts) include them. */
export interface DatabaseSettings extends PoolerUses, FolderSettings {
  /** An existing Postgres; without it the service runs its own. */
  databaseUrl: string | undefined;
  /** Milliseconds that a start waits for an existing Postgres that is away. */
  databaseWaitMs: number;
  /** How long migrations wait for locks, and how often they are begun. */
  migrationLocks: LockRetryOptions;
  /** The user who serves when root starts the service; `root` to stay root. */
  runAs: string | undefined;
}

/** A database that is ready for the service. */
export interface OpenDatabase extends Folder {
  /** For serving requests. */
  url: string;
  /** The same with the role for clients' operations, or `url` when that can't be used. */
  apiUrl: string;
  /** The database as superuser; null when it isn't the service's own. */
  adminUrl: string | null;
  /** The user who runs the service's own Postgres; null for the user of this process. */
  runBy: Identity | null;
  /** Warnings for the operator. */
  warnings: string[];
  /** Starts the service's own Postgres again when it dies; rejected, with a UserError, when that fails. */
  keepRunning?(logger: Logger): Promise<never>;
  close(): Promise<void>;
}

/**
 * The database of the settings: an existing one, checked; or the service's own, started, made and migrated.
 *
 * @param onProgress called with messages about slow steps
 * @param approve see {@link SetUpOptions}; for the service's own Postgres, in production
 * @throws {UserError} when it can't be used
 */
export async function openDatabase(
  settings: DatabaseSettings,
  onProgress: (step: string) => void = () => {},
  approve?: SetUpOptions["approve"],
): Promise<OpenDatabase> {
  if (settings.databaseUrl !== undefined) {
    const url = settings.databaseUrl;
    const wait = { url, waitMs: settings.databaseWaitMs, onWaiting: onProgress };
    const check = () => checkDatabase(url, settings);
    const warnings = await afterMigrations(() => waitForDatabase(wait, check), onProgress);
    const { apiUrl, warning } = await waitForDatabase(wait, () => findApiLogin(url));
    if (warning !== null) warnings.push(warning);
    const nothing = async () => {};
    const none = { adminUrl: null, runBy: null, wantsDemo: false, demoIsMade: nothing, close: nothing };
    return { url, apiUrl, warnings, ...none };
  }
  const folder = await openFolder(settings);
  onProgress("Starting Postgres");
  const cluster = await startCluster({
    directory: settings.dataDirectory,
    runAs: settings.runAs,
    flags: { shared_preload_libraries: statisticsModule },
  });
  try {
    await makeDatabase(cluster.adminUrl("postgres"));
    const adminUrl = cluster.adminUrl(databaseName);
    const locks = settings.migrationLocks;
    const url = (await setUpDatabase(adminUrl, {
      renewPassword: true,
      locks,
      onProgress,
      ...(settings.production && approve ? { approve } : {}),
    }))!;
    if (!settings.production && (await hasCurrentMigration()))
      await runCurrentMigration(adminUrl, { locks, onWait: onProgress });
    const keepRunning = (logger: Logger) => cluster.keepRunning(logger);
    return {
      ...folder,
      url,
      apiUrl: toApiLoginUrl(url)!,
      adminUrl,
      runBy: cluster.identity,
      warnings: [],
      keepRunning,
      close: () => cluster.stop(),
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

export interface SetUpOptions {
  /** Called before anything is changed; what it throws refuses the set-up. */
  approve?: (adminUrl: string) => Promise<void>;
  /** Whether the login roles get a new password even if they exist. */
  renewPassword?: boolean;
  /** How long migrations wait for locks. */
  locks?: LockRetryOptions;
  /** Called with messages: progress, and for whose locks a migration waits. */
  onProgress?: (step: string) => void;
}

/**
 * Makes roles and grants in a database, and migrates it. Can be repeated.
 *
 * @returns the URL to serve with, when the login role has a new password; else null
 */
export async function setUpDatabase(
  adminUrl: string,
  { approve, renewPassword = false, locks, onProgress = () => {} }: SetUpOptions,
): Promise<string | null> {
  await withClient(adminUrl, async (client) => {
    await requireVersion(client);
    await requireOwner(client);
    await requireSameMigrations(client);
  });
  await approve?.(adminUrl);
  onProgress("Setting up roles");
  const url = await setUpRoles(adminUrl, { renewPassword, onNote: onProgress });
  await revokeDefaultDatabases(adminUrl);
  onProgress("Migrating");
  await migrateDatabase(adminUrl, { ...(locks && { locks }), onWait: onProgress });
  await installQueueSchema(adminUrl);
  await enableStatistics(adminUrl);
  return url;
}

/**
 * A connection as administrator: to DATABASE_URL, to the running service's own Postgres, or to that Postgres started
 * for the time of the command.
 */
export async function openAsAdmin(settings: DatabaseSettings): Promise<Pick<OpenDatabase, "url" | "close">> {
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
