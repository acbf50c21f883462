import type { RequestListener } from "node:http";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { Meter } from "../auth/rate-limits/meter.ts";
import { RateLimits } from "../auth/rate-limits/rate-limits.ts";
import type { Spend } from "../auth/rate-limits/spend.ts";
import { spender } from "../auth/rate-limits/spend.ts";
import { markReader } from "../auth/rights-now.ts";
import { sessionCheck } from "../auth/session-token.ts";
import { untilIdle } from "../postgres/pool.ts";
import type { ReplicasOptions } from "../replicas/replicas.ts";
import type { WithClients } from "../postgres/pg-service.ts";
import { databaseCheck } from "./database-readiness.ts";
import { Live } from "../live/live.ts";
import { Documentation } from "../documentation/documentation.ts";
import type { DocumentationOptions } from "../documentation/documentation.ts";
import { Renderer } from "../pdf/renderer.ts";
import { SchemaThread } from "../graphql/schema-thread.ts";
import type { UsedByOthers } from "../bulk/pace.ts";
import { BulkStorage } from "../bulk/storage.ts";
import { Admission } from "../http/admission.ts";
import { createApp } from "../http/app.ts";
import { Metrics } from "../http/metrics.ts";
import type { UploadTools } from "../http/middleware/bulk-upload.ts";
import { Locales } from "../http/middleware/negotiate-locale.ts";
import { Spending } from "../http/middleware/spend-points.ts";
import { Refusals } from "../http/refusals.ts";
import { UnreadAnswers } from "../http/unread-answers.ts";
import type { Parts } from "../http/parts.ts";
import { Closing } from "../lib/closing.ts";
import { GroupTurns, LoopTurns } from "../lib/loop-turns.ts";
import { Readiness } from "../lib/readiness.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Tracing } from "../tracing/tracing.ts";
import type { Availability } from "../versions/availability.ts";
import type { Reader } from "../versions/reader.ts";
import { versions as allVersions } from "../versions/versions.ts";
import type { Version } from "../versions/versions.ts";
import { payloadReader } from "../webhooks/payload.ts";
import type { ReadPayload } from "../webhooks/payload.ts";
import { changing, openAccess } from "./open-access.ts";
import type { Access } from "./open-access.ts";
import { openAuth } from "./open-auth.ts";
import { openVersions } from "./open-versions.ts";
import type { OpenVersions, VersionsOptions } from "./open-versions.ts";
import type { SharedParts } from "./shared-parts.ts";
import { withDefaults } from "./app-settings.ts";
import type { AppSettings, Settled } from "./app-settings.ts";

export interface AppOptions extends Pick<VersionsOptions, "firstCatalog"> {
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
  /** The time in milliseconds since 1970. For tests. */
  now?: () => number;
  /** The versions to serve. */
  versions?: readonly Version[];
  /** What it shares with the apps of other merchants; null for an app of its own. */
  shared?: SharedParts | null;
}

/** The service's HTTP side. */
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
 * Opens the resources that middlewares use.
 *
 * @throws {UserError} when no version of the API can be built from the database
 */
export async function openApp(options: AppOptions): Promise<App> {
  const closing = new Closing();
  try {
    return await open(options, closing);
  } catch (error) {
    await closing.close();
    throw error;
  }
}

