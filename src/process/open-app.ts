import type { RequestListener } from "node:http";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { Meter } from "../auth/rate-limits/meter.ts";
import { RateLimits } from "../auth/rate-limits/rate-limits.ts";
import type { Spend } from "../auth/rate-limits/spend.ts";
import { spender } from "../auth/rate-limits/spend.ts";
import { markReader } from "../auth/rights-now.ts";
import { sessionCheck } from "../auth/session-token.ts";
import type { UsedByOthers } from "../bulk/bulk-operation.ts";
import { BulkStorage } from "../bulk/storage.ts";
import { databaseCheck } from "./database-readiness.ts";
import type { ReplicasOptions } from "../replicas/replicas.ts";
import { untilIdle } from "../postgres/pool.ts";
import { Admission } from "../http/admission.ts";
import { createApp } from "../http/app.ts";
import { Metrics } from "../http/metrics.ts";
import { Locales } from "../http/middleware/reading/negotiate-locale.ts";
import { Spending } from "../http/middleware/limits/spend-points.ts";
import { Refusals } from "../http/middleware/observing/refusals.ts";
import { UnreadAnswers } from "../http/middleware/limits/unread-answers.ts";
import { Closing } from "../lib/closing.ts";
import { Readiness } from "../lib/readiness.ts";
import { Live } from "../live/live.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Tracing } from "../tracing/tracing.ts";
import type { Availability } from "../versions/availability.ts";
import type { Reader } from "../versions/reader.ts";
import { versions as allVersions } from "../versions/versions.ts";
import { payloadReader } from "../webhooks/payload.ts";
import type { ReadPayload } from "../webhooks/payload.ts";
import type { AppSettings } from "./app-settings.ts";
import type { BuildOptions } from "./build-versions.ts";
import { changing, openAccess } from "./open-access.ts";
import type { Access } from "./open-access.ts";
import { openAuth } from "./open-auth.ts";
import { openVersions } from "./open-versions.ts";
import { alone } from "./shared.ts";
import type { Shared } from "./shared.ts";

export interface AppOptions extends Partial<Pick<BuildOptions, "firstCatalog" | "versions" | "now">> {
  settings: AppSettings;
  /**
   * Connections of service_login, see db/roles.sql: for tokens, documents, pages. They stay open when the app closes.
   */
  pool: Pool;
  /** Connections for operations, which can only become service_api. They stay open too. */
  apiPool: Pool;
  /** Standbys that answer reads. */
  replicas?: ReplicasOptions | null;
  /** Where traces go. */
  tracing?: Tracing | null;
  /** Connections of service_login for processes that share rate limits. They stay open too. */
  limiterPool?: Pool | null;
  logger: Logger;
  /** Its process; by default it is alone there. */
  shared?: Shared;
}

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
  const closing = new Closing();
  try {
    return appOf(options, await openParts(options, closing), closing);
  } catch (error) {
    await closing.close();
    throw error;
  }
}

/** Opens what middlewares and background work use. */
async function openParts(options: AppOptions, closing: Closing) {
  const { settings, pool, logger, limiterPool = null } = options;
  const { now = Date.now, versions = allVersions, firstCatalog } = options;
  const secrets = new Secrets(settings.secretsKeys);
  const { shared = alone({ settings, versions, now, secrets, logger, firstCatalog }, closing) } = options;
  const rates = new RateLimits(limiterPool, logger);
  closing.add(() => rates.close());
  const meter = new Meter(rates);
  const readiness = new Readiness(logger);
  const own = { settings, pool, logger, now, secrets, readiness, closing, shared };
  const access = openAccess(own, { ...options, onUsed: meter.used });
  const readMark = markReader(pool, access.readRows, shared.onState);
  const auth = await openAuth(own, readMark);
  const limitsNow = async () => (await auth.merchantPlan.of("current")).limits;
  const built = await openVersions(own, access, limitsNow);
  const locales = new Locales(pool, logger);
  if (!shared.firstRights) await locales.refresh();
  const { readerOf } = built;
  const { listen } = shared;
  const streamSpend = spender(rates, limitsNow, meter);
  const live = new Live({ pool, logger, readerOf, rights: auth.rights, listen, spend: streamSpend });
  closing.add(() => live.close());
  const metrics = metricsOf(options, access, live.streams);
  shared.labelFigures(metrics.registry);
  const refusals = new Refusals(metrics.registry, logger);
  closing.add(() => refusals.close());
  watch(readiness, pool, built.availability, closing);
  const spend = spender(rates, limitsNow);
  const figures = { metrics, refusals };
  return { ...own, ...access, ...auth, ...built, ...figures, versions, rates, meter, locales, live, spend };
}

type OpenParts = Awaited<ReturnType<typeof openParts>>;

/** The service, of its parts. */
function appOf({ apiPool, tracing = null }: AppOptions, parts: OpenParts, closing: Closing): App {
  const { settings, pool, shared, meter, served, availability, headReader, readerOf, spend, usage } = parts;
  const spending = new Spending(parts.rates, meter, shared.turns);
  const documented = { served, versions: parts.versions, pool, now: parts.now, explorer: settings.explorer };
  const listener = createApp({
    ...parts,
    tracing,
    turns: shared.turns,
    thread: shared.schemaWork(meter.used),
    renderer: shared.renderer,
    documentation: (path) => shared.documentation.page(documented, path),
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
      return changing(parts, availability.reload());
    },
    prepare: (read) => untilIdle(apiPool).then(() => availability.prepare(read)),
    close: () => closing.close(),
  };
}

/** The figures of the app. */
function metricsOf(
  { pool, apiPool }: AppOptions,
  { turns, replicas }: Access,
  streams: Live["streams"],
): Metrics {
  const metrics = new Metrics(streams, replicas);
  metrics.watchPool("service", pool);
  metrics.watchPool("operations", apiPool, () => turns?.waits.waiting ?? 0);
  if (turns) metrics.watchWaits("connection", turns);
  return metrics;
}

/** Checks what may fail. */
function watch(readiness: Readiness, pool: Pool, availability: Availability, closing: Closing): void {
  const database = databaseCheck(pool);
  closing.add(() => database.close());
  readiness.add("database", database.check);
  readiness.add("versions", () => availability.obstacle());
}
