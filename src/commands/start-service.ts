import { pino } from "pino";
import type { App } from "../process/open-app.ts";
import { withClient } from "../postgres/client.ts";
import { openDatabase } from "../migrations/open-database.ts";
import type { DatabaseSettings, OpenDatabase } from "../migrations/open-database.ts";
import { urlAsOwner } from "../postgres/roles.ts";
import { waitForDatabase } from "../postgres/wait.ts";
import { requireFreePort } from "../http/free-port.ts";
import { explorerPathOf } from "../versions/explorer-page.ts";
import type { Settings } from "../process/settings.ts";
import { switchUser, chooseUser } from "../process/leave-root.ts";
import { isServed } from "../versions/lifetime.ts";
import { pathOf, versions } from "../versions/versions.ts";
import { fillDemo } from "./demo.ts";
import { makeFirstSecrets, makeSecretsFile, showFirstSecrets } from "./first-secrets.ts";
import { startServing } from "./start-serving.ts";
import type { StartedService } from "./start-serving.ts";
import { say } from "./terminal.ts";

/** The running service: everything that `npm start` starts. */
export interface RunningService extends StartedService {
  address: string;
  /** The app of this process; null when other processes serve. */
  app: App | null;
  database: OpenDatabase;
}

/** Opens the database when the ports are free: making the data takes long. */
async function openForService(
  settings: Settings & Pick<DatabaseSettings, "content">,
  onProgress: (step: string) => void,
): Promise<OpenDatabase> {
  await requireFreePort(settings);
  if (settings.metricsPort !== undefined)
    await requireFreePort({ host: settings.host, port: settings.metricsPort, name: "METRICS_PORT" });
  const database = await openDatabase(settings, onProgress, async (url) => {
    const { requireSafePending } = await import("../check/pending.ts");
    await requireSafePending(url, { onNote: onProgress });
  });
  for (const warning of database.warnings) say(`Warning: ${warning}`);
  return database;
}

/**
 * Starts the service: database, demonstration data and a first credential if there are none, HTTP, background work.
 *
 * @param stopping when aborted, the start ends at its next step, and stops what it has started
 * @param processCount number of processes that answer requests; with 1 it is this one
 * @throws {UserError} when the database can't be used, or the port is taken
 */
export async function startFromSettings(
  settings: Settings & Pick<DatabaseSettings, "content">,
  stopping: AbortSignal,
  processCount = 1,
): Promise<RunningService> {
  const onProgress = (step: string) => {
    stopping.throwIfAborted();
    say(step);
  };
  const logger = pino({ level: settings.logLevel });
  const database = await openForService(settings, onProgress);
  const closing = new AsyncDisposableStack();
  closing.defer(() => database.close());
  try {
    stopping.throwIfAborted();
    const ownerUrl = database.adminUrl === null ? null : urlAsOwner(database.adminUrl);
    if (ownerUrl !== null && database.wantsDemo) {
      await fillFirst(ownerUrl, onProgress);
      await database.demoIsMade();
    }
    const { identity, warning } = await chooseUser(settings.runAs, database.runBy);
    if (warning !== null) say(`Warning: ${warning}`);
    const serving = await startServing({
      options: { databaseUrl: database.url, apiUrl: database.apiUrl, settings },
      logger,
      processCount,
      identity,
      // It may have stopped since it was checked. Building the API takes long
      here: (options) =>
        waitForDatabase(
          { url: database.url, waitMs: settings.databaseWaitMs, onWaiting: onProgress, isLong: true },
          // Loaded when the database is there, and only in processes that serve
          async () => (await import("../process/serve.ts")).serve({ ...options, logger, isBackground: true }),
        ),
      program: new URL("../process/worker-process.ts", import.meta.url),
      closing,
    });
    // Another user may not write there
    const secretsFile =
      ownerUrl === null ? null : await makeSecretsFile(ownerUrl, settings.dataDirectory, identity);
    // All ports are open
    if (identity !== null) switchUser(identity);
    stopping.throwIfAborted();
    // The last step, because the secret is shown only once: nothing may fail between making and showing it.
    const secrets = ownerUrl === null ? null : await makeFirstSecrets(ownerUrl);
    const address = settings.publicUrl ?? `http://${settings.host}:${serving.port}`;
    announce(address, settings);
    if (secrets) await showFirstSecrets(secrets, address, secretsFile);
    const { here, ...running } = serving;
    return { ...running, address, app: here?.app ?? null, database, failed: database.keepRunning?.(logger) };
  } catch (error) {
    await closing.disposeAsync();
    throw error;
  }
}

/** Fills the service's own empty database with demonstration data. */
async function fillFirst(ownerUrl: string, onProgress: (step: string) => void): Promise<void> {
  const isEmpty = await withClient(ownerUrl, async (client) => {
    const { rowCount } = await client.query("select from erp.currency limit 1");
    return rowCount === 0;
  });
  if (isEmpty) await fillDemo({ connectionString: ownerUrl, scale: 1, until: new Date(), onProgress });
}

function announce(address: string, { explorer }: Settings): void {
  const first = versions.find((version) => isServed(version, versions, Date.now()))!;
  say(`\nThe API is at ${address}${pathOf(first)}`);
  if (explorer) {
    const unstable = versions.find(({ kind }) => kind === "floating")!;
    say(`An explorer is at ${address}/, that of unstable at ${address}${explorerPathOf(unstable)}`);
  }
  say(`The administration is at ${address}/admin`);
}