async function open(options: AppOptions, closing: Closing): Promise<App> {
  const { pool, apiPool, limiterPool = null, logger, shared = null } = options;
  const { now = Date.now, versions = allVersions, firstCatalog } = options;
  const settings = withDefaults(options.settings);
  const rates = new RateLimits(limiterPool, logger);
  closing.add(() => rates.close());
  const meter = new Meter(rates);
  const access = openAccess({
    ...{ pool, apiPool, fastReads: settings.fastReads, logger, onUsed: meter.used, closing },
    replicas: options.replicas ?? null,
    shared,
  });
  const readiness = new Readiness(logger);
  const secrets = new Secrets(settings.secretsKeys);
  const readMark = markReader(pool, access.readRows, shared?.onState);
  const forAuth = { pool, readMark, logger, settings, secrets, readiness, now, closing, shared };
  const { merchantPlan, rights, ...auth } = await openAuth(forAuth);
  const limitsNow = async () => (await merchantPlan.of("current")).limits;
  const forVersions = {
    ...{ settings, versions, now, pool, access, secrets, logger, limitsNow, closing, shared, firstCatalog },
  };
  const { served, availability, readerOf, headReader } = await openVersions(forVersions);
  const locales = new Locales(pool, logger);
  if (!shared) await locales.refresh();
  const live = new Live({
    ...{ pool, logger, readerOf, rights, places: shared?.places },
    spend: spender(rates, limitsNow, meter),
  });
  closing.add(() => live.close());
  const { metrics, refusals } = openFigures(metricsOf(options, access, live.open), logger, closing);
  const forThreads = { served, versions, pool, now, ...settings, shared: shared?.documentation };
  const threads = openThreads(meter, forThreads, closing, shared);
  watch(readiness, pool, availability, closing);
  const spend = spender(rates, limitsNow);
  const turns = shared ? new GroupTurns(shared.loop, shared.merchant) : new LoopTurns();
  const spending = new Spending(rates, meter, served, turns);
  const listener = createApp({
    ...{ ...access, settings, logger, now, pool, readiness, metrics, refusals },
    ...{ versions, served, availability, locales, merchantPlan, ...auth },
    ...{ rates, meter, live, ...threads, tracing: options.tracing ?? null },
    isSessionToken: sessionCheck(pool),
    ...{ turns, spending, unread: new UnreadAnswers() },
    admission: new Admission(merchantPlan, auth.credentials, headReader),
    bulk: { ...bulkTools(pool, settings, () => headReader().schema, spend), spending },
  });
  return {
    ...{ metrics, readiness, secrets, headReader, spend, listener },
    look: () => rights.look(),
    writeCounts: () => auth.usage.flush(),
    usedByOthers: auth.usage.usedByOthers,
    payloadReader: (payloadPool) =>
      readPayloads(settings, payloadPool, access.withClientsOf(payloadPool), readerOf, spend),
    async reload() {
      await Promise.all([untilIdle(apiPool), locales.refresh()]);
      return changing(access, availability.reload());
    },
    prepare: (read) => untilIdle(apiPool).then(() => availability.prepare(read)),
    close: () => closing.close(),
  };
}

/** The figures of the app. */
function metricsOf(
  { pool, apiPool, shared }: AppOptions,
  { turns, replicas }: Access,
  streams: Live["open"],
): Metrics {
  const metrics = new Metrics(streams, replicas, shared?.merchant);
  metrics.watchPool("service", pool);
  metrics.watchPool("operations", apiPool, () => turns?.waits.waiting ?? 0);
  if (turns) metrics.watchWaits("connection", turns);
  return metrics;
}

const readPayloads = (
  { webhookLimits: { maxQueryCost: maxCost, queryTimeoutMs: timeoutMs } }: Settled,
  { options: { max: connections } }: Pool,
  withPgClient: WithClients,
  readerOf: OpenVersions["readerOf"],
  spend: Spend,
): ReadPayload => payloadReader({ readerOf, spend, withPgClient, connections, maxCost, timeoutMs });

/** What is counted. */
function openFigures(metrics: Metrics, logger: Logger, closing: Closing) {
  const refusals = new Refusals(metrics.registry, logger);
  closing.add(() => refusals.close());
  return { metrics, refusals };
}

const bulkTools = (
  pool: Pool,
  { bulkLimits: limits }: Settled,
  schema: UploadTools["schema"],
  spend: Spend,
): Omit<UploadTools, "spending"> => ({ storage: new BulkStorage(pool), limits, schema, spend });

/** Checks what may fail. */
function watch(readiness: Readiness, pool: Pool, availability: Availability, closing: Closing): void {
  const database = databaseCheck(pool);
  closing.add(() => database.close());
  readiness.add("database", database.check);
  readiness.add("versions", () => availability.obstacle());
}

/** What works in threads of its own. */
function openThreads(
  meter: Meter,
  forDocumentation: DocumentationOptions,
  closing: Closing,
  shared: SharedParts | null,
): Pick<Parts, "thread" | "renderer" | "documentation"> {
  const documentation = new Documentation(forDocumentation);
  closing.add(() => documentation.close());
  if (shared) {
    const { merchant } = shared;
    const render = (config: unknown) => shared.renderer.render(config, merchant);
    return { thread: shared.thread.of(merchant, meter.used), renderer: { render }, documentation };
  }
  const thread = new SchemaThread(meter.used);
  closing.add(() => thread.close());
  const renderer = new Renderer();
  closing.add(() => renderer.close());
  return { thread, renderer, documentation };
}
