import type { RequestListener } from "node:http";
import type { Pool } from "pg";
import type { Spend } from "../auth/rate-limits/spend.ts";
import { sessionCheck } from "../auth/session-token.ts";
import type { UsedByOthers } from "../bulk/bulk-operation.ts";
import { BulkStorage } from "../bulk/storage.ts";
import { untilIdle } from "../postgres/pool.ts";
import { Documentation } from "../documentation/documentation.ts";
import { Admission } from "../http/admission.ts";
import { createApp } from "../http/app.ts";
import type { Metrics } from "../http/metrics.ts";
import { Spending } from "../http/middleware/limits/spend-points.ts";
import { UnreadAnswers } from "../http/middleware/limits/unread-answers.ts";
import type { Readiness } from "../lib/readiness.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { Availability } from "../versions/availability.ts";
import type { Reader } from "../versions/reader.ts";
import { payloadReader } from "../webhooks/payload.ts";
import type { ReadPayload } from "../webhooks/payload.ts";
import { openParts } from "./open-parts.ts";
import type { AppOptions } from "./open-parts.ts";

/** The service for one merchant: its HTTP side, and what background work needs of it. */
export interface App {
  /** The metrics of the app. */
  metrics: Metrics;
  /** Whether the app can work. Parts that may fail add a check. */
  readiness: Readiness;
  /** Looks whether rights have changed. */
  look: () => Promise<void>;
  /** Writes the counts of use that wait for it. */
  writeCounts: () => Promise<void>;
  /** Decrypts secrets from the database. */
  secrets: Secrets;
  /** Runs the service's own queries in the head. @throws SERVICE_UNAVAILABLE when it isn't served */
  headReader: () => Reader;
  /** Takes points for work without a request. */
  spend: Spend;
  usedByOthers: UsedByOthers;
  /** Answers requests: `http.createServer(app.listener)`. */
  listener: RequestListener;
  /**
   * Makes a reader for the data of webhooks.
   *
   * @param pool connections for this only, like those for operations
   */
  payloadReader(pool: Pool): ReadPayload;
  /**
   * Builds every version's GraphQL schema anew that the database has another for, as after a migration.
   *
   * @returns the names of these versions
   */
  reload(): Promise<string[]>;
  /** The same for the head alone, before a migration is committed: see `Availability.prepare`. */
  prepare: Availability["prepare"];
  /** Ends what the app opened: not the pool, not the HTTP server. */
  close(): Promise<void>;
}

/**
 * Opens the service for one merchant.
 *
 * @throws {UserError} when no version of the API can be built from the database
 */
export async function openApp(options: AppOptions): Promise<App> {
  await using opened = new AsyncDisposableStack();
  const app = appOf(options, await openParts(options, opened));
  const closing = opened.move();
  return { ...app, close: () => closing.disposeAsync() };
}

/** The service, of its parts. */
function appOf(
  { apiPool, tracing = null }: AppOptions,
  parts: Awaited<ReturnType<typeof openParts>>,
): Omit<App, "close"> {
  const { settings, pool, shared, meter, served, availability, headReader, readerOf, spend, usage } = parts;
  const spending = new Spending(parts.rates, meter, shared.turns);
  const documented = { served, versions: parts.versions, pool, now: parts.now, explorer: settings.explorer };
  const listener = createApp({
    ...parts,
    tracing,
    turns: shared.turns,
    thread: shared.schemaWork(meter.used),
    renderer: shared.renderer,
    documentation: new Documentation(documented, shared.documentation),
    isSessionToken: sessionCheck(pool),
    spending,
    unread: new UnreadAnswers(),
    admission: new Admission(parts.merchantPlan, parts.credentials, headReader),
    bulk: {
      storage: new BulkStorage(pool),
      limits: settings.bulkLimits,
      schema: () => headReader().schema,
      spend,
    },
  });
  return {
    metrics: parts.metrics,
    readiness: parts.readiness,
    secrets: parts.secrets,
    headReader,
    spend,
    listener,
    look: () => parts.rights.look(),
    writeCounts: () => usage.flush(),
    usedByOthers: usage.usedByOthers,
    payloadReader: (payloadPool) =>
      payloadReader({
        readerOf,
        spend,
        withPgClient: parts.withClientsOf(payloadPool),
        connections: payloadPool.options.max,
        maxCost: settings.webhookLimits.maxQueryCost,
        timeoutMs: settings.webhookLimits.queryTimeoutMs,
      }),
    async reload() {
      await Promise.all([untilIdle(apiPool), parts.locales.refresh()]);
      // Reads may need what a replica lacks then
      return availability.reload().finally(() => parts.replicas?.requirePresent());
    },
    prepare: (read) => untilIdle(apiPool).then(() => availability.prepare(read)),
  };
}
