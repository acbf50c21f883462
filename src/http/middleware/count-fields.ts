import type { Usage } from "../../auth/usage.ts";
import { usedFieldsOf } from "../../graphql/used-fields.ts";
import type { ServedVersion } from "../../versions/serve-version.ts";
import type { Middleware } from "../pipeline.ts";

/** Notes the fields of an operation for its credential, and counts those that are deprecated. */
export function countFields(usage: Usage, served: readonly ServedVersion[]): Middleware {
  const bySlug = new Map(served.map((version) => [version.version.slug, version]));
  return (_request, response, next) => {
    const { caller, version, operation } = response.locals;
    if (operation?.document) {
      const { schema } = bySlug.get(version!.slug)!.current();
      const { all, deprecated } = usedFieldsOf(schema, operation.document);
      usage.fields.note(caller!.credentialId, version!.slug, all);
      if (deprecated.length > 0) usage.noteDeprecated(caller!.credentialId, version!.slug, deprecated);
    }
    next();
  };
}
