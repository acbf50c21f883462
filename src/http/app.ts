import type { RequestListener } from "node:http";
import express from "express";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { administration } from "../administration/administration.ts";
import { AccessTokens } from "../auth/access-token.ts";
import { activeCredentials } from "../auth/active-credentials.ts";
import { Memory } from "../auth/invalidated-cache.ts";
import { openSigningKeys } from "../auth/open-signing-keys.ts";
import { requireToken } from "./middleware/require-token.ts";
import { sessionCheck } from "../auth/session-token.ts";
import { tokenEndpoint } from "./oauth/token-endpoint.ts";
import { openWays } from "../database/pg-service.ts";
import { databaseCheck } from "../database/readiness.ts";
import { countUse, Usage } from "../auth/usage.ts";
import { usualMutationTimeout } from "../../plugins/lib/run-mutation.ts";
import { documentDownload, documentPath } from "./middleware/document-download.ts";
import { Renderer } from "../documents/renderer.ts";
import { directly } from "./direct-way.ts";
import { explorerPathOf, explorers } from "./explorer.ts";
import { readGraphqlBody } from "./middleware/read-graphql-body.ts";
import { liveness, readinessEndpoint } from "./middleware/health.ts";
import { notFound, unexpectedError } from "./middleware/last-resort.ts";
import { Locales, negotiateLocale } from "./middleware/negotiate-locale.ts";
import { oneHost } from "./middleware/one-host.ts";
import { negotiateMediaType, onlyPost } from "./middleware/negotiate-media-type.ts";
import { requestId } from "./middleware/request-id.ts";
import { securityHeaders } from "./middleware/security-headers.ts";
import { DocumentCache } from "../graphql/document-cache.ts";
import { UnreadAnswers } from "./unread-answers.ts";
import { answerIntrospection } from "./middleware/answer-introspection.ts";
import { answerReads } from "./middleware/answer-reads.ts";
import { costlyTurns } from "./middleware/costly-turns.ts";
import { HeavyWork } from "../lib/heavy-work.ts";
import type { Limits } from "../graphql/limits.ts";
import { usualLimits } from "../graphql/limits.ts";
import { Metrics } from "./metrics.ts";
import { Refusals } from "./refusals.ts";
import { countDeprecated } from "../graphql/deprecated-fields.ts";
import { readOperation, refuseOperation } from "./middleware/read-operation.ts";
import { Spending } from "./middleware/spend-points.ts";
import { currentPlan } from "../auth/plan.ts";
import { requirePlan } from "./middleware/require-plan.ts";
import { Meter } from "../auth/rate-limits/meter.ts";
import { RateLimits } from "../auth/rate-limits/rate-limits.ts";
import { spender } from "../auth/rate-limits/spend.ts";
import { Readiness } from "../lib/readiness.ts";
import { requireSecretsKeys } from "../secrets/require-keys.ts";
import { Secrets } from "../secrets/secrets.ts";
import { Availability } from "../versions/availability.ts";
import { findVersion, listVersions, versionsPath } from "./middleware/find-version.ts";
import { retirementOf } from "../versions/lifetime.ts";
import { Reader } from "../versions/reader.ts";
import { serveVersion } from "../versions/serve-version.ts";
import { pathOf, versions as allVersions } from "../versions/versions.ts";
import type { Version } from "../versions/versions.ts";
import { AllowList } from "../webhooks/addresses.ts";
import { subscriptionChecks } from "../webhooks/check-subscription.ts";
import { defaultWebhookLimits, webhookSettings } from "../webhooks/limits.ts";
import type { WebhookLimits } from "../webhooks/limits.ts";
import { payloadReader } from "../webhooks/payload.ts";
import type { ReadPayload } from "../webhooks/payload.ts";
import { newWebhookSecret } from "../webhooks/secrets.ts";

