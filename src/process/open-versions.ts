import type { Pool } from "pg";
import type { Logger } from "pino";
import type { DatabaseAccess } from "../postgres/pg-service.ts";
import { defaultMutationTimeoutMs } from "../graphql/context.ts";
import { apiError } from "../errors/api-error.ts";
import { DocumentCache } from "../graphql/document-cache.ts";
import type { Limits } from "../graphql/limits.ts";
import type { MutationChecks } from "../graphql/mutation-check.ts";
import { exportCheck } from "../bulk/check-export.ts";
import { explorerPathOf } from "../versions/explorer-page.ts";
import { passedRequestOf } from "../http/passed-request.ts";
import type { Closing } from "../lib/closing.ts";
import type { SharedParts } from "./shared-parts.ts";
import { Availability } from "../versions/availability.ts";
import { retirementOf } from "../versions/lifetime.ts";
import { Reader } from "../versions/reader.ts";
import { serveVersion } from "../versions/serve-version.ts";
import { versionFor } from "../versions/shared-version.ts";
import { SharedVersions } from "../versions/shared-versions.ts";
import type { ServedVersion, ServeVersionOptions } from "../versions/serve-version.ts";
import type { Version } from "../versions/versions.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { AllowList } from "../webhooks/addresses.ts";
import { subscriptionChecks } from "../webhooks/check-subscription.ts";
import { defaultWebhookLimits, webhookSettings } from "../webhooks/limits.ts";
import type { WebhookLimits } from "../webhooks/limits.ts";
import { newWebhookSecret } from "../webhooks/secrets.ts";

export interface VersionSettings {
  /** Whether to serve the explorer. Meant for development. */
  explorer: boolean;
  /** Whether reads become one SQL statement if possible; otherwise Grafast answers all. True by default. */
  fastReads?: boolean | undefined;
  /** Webhook destinations allowed beside the public internet: hosts, addresses, ranges. */
  webhookAllow?: readonly string[];
  /** Ports for webhooks. */
  webhookPorts?: readonly number[];
  /** Limits of webhooks: subscriptions and payload queries. */
  webhookLimits?: WebhookLimits;
  /** Longest time that Postgres may work on a mutation, in milliseconds. */
  timeoutsMs?: { mutation: number };
}

export interface VersionsOptions extends Pick<ServeVersionOptions, "firstCatalog"> {
  settings: VersionSettings;
  versions: readonly Version[];
  now: () => number;
  pool: Pool;
  access: Pick<DatabaseAccess, "pgService">;
  secrets: Secrets;
  logger: Logger;
  /** Returns the present limits. */
  limitsNow: () => Promise<Limits>;
  /** Gets the functions that close what is opened. */
  closing: Closing;
  /** The versions that several merchants share; null to build them for this database alone. */
  shared?: Pick<SharedParts, "versions" | "firstRights" | "merchant"> | null;
}

/** The versions of the API, built from the database. */
export interface OpenVersions {
  served: readonly ServedVersion[];
  availability: Availability;
  /** Runs the service's own queries in a version; undefined when it isn't served. */
  readerOf: (slug: string) => Reader | undefined;
  /** The same in the head. @throws SERVICE_UNAVAILABLE when it isn't served */
  headReader: () => Reader;
}

/**
 * Builds the versions that are served.
 *
 * @throws {UserError} when none can be built
 */
export async function openVersions(options: VersionsOptions): Promise<OpenVersions> {
  const { versions, now, pool, logger, limitsNow, closing } = options;
  const readers = new Map<string, Reader>();
  const readerOf = (slug: string) => readers.get(slug);
  const served = options.shared
    ? await serveShared(options, options.shared, readerOf)
    : await serveAll(livingOf(versions, now), options, readerOf);
  closing.add(() => Promise.all(served.map((version) => version.close())));
  for (const each of served) readers.set(each.version.slug, new Reader(each, limitsNow, logger));
  const availability = new Availability(served, pool, logger);
  closing.add(() => availability.close());
  if (!options.shared) await availability.check();
  const head = served.find(({ version }) => version.kind === "floating");
  const headReader = () => {
    if (!head) throw apiError("SERVICE_UNAVAILABLE", "The newest version of the API is not served here.");
    return readerOf(head.version.slug)!;
  };
  return { served, availability, readerOf, headReader };
}

/** Ended versions aren't built; announced ones may begin while the process runs. */
const livingOf = (versions: readonly Version[], now: () => number): Version[] =>
  versions.filter((each) => (retirementOf(each, versions)?.sunsetAt ?? Infinity) > now());

function serveAll(
  versions: readonly Version[],
  options: VersionsOptions,
  readerOf: OpenVersions["readerOf"],
): Promise<ServedVersion[]> {
  const ofAll = buildOptions(options);
  const mutationChecks = checksOf(options.settings, readerOf);
  const { firstCatalog } = options;
  return Promise.all(
    versions.map((version) =>
      serveVersion(version, {
        ...{ ...ofAll, mutationChecks, pgService: options.access.pgService, firstCatalog },
        explorerPath: options.settings.explorer ? explorerPathOf(version) : null,
      }),
    ),
  );
}

/** The shared versions, with what is this merchant's own. */
async function serveShared(
  { settings, access }: VersionsOptions,
  { versions, firstRights: { state }, merchant }: NonNullable<VersionsOptions["shared"]>,
  readerOf: OpenVersions["readerOf"],
): Promise<ServedVersion[]> {
  const { pgService } = access;
  const { adaptor, adaptorSettings } = pgService;
  const withPgClient = await adaptor.createWithPgClient(adaptorSettings);
  const own = { withPgClient, mutationChecks: checksOf(settings, readerOf), logged: { merchant } };
  return (await versions.of(state, pgService)).map((shared) => versionFor(shared, own));
}

/** Makes the versions that several merchants share. */
export function sharedVersions(
  options: Pick<VersionsOptions, "settings" | "versions" | "now" | "secrets" | "logger">,
): SharedVersions {
  const { settings, versions, now } = options;
  const ofAll = buildOptions(options);
  return new SharedVersions(livingOf(versions, now), (version, pgService, catalog) => {
    const explorerPath = settings.explorer ? explorerPathOf(version) : null;
    return serveVersion(version, { ...ofAll, pgService, explorerPath, catalog });
  });
}

/** How versions are built. */
function buildOptions({
  settings,
  secrets,
  logger,
}: Pick<VersionsOptions, "settings" | "secrets" | "logger">) {
  const { webhookAllow = [], webhookLimits = defaultWebhookLimits } = settings;
  return {
    fastReads: settings.fastReads ?? true,
    logger,
    documentCache: new DocumentCache(),
    requestOf: passedRequestOf,
    mutationSettings: webhookSettings(webhookAllow, webhookLimits),
    newSecret: () => newWebhookSecret(secrets),
    mutationTimeoutMs: settings.timeoutsMs?.mutation ?? defaultMutationTimeoutMs,
  };
}

/** Checks of mutations, with the queries of one merchant. */
function checksOf(
  { webhookAllow = [], webhookPorts, webhookLimits = defaultWebhookLimits }: VersionSettings,
  readerOf: OpenVersions["readerOf"],
): MutationChecks {
  const allowed = new AllowList(webhookAllow, webhookPorts);
  return {
    ...subscriptionChecks({ allowed, readerOf, maxCost: webhookLimits.maxQueryCost }),
    bulk_operation_run: exportCheck(readerOf),
  };
}
