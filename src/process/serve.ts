import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { canceller } from "../postgres/cancel.ts";
import { startBulk } from "../bulk/start.ts";
import { backlogReader } from "../jobs/backlog.ts";
import { createPool } from "../postgres/pool.ts";
import { keepSettings } from "../jobs/retention-periods.ts";
import { Positions } from "../replicas/positions.ts";
import type { PositionsFile } from "../replicas/positions.ts";
import type { ReplicasOptions } from "../replicas/replicas.ts";
import { asApiLogin } from "../postgres/roles.ts";
import { PoolWarmer, warmCount } from "../postgres/warm-pool.ts";
import { defaultStopMs } from "./default-stop.ts";
import { openApp } from "./open-app.ts";
import { boundedByFiles } from "./open-files.ts";
import type { App } from "./open-app.ts";
import type { Settings } from "./settings.ts";
import { AllowList } from "../webhooks/addresses.ts";
import { startWebhooks } from "../webhooks/start.ts";
import { crontabOf } from "../jobs/crontab.ts";
import { startJobs } from "../jobs/start.ts";
import { tasksAtStart, tasksOf } from "../jobs/tasks.ts";
import { within } from "../lib/within.ts";
import { openTracing } from "../tracing/open.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { HttpServer } from "../http/http-server.ts";

/** Part of that time for closing the connections to Postgres after all requests have been answered. */
const closingMs = 1_500;

/** Most connections of a process for tokens, documents and the administration. Opened ones stay open. */
const servicePoolSize = 4;

/** The work of one process: it answers requests and, by default, does background work and sends webhooks. */
export interface Serving {
  app: App;
  /** Its metrics. */
  figures: Registry;
  /** The address on which it listens. */
  port: number;
  /** Makes the readiness report that this process is about to stop. It continues to serve. */
  announceStop(): void;
  /** Takes over what an ended process has left in its column of the file of positions. */
  takeOver(column: number): void;
  /**
   * Answers running requests, then stops. Work that takes too long is cancelled.
   *
   * @param withinMs milliseconds for all of it
   */
  stop(withinMs?: number): Promise<void>;
}

export interface ServeOptions {
  /** URL of the database, with the role that the service logs in as. */
  databaseUrl: string;
  /** The same with the role for clients' operations. */
  apiUrl: string;
  settings: Settings;
  logger: Logger;
  /** Whether this process does background work and sends webhooks. */
  isBackground: boolean;
  /** Where this process and others beside it keep what clients have written; null for one alone. */
  positions?: PositionsFile | null;
}

/**
 * Serves from a database that is ready.
 *
 * @throws {UserError} when the port is taken
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { databaseUrl, apiUrl, settings, logger, isBackground } = options;
  const session = { timeoutsMs: settings.timeoutsMs, prepare: settings.preparedStatements };
  const pool = createPool(databaseUrl, { max: servicePoolSize, min: servicePoolSize, ...session });
  const apiPool = createPool(apiUrl, {
    ...{ max: settings.databasePoolSize, min: warmCount(settings.databasePoolSize) },
    ...{ ...session, settings: keepSettings(settings.keep) },
  });
  const cancellers = [pool, apiPool].map(canceller);
  const cancelStatements = () => cancellers.forEach((cancel) => cancel());
  const limiterPool = settings.sharedRates ? createPool(databaseUrl, { max: 2, ...session }) : null;
  const background: { stop(): Promise<void> }[] = [];
  let app: App | undefined;
  let tracing: Tracing | null = null;
  let server: HttpServer | undefined;
  let warmer: PoolWarmer | undefined;
  let isStopping = false;

  const stop = async (withinMs = defaultStopMs) => {
    const deadline = performance.now() + withinMs;
    isStopping = true;
    await Promise.all([
      server?.stop(deadline - closingMs, cancelStatements),
      ...background.map((work) => within(withinMs - closingMs, work.stop())),
    ]);
    // A silent database could delay these
    const close = async () => {
      await warmer?.close();
      await app?.close();
      await Promise.all([pool.end(), apiPool.end(), limiterPool?.end(), tracing?.close()]);
    };
    await within(Math.max(0, deadline - performance.now()), close());
  };
  try {
    tracing = await openTracing(settings.traces, logger);
    const replicas = replicasOf(options);
    const ofApp = { ...settings, hosts: [settings.host] };
    app = await openApp({ settings: ofApp, pool, apiPool, limiterPool, logger, replicas, tracing });
    const { metrics, readiness } = app;
    readiness.add("process", () => (isStopping ? stopping : null));
    const listening = new HttpServer(await boundedByFiles(app.listener, settings, logger));
    await listening.listen(settings);
    server = listening;
    warmer = new PoolWarmer(apiPool, logger);
    if (isBackground) {
      metrics.watchBacklog(backlogReader(pool));
      background.push(...startBackground(app, options, tracing));
    }
    const announceStop = () => void (isStopping = true);
    const takeOver = (column: number) => replicas?.positions.takeOver(column);
    return { app, figures: metrics.registry, port: listening.port, announceStop, takeOver, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The standbys that answer reads; null without any. */
