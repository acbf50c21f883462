import type { Pool } from "pg";
import type { Logger } from "pino";
import { AccessTokens } from "../auth/access-token.ts";
import { activeCredentials } from "../auth/active-credentials.ts";
import { InvalidatedCache } from "../auth/invalidated-cache.ts";
import { currentMerchantPlan } from "../auth/merchant-plan.ts";
import { Meter } from "../auth/rate-limits/meter.ts";
import { RateLimits } from "../auth/rate-limits/rate-limits.ts";
import { spender } from "../auth/rate-limits/spend.ts";
import { createMarkReader } from "../auth/rights-now.ts";
import { openSigningKeys } from "../auth/stored-signing-keys.ts";
import { storedOperations } from "../auth/stored-operations.ts";
import { Usage } from "../auth/usage.ts";
import { exportCheck } from "../bulk/check-export.ts";
import { apiError } from "../errors/api-error.ts";
import type { Limits } from "../graphql/limits.ts";
import { Metrics } from "../http/metrics.ts";
import { Locales } from "../http/middleware/reading/negotiate-locale.ts";
import { Refusals } from "../http/middleware/observing/refusals.ts";
import { Readiness } from "../lib/readiness.ts";
import { Live } from "../live/live.ts";
import { openDatabaseAccess } from "../postgres/pg-service.ts";
import type { DatabaseAccess } from "../postgres/pg-service.ts";
import type { ReadRows } from "../postgres/pipeline/read-text.ts";
import type { OnUsed } from "../postgres/shared-pool.ts";
import { readsOpenTransactions } from "../reads/followed.ts";
import { Replicas } from "../replicas/replicas.ts";
import type { ReadFromReplica, ReplicasOptions } from "../replicas/replicas.ts";
import { requireSecretsKeys } from "../secrets/require-keys.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { Availability } from "../versions/availability.ts";
import { Reader } from "../versions/reader.ts";
import { versions as allVersions } from "../versions/versions.ts";
import { AllowList } from "../webhooks/addresses.ts";
import { subscriptionChecks } from "../webhooks/check-subscription.ts";
import type { BuildOptions } from "./build-versions.ts";
import { DatabaseCheck } from "./database-readiness.ts";
import type { Settings } from "./settings.ts";
import { createProcessParts } from "./shared.ts";
import type { ProcessParts } from "./shared.ts";

export interface AppOptions extends Partial<Pick<BuildOptions, "firstCatalog" | "versions" | "now">> {
  settings: Settings & { hosts: readonly string[] };
  /**
   * Connections of service_login (db/roles.sql), for tokens, documents and pages. They stay open when the app closes.
   */
  pool: Pool;
  /** Connections for operations, which can only switch to the role service_api. They stay open too. */
  apiPool: Pool;
  /** Standbys that answer reads. */
  replicas?: ReplicasOptions | null;
  /** Exports traces; null without tracing. */
  tracing?: Tracing | null;
  /** Connections of service_login for processes that share rate limits. They stay open too. */
  limiterPool?: Pool | null;
  logger: Logger;
  /** The parts of its process; by default all of them are its own. */
  shared?: ProcessParts;
}

/**
 * Opens the parts of a service that middlewares and background work use.
 *
 * @param closing receives the functions that close them
 */
export async function openParts(options: AppOptions, closing: AsyncDisposableStack) {
  const { apiPool, limiterPool = null } = options;
  const own = createBasics(options, closing);
  const { pool, logger, readiness, shared } = own;
  const rates = new RateLimits(limiterPool, logger);
  closing.defer(() => rates.close());
  const meter = new Meter(rates);
  const access = openAccess(own, options, meter.used);
  const auth = await openAuth(own, access.readRows);
  const limitsNow = async () => (await auth.merchantPlan.of("current")).limits;
  const built = await openVersions(own, access.pgService, limitsNow);
  const locales = new Locales(pool, logger);
  if (!shared.firstRights) await locales.refresh();
  const live = new Live({
    pool,
    logger,
    readerOf: built.readerOf,
    rights: auth.rights,
    listen: shared.listen,
    spend: spender(rates, limitsNow, meter),
  });
  closing.defer(() => live.close());
  const metrics = new Metrics(live.streams, access.replicas);
  const { queue: turns } = access;
  metrics.addPool("service", pool);
  metrics.addPool("operations", apiPool, () => turns?.waits.waiting ?? 0);
  if (turns) metrics.addWaits("connection", turns);
  shared.labelMetrics(metrics.registry);
  const refusals = new Refusals(metrics.registry, logger);
  closing.defer(() => refusals.close());
  const database = new DatabaseCheck(pool);
  closing.defer(() => database.close());
  readiness.add("database", () => database.check());
  readiness.add("versions", () => built.availability.obstacle());
  /** Spends points for work that isn't part of a request. */
  const spend = spender(rates, limitsNow);
  return { ...own, ...access, ...auth, ...built, metrics, refusals, rates, meter, locales, live, spend };
}

