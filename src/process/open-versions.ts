import { exportCheck } from "../bulk/check-export.ts";
import type { DatabaseAccess } from "../postgres/pg-service.ts";
import { apiError } from "../errors/api-error.ts";
import type { Limits } from "../graphql/limits.ts";
import type { MutationChecks } from "../graphql/mutation-check.ts";
import { Availability } from "../versions/availability.ts";
import { Reader } from "../versions/reader.ts";
import type { ServedVersion } from "../versions/serve-version.ts";
import { AllowList } from "../webhooks/addresses.ts";
import { subscriptionChecks } from "../webhooks/check-subscription.ts";
import type { AppSettings } from "./app-settings.ts";
import type { Opening } from "./shared.ts";

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
 * Opens the versions that are served.
 *
 * @param limitsNow returns the present limits
 * @throws {UserError} when none can be built
 */
export async function openVersions(
  { settings, pool, logger, closing, shared }: Opening,
  { pgService }: Pick<DatabaseAccess, "pgService">,
  limitsNow: () => Promise<Limits>,
): Promise<OpenVersions> {
  const readers = new Map<string, Reader>();
  const readerOf = (slug: string) => readers.get(slug);
  const mutationChecks = checksOf(settings, readerOf);
  const served = await shared.serveVersions({ pgService, mutationChecks });
  for (const each of served) readers.set(each.version.slug, new Reader(each, limitsNow, logger));
  const availability = new Availability(served, pool, logger);
  closing.add(() => availability.close());
  if (!shared.firstRights) await availability.check();
  const head = served.find(({ version }) => version.kind === "floating");
  const headReader = () => {
    if (!head) throw apiError("SERVICE_UNAVAILABLE", "The newest version of the API is not served here.");
    return readerOf(head.version.slug)!;
  };
  return { served, availability, readerOf, headReader };
}

/** Checks of mutations, with the queries of one merchant. */
function checksOf(
  { webhookAllow, webhookPorts, webhookLimits }: AppSettings,
  readerOf: OpenVersions["readerOf"],
): MutationChecks {
  const allowed = new AllowList(webhookAllow, webhookPorts);
  return {
    ...subscriptionChecks({ allowed, readerOf, maxCost: webhookLimits.maxQueryCost }),
    bulk_operation_run: exportCheck(readerOf),
  };
}
