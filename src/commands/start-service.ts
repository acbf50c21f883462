import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import type { Logger } from "pino";
import type { App } from "../process/open-app.ts";
import { withClient } from "../postgres/client.ts";
import type { Identity } from "../cluster/postgres-user.ts";
import { openDatabase } from "../migrations/open-database.ts";
import type { DatabaseSettings, OpenDatabase } from "../migrations/open-database.ts";
import { urlAsOwner } from "../postgres/roles.ts";
import { waitingFor } from "../postgres/wait.ts";
import { requireFreePort } from "../http/free-port.ts";
import { explorerPathOf } from "../versions/explorer-page.ts";
import { Closing } from "../lib/closing.ts";
import { serveMetrics } from "../process/serve-metrics.ts";
import type { Figures } from "../process/serve-metrics.ts";
import type { Serving } from "../process/serve.ts";
import type { WorkerProcesses } from "../process/worker-processes.ts";
import type { Settings } from "../process/settings.ts";
import { become, successorOfRoot } from "../process/leave-root.ts";
import { isServed } from "../versions/lifetime.ts";
import { pathOf, versions } from "../versions/versions.ts";
import { fillDemo } from "./demo.ts";
import { makeFirstSecrets, makeSecretsFile, showFirstSecrets } from "./first-secrets.ts";
import { say } from "./terminal.ts";

/** The running service: everything that `npm start` starts. */
export interface RunningService {
  address: string;
  /** The address of this process; null when other processes serve. */
  app: App | null;
  database: OpenDatabase;
  /** Rejected, with a UserError, when the service can't continue. */
  failed: Promise<never> | undefined;
  /** Replaces the serving processes by new ones; undefined when this process serves. */
  replaceProcesses: (() => Promise<void>) | undefined;
  /**
   * Answers running requests, then stops everything, the database last.
   *
   * @param delayMs milliseconds for which it continues first, while its readiness reports the stop
   */
  stop(delayMs?: number): Promise<void>;
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
    const { requireHarmlessPending } = await import("../check/pending.ts");
    await requireHarmlessPending(url, { onNote: onProgress });
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
  const closing = new Closing();
  closing.add(() => database.close());
  try {
    stopping.throwIfAborted();
    const ownerUrl = database.adminUrl === null ? null : urlAsOwner(database.adminUrl);
    if (ownerUrl !== null && database.wantsDemo) {
      await fillFirst(ownerUrl, onProgress);
      await database.demoIsMade();
    }
    const { identity, warning } = await successorOfRoot(settings.runAs, database.runBy);
    if (warning !== null) say(`Warning: ${warning}`);
    const serving = await startServing(settings, { database, logger, processCount, identity, onProgress });
    closing.add(() => serving.stop());
    if (settings.metricsPort !== undefined) {
      const { host, metricsPort: port } = settings;
      const metrics = await serveMetrics(serving.figures, { host, port });
      closing.add(() => metrics.stop());
    }
    // Another user may not write there
    const secretsFile =
      ownerUrl === null ? null : await makeSecretsFile(ownerUrl, settings.dataDirectory, identity);
    // All ports are open
    if (identity !== null) become(identity);
    stopping.throwIfAborted();
    // The last step, because the secret is shown only once: nothing may fail between making and showing it.
    const secrets = ownerUrl === null ? null : await makeFirstSecrets(ownerUrl);
    const address = settings.publicUrl ?? `http://${settings.host}:${serving.port}`;
    announce(address, settings);
    if (secrets) await showFirstSecrets(secrets, address, secretsFile);
    return {
      ...{ address, app: serving.app ?? null, database },
      failed: database.keepRunning?.(logger),
      replaceProcesses: serving.replace,
      async stop(delayMs = 0) {
        serving.announceStop();
        await sleep(delayMs);
        await closing.close();
      },
    };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

interface ServingOptions {
  database: OpenDatabase;
  logger: Logger;
  processCount: number;
  /** The user of the other processes. */
  identity: Identity | null;
  onProgress: (step: string) => void;
}

/** The server of requests: this process, or several others. */
type Answering = Pick<Serving, "port" | "announceStop" | "stop"> & { figures: Figures } & Partial<
    Pick<Serving, "app"> & Pick<WorkerProcesses, "replace">
  >;

async function startServing(
  settings: Settings,
  { database, logger, processCount, identity, onProgress }: ServingOptions,
): Promise<Answering> {
  const urls = { databaseUrl: database.url, apiUrl: database.apiUrl };
  // Loaded when the database is there, and only in processes that serve
  if (processCount === 1) {
    const { serve } = await import("../process/serve.ts");
    const wait = {
      ...{ url: database.url, waitMs: settings.databaseWaitMs, onWaiting: onProgress },
      // It builds the API
      isLong: true,
    };
    // It may have stopped since it was checked
    return waitingFor(wait, () => serve({ ...urls, settings, logger, isBackground: true }));
  }
  const { startWorkerProcesses } = await import("../process/worker-processes.ts");
  // Several processes together must not allow more than the limits
  const shared = { ...settings, sharedRates: true };
  return startWorkerProcesses({ urls, settings: shared, logger, count: processCount, identity });
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