/** Creates what all parts need. */
function createBasics(options: AppOptions, closing: AsyncDisposableStack) {
  const { settings, pool, logger, now = Date.now, versions = allVersions, firstCatalog } = options;
  const secrets = new Secrets(settings.secretsKeys);
  const readiness = new Readiness(logger);
  const { shared = createProcessParts({ settings, versions, now, secrets, firstCatalog }, closing) } =
    options;
  return { settings, pool, logger, now, versions, secrets, readiness, closing, shared };
}

type Basics = ReturnType<typeof createBasics>;

/** Opens the access to the primary and its replicas, for operations. */
function openAccess(
  { settings, pool, logger, closing, shared }: Basics,
  { apiPool, replicas: standbys }: AppOptions,
  onUsed: OnUsed,
) {
  const replicas = standbys
    ? new Replicas(standbys, { primary: pool, logger, onUsed, needsPrimary: readsOpenTransactions })
    : null;
  closing.defer(() => replicas?.close());
  const access = openDatabaseAccess(apiPool, {
    catalogOf: pool,
    fastReads: settings.fastReads,
    onUsed,
    onWritten: replicas?.noteWritten,
    share: shared.share,
  });
  closing.defer(() => access.close());
  const { readText: fromPrimary } = access;
  const readText: ReadFromReplica | null =
    fromPrimary && replicas ? replicas.reader(fromPrimary) : fromPrimary;
  return { ...access, replicas, readText };
}

/** Opens what decides about rights: credentials, tokens, the plan. */
async function openAuth(
  { settings, pool, logger, now, secrets, readiness, closing, shared }: Basics,
  readRows: ReadRows | null,
) {
  const { tokenSigningKeys, limits } = settings;
  const { firstRights: first } = shared;
  if (!first) {
    const ownKeys = tokenSigningKeys.length === 0 ? (["signing key"] as const) : [];
    await requireSecretsKeys(
      pool,
      secrets,
      ["webhook secret", "valuation key", "carrier secret", ...ownKeys],
      logger,
    );
  }
  const cache = new InvalidatedCache(pool, logger, createMarkReader(pool, readRows, shared.onState), {
    listen: shared.listenWhileUsed,
    mark: first?.mark,
  });
  closing.defer(() => cache.close());
  if (!first) await cache.checkForChanges();
  const usage = new Usage(pool, logger, shared.usage);
  closing.defer(() => usage.close());
  const forKeys = { pool, cache, secrets, logger, now, readiness, first: first?.keys };
  return {
    usage,
    rights: cache,
    outdateRights: () => cache.invalidate(),
    credentials: activeCredentials(pool, cache),
    storedOperations: storedOperations(pool, cache),
    merchantPlan: currentMerchantPlan(pool, cache, { limits, logger, first: first?.plan ?? null }),
    tokens: new AccessTokens(await openSigningKeys(tokenSigningKeys, forKeys), now, shared.issuer),
  };
}

/**
 * Opens the versions that are served.
 *
 * @param limitsNow returns the present limits
 * @throws {UserError} when none can be built
 */
async function openVersions(
  { settings, pool, logger, closing, shared }: Basics,
  pgService: DatabaseAccess["pgService"],
  limitsNow: () => Promise<Limits>,
) {
  const { webhookAllow, webhookPorts, webhookLimits } = settings;
  const readers = new Map<string, Reader>();
  /** Returns the reader that runs the service's own queries in a version; undefined if the version isn't served. */
  const readerOf = (slug: string) => readers.get(slug);
  const allowed = new AllowList(webhookAllow, webhookPorts);
  const mutationChecks = {
    ...subscriptionChecks({ allowed, readerOf, maxCost: webhookLimits.maxQueryCost }),
    bulk_operation_run: exportCheck(readerOf),
  };
  const served = await shared.serveVersions({ pgService, mutationChecks });
  for (const each of served) readers.set(each.version.slug, new Reader(each, limitsNow, logger));
  const availability = new Availability(served, pool, logger);
  closing.defer(() => availability.close());
  if (!shared.firstRights) await availability.check();
  const head = served.find(({ version }) => version.kind === "floating");
  /** Returns the reader of `unstable`. @throws SERVICE_UNAVAILABLE when it isn't served */
  const headReader = () => {
    if (!head) throw apiError("SERVICE_UNAVAILABLE", "The newest version of the API is not served here.");
    return readers.get(head.version.slug)!;
  };
  return { served, availability, readerOf, headReader };
}
