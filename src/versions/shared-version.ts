import { giveOwnParts } from "./own-parts.ts";
import type { OwnParts } from "./own-parts.ts";
import type { ServedVersion } from "./serve-version.ts";

/**
 * A version for one of several merchants. The schema is that of all whose database has the same views; it was built with
 * connections that refuse all work, so that nothing can run without those of the merchant.
 */
export function versionFor(shared: ServedVersion, own: OwnParts): ServedVersion {
  return {
    ...shared,
    withPgClient: own.withPgClient,
    writing: { ...shared.writing, checks: own.mutationChecks },
    answer(request, response) {
      giveOwnParts(response, own);
      return shared.answer(request, response);
    },
    // Another build is another version: see `SharedVersions`
    reload: () => Promise.resolve(false),
    prepare: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  };
}