/** Settings that the stations need. The service's settings (src/process/settings.ts) have them, among others. */
export interface AppSettings {
  /** Keys of at least 32 characters that sign access tokens. Without any, one is made and kept in the database. */
  tokenSigningKeys?: readonly string[];
  /** Keys that encrypt the secrets of the database, 32 bytes each, in base64. Without any, these are plain. */
  secretsKeys?: readonly string[];
  /** Whether to serve the explorer. Meant for development. */
  explorer: boolean;
  /** Whether reads take the short ways; otherwise those of the libraries. True unless set. */
  fastReads?: boolean | undefined;
  /** Where clients reach the service, when that differs from host and port. */
  publicUrl?: string | undefined;
  /** Destinations of webhooks that are allowed beside those of the public internet: hosts, addresses, ranges. */
  webhookAllow?: readonly string[];
  /** Ports that webhooks are sent to. */
  webhookPorts?: readonly number[];
  /** What webhooks may take: subscriptions, and payload queries. */
  webhookLimits?: WebhookLimits;
  /** How long Postgres works on a mutation at most, in milliseconds. */
  timeouts?: { mutation: number };
  /** What operations and clients may ask for, where the plan says nothing else. */
  limits?: Limits;
  /** Of a GraphQL request's body, in bytes. */
  largestBody?: number;
  /** Of one client from one address. */
  tokenRequestsPerMinute?: number;
  /** Which proxies are believed about the client's address, as Express has it. */
  trustProxy?: string | number | false;
}

export interface AppOptions {
  settings: AppSettings;
  /** Connections of service_login, see db/roles.sql: for tokens, documents, pages. Stays open when the app closes. */
  pool: Pool;
  /** Connections for operations, which can become nobody but service_api. Stays open too. */
  apiPool: Pool;
  /** Connections of the role service_limiter, for processes that count together what clients take. Stays open too. */
  limiterPool?: Pool | null;
  logger: Logger;
  /** What time it is, in milliseconds since 1970. For tests. */
  now?: () => number;
  /** Which versions to serve. */
  versions?: readonly Version[];
}

/** The service's HTTP side. */
export interface App {
  /** What it counts about itself. */
  metrics: Metrics;
  /** Whether it can do its work. Parts that may fail add a check. */
  readiness: Readiness;
  /** Reads what the database keeps encrypted. */
  secrets: Secrets;
  /** Answers requests: `http.createServer(app.listener)`. */
  listener: RequestListener;
  /**
   * What reads the data of webhooks.
   *
   * @param pool connections that nobody else uses, as for operations
   */
  payloadReader(pool: Pool): ReadPayload;
  /** Builds every version's GraphQL schema anew from the database, as after a migration. */
  reload(): Promise<void>;
  /** Ends what the app opened: not the pool, not the HTTP server. */
  close(): Promise<void>;
}

/**
 * Opens what the stations of a request need, and puts them in order.
 *
 * @throws {UserError} when no version of the API can be built from the database
 */
