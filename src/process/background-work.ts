import type { TaskList } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { BulkOptions } from "../bulk/bulk-work.ts";
import type { Allotment } from "../postgres/allotment.ts";
import { createPool } from "../postgres/pool.ts";
import { retentionSettings } from "../jobs/retention-periods.ts";
import type { ImportOptions } from "../jobs/exchange-rates/import-rates.ts";
import { makeTasks } from "../jobs/tasks.ts";
import type { OnPruned } from "../jobs/tasks.ts";
import { makeLabelsTask } from "../labels/make-labels.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { AllowList } from "../webhooks/addresses.ts";
import type { Sender } from "../webhooks/sender.ts";
import { startWebhooks } from "../webhooks/start-webhooks.ts";
import type { WebhookOptions } from "../webhooks/start-webhooks.ts";
import type { App } from "./open-app.ts";
import type { Settings } from "./settings.ts";

/** The service for which a process does background work. */
export interface BackgroundService {
  app: App;
  databaseUrl: string;
  apiUrl: string;
  settings: Settings;
  logger: Logger;
  tracing: Tracing | null;
  /** Opens connections where several services share a limited number. */
  allotment?: Allotment;
}

/** Returns the tasks of background work by name, with those that call other services. Parameters are as of `makeTasks`. */
export function createTasks(settings: Settings, onPruned?: OnPruned, read?: ImportOptions["read"]): TaskList {
  const { secretsKeys, carrierAllow: allow } = settings;
  return {
    ...makeTasks(settings, onPruned, read),
    make_shipping_labels: makeLabelsTask({ secrets: new Secrets(secretsKeys), allow }),
  };
}

/** Returns the options for running bulk operations. */
export function createBulkOptions(service: BackgroundService, concurrency: number): BulkOptions {
  const { app, databaseUrl, apiUrl, settings, logger, tracing, allotment } = service;
  return {
    url: databaseUrl,
    apiUrl,
    session: retentionSettings(settings.keep),
    concurrency,
    limits: settings.bulkLimits,
    reader: app.headReader,
    spend: app.spend,
    usedByOthers: app.usage.usedByOthers,
    logger,
    tracing,
    allotment,
  };
}

/** Starts sending webhooks. Close the pool for their payloads after the sender has stopped. */
export function startSending(
  service: BackgroundService,
  concurrency: WebhookOptions["concurrency"],
): { webhooks: Sender; payloadPool: Pool } {
  const { app, databaseUrl, apiUrl, settings, logger, tracing, allotment } = service;
  const { queryConnections, queryTimeoutMs } = settings.webhookLimits;
  const payloadPool = createPool(apiUrl, {
    max: queryConnections,
    timeoutsMs: { statement: queryTimeoutMs, lock: settings.timeoutsMs.lock },
    prepare: settings.preparedStatements,
    name: "webhook payloads",
    allotment,
  });
  const webhooks = startWebhooks({
    url: databaseUrl,
    concurrency,
    allowed: new AllowList(settings.webhookAllow, settings.webhookPorts),
    readPayload: app.payloadReader(payloadPool),
    secrets: app.secrets,
    logger,
    allotment,
    tracing,
    onAttempt: app.metrics.countWebhook,
  });
  return { webhooks, payloadPool };
}
