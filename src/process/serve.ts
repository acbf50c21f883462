import type { Logger } from "pino";
import { startBulk } from "../bulk/bulk-work.ts";
import { watchBacklog } from "../http/backlog-metrics.ts";
import { backlogReader } from "../jobs/backlog.ts";
import { createCanceller } from "../postgres/cancel.ts";
import { createPool } from "../postgres/pool.ts";
import { Positions } from "../replicas/positions.ts";
import type { PositionsFile } from "../replicas/positions.ts";
import type { ReplicasOptions } from "../replicas/replicas.ts";
import { retentionSettings } from "../jobs/retention-periods.ts";
import { toApiLoginUrl } from "../postgres/roles.ts";
import { PoolWarmer, getWarmCount } from "../postgres/warm-pool.ts";
import { makeCrontab } from "../jobs/crontab.ts";
import { startJobs } from "../jobs/job-runner.ts";
import { tasksAtStart } from "../jobs/tasks.ts";
import { settlesWithin } from "../lib/within.ts";
import { openTracing } from "../tracing/open-tracing.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { createBulkOptions, createTasks, startSending } from "./background-work.ts";
import type { BackgroundService } from "./background-work.ts";
import { closingMs, listen } from "./listen.ts";
import type { Serving } from "./listen.ts";
import { openApp } from "./open-app.ts";
import type { App } from "./open-app.ts";
import type { Settings } from "./settings.ts";

/** Most connections of a process for tokens, documents and the administration. They stay open. */
const servicePoolSize = 4;

/** A running process that serves one database. */
export interface ServingApp extends Serving {
  app: App;
}

/** A database that is set up and reachable. */
export interface ReadyDatabase {
  /** Its URL, with the login role of the service. */
  databaseUrl: string;
  /** Its URL, with the login role for clients' operations. */
  apiUrl: string;
}

export interface ServeOptions extends ReadyDatabase {
  settings: Settings;
  logger: Logger;
  /** Whether this process does background work and sends webhooks. */
  isBackground: boolean;
  /** The file in which worker processes share the positions of clients' writes; null for a single process. */
  positions?: PositionsFile | null;
}

/**
 * Serves a database that is ready.
 *
 * @throws {UserError} when the port is taken
 */
export async function serve(options: ServeOptions): Promise<ServingApp> {
  const { databaseUrl, apiUrl, settings, logger, isBackground } = options;
  const closing = new AsyncDisposableStack();
  const session = { timeoutsMs: settings.timeoutsMs, prepare: settings.preparedStatements };
  const pool = createPool(databaseUrl, { max: servicePoolSize, min: servicePoolSize, ...session });
  const apiPool = createPool(apiUrl, {
    max: settings.databasePoolSize,
    min: getWarmCount(settings.databasePoolSize),
    settings: retentionSettings(settings.keep),
    ...session,
  });
  const cancellers = [pool, apiPool].map(createCanceller);
  const limiterPool = settings.sharedRates ? createPool(databaseUrl, { max: 2, ...session }) : null;
  let tracing: Tracing | null = null;
  closing.defer(async () => {
    await Promise.all([pool.end(), apiPool.end(), limiterPool?.end(), tracing?.close()]);
  });
  try {
    tracing = await openTracing(settings.traces, logger);
    const replicas = createReplicasOptions(options);
    const appSettings = { ...settings, hosts: [settings.host] };
    const app = await openApp({
      settings: appSettings,
      pool,
      apiPool,
      limiterPool,
      logger,
      replicas,
      tracing,
    });
    closing.defer(() => app.close());
    const { listener, readiness, metrics } = app;
    const begin = () => {
      const warmer = new PoolWarmer(apiPool, logger);
      closing.defer(() => warmer.close());
      if (!isBackground) return [];
      watchBacklog(metrics.registry, backlogReader(pool));
      return startBackground({ app, databaseUrl, apiUrl, settings, logger, tracing });
    };
    const serving = await listen({
      settings,
      logger,
      listener,
      readiness,
      figures: metrics.registry,
      begin,
      cancelStatements: () => cancellers.forEach((cancel) => cancel()),
      closing,
    });
    return { ...serving, app, takeOver: (column) => replicas?.positions.takeOver(column) };
  } catch (error) {
    await settlesWithin(closingMs, closing.disposeAsync());
    throw error;
  }
}

/** Returns the options of the standbys that answer reads; null without standbys. */
function createReplicasOptions({ settings, positions = null }: ServeOptions): ReplicasOptions | null {
  const { readDatabaseUrls: urls, readMaxLagMs: maxLagMs, databasePoolSize: max } = settings;
  if (urls === undefined) return null;
  const { timeoutsMs, preparedStatements: prepare } = settings;
  return {
    // As for the primary, a URL with another role stays unchanged
    urls: urls.map((url) => toApiLoginUrl(url) ?? url),
    pool: { max, timeoutsMs, prepare },
    maxLagMs,
    positions: new Positions(positions),
  };
}

/** Starts jobs, bulk operations and webhooks, according to the settings. */
function startBackground(service: BackgroundService): { stop(): Promise<void> }[] {
  const { app, databaseUrl: url, settings, logger } = service;
  const started: { stop(): Promise<void> }[] = [];
  if (settings.jobConcurrency > 0)
    started.push(
      startJobs({
        url,
        concurrency: settings.jobConcurrency,
        session: retentionSettings(settings.keep),
        logger,
        tasks: createTasks(settings, app.metrics.countPruned),
        crontab: makeCrontab(settings),
        atStart: tasksAtStart,
      }),
    );
  if (settings.bulkConcurrency > 0)
    started.push(startBulk(createBulkOptions(service, settings.bulkConcurrency)));
  if (settings.webhookConcurrency > 0) {
    const { webhooks, payloadPool } = startSending(service, settings.webhookConcurrency);
    app.metrics.addPool("webhook payloads", payloadPool);
    started.push({ stop: () => webhooks.stop().then(() => payloadPool.end()) });
  }
  return started;
}