export async function createApp({
  settings,
  pool,
  apiPool,
  limiterPool = null,
  logger,
  now = Date.now,
  versions = allVersions,
}: AppOptions): Promise<App> {
  const fastReads = settings.fastReads ?? true;
  const rates = new RateLimits(limiterPool, logger);
  const meter = new Meter(rates);
  const ways = await openWays(apiPool, { catalogOf: pool, fastReads, logger, onUsed: meter.used });
  const { pgService, readText, withClientsOf } = ways;
  const { webhookAllow = [], webhookPorts, webhookLimits = defaultWebhookLimits } = settings;
  const { tokenSigningKeys = [], secretsKeys = [] } = settings;
  const secrets = new Secrets(secretsKeys);
  const needed = [
    ...(tokenSigningKeys.length > 0 ? [] : ["signing key" as const]),
    "webhook secret" as const,
  ];
  await requireSecretsKeys(pool, secrets, needed, logger);
  const readers = new Map<string, Reader>();
  const readerOf = (slug: string) => readers.get(slug);
  const mutationChecks = subscriptionChecks({
    ...{ allowed: new AllowList(webhookAllow, webhookPorts), readerOf, maxCost: webhookLimits.maxQueryCost },
  });
  const documentCache = new DocumentCache();
  // Of what has ended nothing is asked any more; what is announced may begin while the process runs
  const living = versions.filter((each) => (retirementOf(each, versions)?.sunsetAt ?? Infinity) > now());
  const served = await Promise.all(
    living.map((version) =>
      serveVersion(version, {
        pgService,
        fastReads,
        logger,
        documentCache,
        mutationChecks,
        mutationSettings: webhookSettings(webhookAllow, webhookLimits),
        newSecret: () => newWebhookSecret(secrets),
        mutationTimeout: settings.timeouts?.mutation ?? usualMutationTimeout,
        explorerPath: settings.explorer ? explorerPathOf(version) : null,
      }),
    ),
  );
  const availability = new Availability(served, pool, logger);
  await availability.check();
  const readiness = new Readiness(logger);
  const memory = new Memory(pool, logger);
  const forKeys = { pool, memory, secrets, logger, now, readiness };
  const signingKeys = await openSigningKeys(tokenSigningKeys, forKeys).catch(async (error: unknown) => {
    await memory.close();
    throw error;
  });
  const tokens = new AccessTokens(signingKeys, now);
  const locales = new Locales(pool, logger);
  await locales.refresh();
  const credentials = activeCredentials(pool, memory);
  const plan = currentPlan(pool, memory, { limits: settings.limits ?? usualLimits, logger });
  const limitsNow = async () => (await plan.of("current")).limits;
  for (const each of served) readers.set(each.version.slug, new Reader(each, limitsNow, logger));
  const renderer = new Renderer();
  const metrics = new Metrics(apiPool);
  const refusals = new Refusals(metrics.registry, logger);
  const usage = new Usage(pool, logger);
  const spending = new Spending(rates, meter, served);
  const heavyWork = new HeavyWork();
  const unread = new UnreadAnswers();
  const database = databaseCheck(pool);
  readiness.add("database", database.check);
  readiness.add("versions", () => availability.obstacle());

  const app = express()
    .disable("x-powered-by")
    .disable("etag")
    .enable("strict routing")
    .enable("case sensitive routing")
    .set("trust proxy", settings.trustProxy ?? false);

  const ofEveryRequest = [requestId(logger), securityHeaders, oneHost];
  app.use(ofEveryRequest);
  app.get("/livez", liveness);
  // `/healthz` is what it was called
  app.get(["/readyz", "/healthz"], readinessEndpoint(readiness));

  // The way of credentials
  app.all(
    "/api/oauth/token",
    tokenEndpoint({
      ...{ pool, plan, tokens, logger, rates, refusals },
      perMinute: settings.tokenRequestsPerMinute ?? 20,
    }),
  );

  // The way of documents
  app.all(documentPath, documentDownload(pool, renderer));

  app.get(versionsPath, listVersions(versions, now));

  // The way of queries and mutations
  const ofOperations = [
    metrics.count,
    refusals.watch,
    findVersion(versions, now, availability),
    requirePlan(plan, logger),
    onlyPost,
    requireToken(tokens, credentials, logger, sessionCheck(pool)),
    unread.bound,
    countUse(usage),
    negotiateMediaType,
    negotiateLocale(locales),
    spending.forBody,
    readGraphqlBody(settings.largestBody ?? 1_048_576, heavyWork),
    spending.forDocument,
    readOperation(served, meter, heavyWork),
    countDeprecated(usage, served),
    spending.forOperation,
    refuseOperation,
    costlyTurns(),
    answerIntrospection(served, unread, heavyWork),
    ...(readText ? [answerReads(served, readText, unread)] : []),
  ];
  app.all("/api/graphql/:version", ofOperations);
  for (const { version, handler } of served) app.post(pathOf(version), unread.countNext, handler);

  // The way of administrators
  app.use(
    "/admin",
    administration({
      pool,
      logger,
      now,
      versions,
      limits: settings.limits ?? usualLimits,
      publicUrl: settings.publicUrl,
      webhookAllow: webhookAllow.join(),
    }),
  );

  if (settings.explorer) app.use(explorers(served));
  const onError = unexpectedError(logger);
  app.use(notFound, onError);
  const listener = directly(app, {
    routes: served.map(({ version, handler }) => {
      return {
        path: pathOf(version),
        params: { version: version.slug },
        stations: [...ofOperations, unread.countNext, handler],
      };
    }),
    common: ofEveryRequest,
    atTheEnd: notFound,
    onError,
  });

  return {
    metrics,
    readiness,
    secrets,
    listener,
    payloadReader: (payloadPool) =>
      payloadReader({
        readerOf,
        withPgClient: withClientsOf(payloadPool),
        connections: payloadPool.options.max,
        spend: spender(rates, limitsNow),
        maxCost: webhookLimits.maxQueryCost,
        timeoutMs: webhookLimits.queryTimeoutMs,
      }),
    async reload() {
      await availability.reload();
      await locales.refresh();
    },
    async close() {
      rates.close();
      refusals.close();
      availability.close();
      await usage.close();
      await memory.close();
      await renderer.close();
      await database.close();
      await ways.close();
      await Promise.all(served.map((version) => version.close()));
    },
  };
}
