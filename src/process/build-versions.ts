import { DocumentCache } from "../graphql/document-cache.ts";
import { passedRequestOf } from "../http/middleware/answering/passed-request.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { explorerPathOf } from "../versions/explorer-page.ts";
import { retirementOf } from "../versions/lifetime.ts";
import { serveVersion } from "../versions/serve-version.ts";
import type { ServedVersion, ServeVersionOptions } from "../versions/serve-version.ts";
import type { Version } from "../versions/versions.ts";
import { webhookSettings } from "../webhooks/webhook-limits.ts";
import { newWebhookSecret } from "../webhooks/webhook-secrets.ts";
import type { Settings } from "./settings.ts";

export interface BuildOptions extends Pick<ServeVersionOptions, "firstCatalog" | "logger"> {
  settings: Settings;
  versions: readonly Version[];
  now: () => number;
  secrets: Secrets;
}

/** Parts of versions that are those of one service. */
export type OwnOfVersions = Required<Pick<ServeVersionOptions, "pgService" | "mutationChecks">>;

/** Builds the versions of the API, or finds those that were built for an equal database. */
export type ServeVersions = (own: OwnOfVersions) => Promise<ServedVersion[]>;

/** Ended versions aren't built; announced ones may begin while the process runs. */
export const livingOf = ({ versions, now }: Pick<BuildOptions, "versions" | "now">): Version[] =>
  versions.filter((each) => (retirementOf(each, versions)?.sunsetAt ?? Infinity) > now());

/** Builds all living versions from the database of a service that is alone. */
export function buildVersions(options: BuildOptions): ServeVersions {
  const build = versionBuilder(options);
  return (own) => Promise.all(livingOf(options).map((version) => build(version, own)));
}

/** Makes the builder of a version, from one catalog or another. */
export function versionBuilder({ settings, secrets, logger, firstCatalog }: BuildOptions) {
  const ofAll = {
    fastReads: settings.fastReads,
    logger,
    firstCatalog,
    documentCache: new DocumentCache(),
    requestOf: passedRequestOf,
    mutationSettings: webhookSettings(settings.webhookAllow, settings.webhookLimits),
    newSecret: () => newWebhookSecret(secrets),
    mutationTimeoutMs: settings.timeoutsMs.mutation,
  };
  return (
    version: Version,
    own: Pick<ServeVersionOptions, "pgService" | "mutationChecks" | "catalog">,
  ): Promise<ServedVersion> =>
    serveVersion(version, {
      ...ofAll,
      ...own,
      explorerPath: settings.explorer ? explorerPathOf(version) : null,
    });
}