function replicasOf({ settings, positions = null }: ServeOptions): ReplicasOptions | null {
  const { readDatabaseUrls: urls, readMaxLagMs: maxLagMs, databasePoolSize: max } = settings;
  if (urls === undefined) return null;
  const { timeoutsMs, preparedStatements: prepare } = settings;
  return {
    // As for the primary, a URL with another role is taken as it is
    urls: urls.map((url) => asApiLogin(url) ?? url),
    pool: { max, timeoutsMs, prepare },
    ...{ maxLagMs, positions: new Positions(positions) },
  };
}

/** Begins background work and bulk operations, and sends webhooks, according to the settings. */
function startBackground(
  { metrics, payloadReader, secrets, headReader, spend, usedByOthers }: App,
  { databaseUrl, apiUrl, settings, logger }: Omit<ServeOptions, "isBackground">,
  tracing: Tracing | null,
): { stop(): Promise<void> }[] {
  const started: { stop(): Promise<void> }[] = [];
  const session = keepSettings(settings.keep);
  if (settings.jobConcurrency > 0) {
    started.push(
      startJobs({
        url: databaseUrl,
        concurrency: settings.jobConcurrency,
        ...{ session, logger },
        tasks: tasksOf(settings, metrics.countPruned),
        crontab: crontabOf(settings),
        atStart: tasksAtStart,
      }),
    );
  }
  if (settings.bulkConcurrency > 0) {
    started.push(
      startBulk({
        url: databaseUrl,
        concurrency: settings.bulkConcurrency,
        ...{ apiUrl, limits: settings.bulkLimits, reader: headReader, spend, usedByOthers },
        ...{ session, logger, tracing },
      }),
    );
  }
  if (settings.webhookConcurrency > 0) {
    const { queryConnections, queryTimeoutMs } = settings.webhookLimits;
    const payloadPool = createPool(apiUrl, {
      max: queryConnections,
      timeoutsMs: { statement: queryTimeoutMs, lock: settings.timeoutsMs.lock },
      prepare: settings.preparedStatements,
      name: "webhook payloads",
    });
    metrics.watchPool("webhook payloads", payloadPool);
    const webhooks = startWebhooks({
      url: databaseUrl,
      concurrency: settings.webhookConcurrency,
      allowed: new AllowList(settings.webhookAllow, settings.webhookPorts),
      readPayload: payloadReader(payloadPool),
      secrets,
      onAttempt: metrics.countWebhook,
      tracing,
      logger,
    });
    started.push({
      async stop() {
        await webhooks.stop();
        await payloadPool.end();
      },
    });
  }
  return started;
}

/** Why a process that is about to stop isn't ready. */
export const stopping = { code: "STOPPING", message: "This process is about to stop." };
