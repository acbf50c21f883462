import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { createApp } from "../app.ts";
import type { App } from "../app.ts";
import { createPool } from "../database/pool.ts";
import { boundedServer } from "../http/bounded-server.ts";
import type { Figures } from "../metrics/serve-metrics.ts";
import type { Settings } from "../settings.ts";
import { UserError } from "../user-error.ts";
import { AllowList } from "../webhooks/addresses.ts";
import { startWebhooks } from "../webhooks/start.ts";
import { crontabOf } from "../worker/crontab.ts";
import { startWorker } from "../worker/start.ts";
import { tasksAtStart, tasksOf } from "../worker/tasks.ts";

/** What one process does: it answers requests, and as a rule does background work and sends webhooks. */
export interface Serving {
  app: App;
  /** What it counts about itself. */
  figures: Figures;
  /** Where it listens. */
  port: number;
  /** Lets requests end, then stops. */
  stop(): Promise<void>;
}

export interface ServeOptions {
  /** The database, as the role that the service logs in with. */
  databaseUrl: string;
  settings: Settings;
  logger: Logger;
  /** Whether this process does background work too, and sends webhooks. */
  isBackground: boolean;
}

/**
 * Serves from a database that is ready.
 *
 * @throws {UserError} when the port is taken
 */
export async function serve({ databaseUrl, settings, logger, isBackground }: ServeOptions): Promise<Serving> {
  const pool = createPool(databaseUrl, {
    max: settings.databasePoolSize,
    timeouts: settings.timeouts,
    prepare: settings.preparedStatements,
  });
  const limiterPool = settings.sharedRates
    ? createPool(databaseUrl, { max: 2, role: "service_limiter" })
    : null;
  const closing: (() => Promise<unknown>)[] = [() => pool.end(), async () => limiterPool?.end()];
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    const app = await createApp({ settings, pool, limiterPool, logger });
    closing.push(() => app.close());
    const server = boundedServer(app.listener, settings.maxConnections);
    await listen(server, settings);
    closing.push(() => closeServer(server));
    if (isBackground && settings.workerConcurrency > 0) {
      const worker = startWorker({
        url: databaseUrl,
        concurrency: settings.workerConcurrency,
        logger,
        tasks: tasksOf(settings),
        crontab: crontabOf(settings),
        atStart: tasksAtStart,
      });
      closing.push(() => worker.stop());
    }
    if (isBackground && settings.webhookConcurrency > 0) {
      const { queryConnections, queryTimeoutMs } = settings.webhookLimits;
      const payloadPool = createPool(databaseUrl, {
        max: queryConnections,
        timeouts: { statement: queryTimeoutMs, lock: settings.timeouts.lock },
        prepare: settings.preparedStatements,
        name: "webhook payloads",
      });
      closing.push(() => payloadPool.end());
      const webhooks = startWebhooks({
        url: databaseUrl,
        concurrency: settings.webhookConcurrency,
        allowed: new AllowList(settings.webhookAllow),
        readPayload: app.payloadReader(payloadPool),
        onAttempt: app.metrics.countWebhook,
        logger,
      });
      closing.push(() => webhooks.stop());
    }
    return { app, figures: app.metrics.registry, port: (server.address() as AddressInfo).port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function listen(server: Server, { host, port }: Settings): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === "EADDRINUSE" ? "another program uses it. Set PORT to another one" : message;
    throw new UserError(`Can't listen on ${host}:${port}: ${reason}.`, { cause });
  }
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  const patience = setTimeout(() => server.closeAllConnections(), 3_000);
  await closed;
  clearTimeout(patience);
}
