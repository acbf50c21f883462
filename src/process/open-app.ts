import type { Pool } from "pg";
import { createSessionCheck } from "../auth/session-token.ts";
import { BulkStorage } from "../bulk/storage.ts";
import { untilIdle } from "../postgres/pool.ts";
import { Admission } from "../http/admission.ts";
import { createApp } from "../http/app.ts";
import type { Parts } from "../http/parts.ts";
import { Spending } from "../http/middleware/limits/spend-points.ts";
import { UnreadResponses } from "../http/middleware/limits/unread-answers.ts";
import type { Availability } from "../versions/availability.ts";
import { payloadReader } from "../webhooks/payload.ts";
import type { ReadPayload } from "../webhooks/payload.ts";
import { openParts } from "./open-parts.ts";
import type { AppOptions } from "./open-parts.ts";

/** The service for one merchant: its HTTP side, and the parts that background work uses. */
export type App = Awaited<ReturnType<typeof openApp>>;

/**
 * Opens the service for one merchant.
 *
 * @throws {UserError} when no version of the API can be built from the database
 */
export async function openApp(options: AppOptions) {
  await using opened = new AsyncDisposableStack();
  const parts = await openParts(options, opened);
  const { readerOf, spend, locales, replicas, availability } = parts;
  const { maxQueryCost: maxCost, queryTimeoutMs: timeoutMs } = options.settings.webhookLimits;
  const listener = createApp(createRequestParts(options, parts));
  const closing = opened.move();
  return {
    ...parts,
    /** Handles requests: `http.createServer(app.listener)`. */
    listener,
    /**
     * Returns a function that reads the payloads of webhooks.
     *
     * @param pool connections for this alone, with the role for operations
     */
    payloadReader(pool: Pool): ReadPayload {
      const withPgClient = parts.createWithClients(pool);
      return payloadReader({
        readerOf,
        spend,
        withPgClient,
        connections: pool.options.max,
        maxCost,
        timeoutMs,
      });
    },
    /**
     * Rebuilds the GraphQL schemas that differ from the database, for example after a migration.
     *
     * @returns the names of the rebuilt versions
     */
    async reload(): Promise<string[]> {
      await Promise.all([untilIdle(options.apiPool), locales.refresh()]);
      try {
        return await availability.reload();
      } finally {
        // A read may now need something that a replica lacks
        await replicas?.requireCurrentData();
      }
    },
    /** Rebuilds `unstable` alone, before a migration is committed: see `Availability.prepare`. */
    prepare: (read: Parameters<Availability["prepare"]>[0]) =>
      untilIdle(options.apiPool).then(() => availability.prepare(read)),
    /** Closes what the app opened: not the pools, not the HTTP server. */
    close: () => closing.disposeAsync(),
  };
}

/** Returns the parts that middlewares use. */
function createRequestParts(
  { tracing = null }: AppOptions,
  parts: Awaited<ReturnType<typeof openParts>>,
): Parts {
  const { settings, pool, shared, meter, served, versions, now, headReader, spend } = parts;
  const { turns, renderer } = shared;
  const { explorer, bulkLimits: limits } = settings;
  return {
    ...parts,
    tracing,
    turns,
    thread: shared.schemaWork(meter.used),
    renderer,
    documentation: (path) => shared.documentation.page({ served, versions, pool, now, explorer }, path),
    isSessionToken: createSessionCheck(pool),
    spending: new Spending(parts.rates, meter, turns),
    unread: new UnreadResponses(),
    admission: new Admission(parts.merchantPlan, parts.credentials, headReader),
    bulk: { storage: new BulkStorage(pool), limits, schema: () => headReader().schema, spend },
  };
}
