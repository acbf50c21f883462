import { DocumentCache } from "../graphql/document-cache.ts";
import type { MutationChecks } from "../graphql/mutation-check.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { retirementOf } from "../versions/lifetime.ts";
import { serveVersion } from "../versions/serve-version.ts";
import type { ServedVersion, ServeVersionOptions, MutationOptions } from "../versions/serve-version.ts";
import type { Version } from "../versions/versions.ts";
import { webhookSettings } from "../webhooks/webhook-limits.ts";
import { newWebhookSecret } from "../webhooks/webhook-secrets.ts";
import type { Settings } from "./settings.ts";

export interface BuildOptions extends Pick<ServeVersionOptions, "firstCatalog"> {
  settings: Settings;
  versions: readonly Version[];
  now: () => number;
  secrets: Secrets;
}

/** The parts of versions that belong to one service and can't be shared. */
export interface OwnVersionParts extends Pick<ServeVersionOptions, "pgService"> {
  mutationChecks: MutationChecks;
}

/** Builds the versions of the API, or finds versions that were built for an equal database. */
export type ServeVersions = (own: OwnVersionParts) => Promise<ServedVersion[]>;

/** Returns the versions to build: all but ended ones. An announced version may begin while the process runs. */
export const listActiveVersions = ({ versions, now }: Pick<BuildOptions, "versions" | "now">): Version[] =>
  versions.filter((each) => (retirementOf(each, versions)?.sunsetAt ?? Infinity) > now());

/** Builds all versions that haven't ended, from the database of a process with one service. */
export function buildVersions(options: BuildOptions): ServeVersions {
  const build = versionBuilder(options);
  return ({ pgService, mutationChecks }) =>
    Promise.all(listActiveVersions(options).map((version) => build(version, pgService, mutationChecks)));
}

/** Returns a function that builds a version, from the database's catalog or a given one. */
export function versionBuilder({ settings, secrets, firstCatalog }: BuildOptions) {
  const ofAll = { fastReads: settings.fastReads, firstCatalog, documentCache: new DocumentCache() };
  const writing: Omit<MutationOptions, "checks"> = {
    timeoutMs: settings.timeoutsMs.mutation,
    settings: webhookSettings(settings.webhookAllow, settings.webhookLimits),
    newSecret: () => newWebhookSecret(secrets),
  };
  return (
    version: Version,
    pgService: GraphileConfig.PgServiceConfiguration,
    checks: MutationChecks,
    catalog?: string,
  ): Promise<ServedVersion> =>
    serveVersion(version, { ...ofAll, pgService, catalog, writing: { ...writing, checks } });
}
