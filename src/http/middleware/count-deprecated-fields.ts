import type { Usage } from "../../auth/usage.ts";
import { deprecatedFieldsOf } from "../../graphql/deprecated-fields.ts";
import type { ServedVersion } from "../../versions/serve-version.ts";
import type { Middleware } from "../pipeline.ts";

/** Counts the deprecated fields of an operation for its credential. */
export function countDeprecatedFields(usage: Usage, served: readonly ServedVersion[]): Middleware {
  const bySlug = new Map(served.map((version) => [version.version.slug, version]));
  return (_request, response, next) => {
    const { caller, version, operation } = response.locals;
    if (operation?.document) {
      const { schema } = bySlug.get(version!.slug)!.current();
      const fields = deprecatedFieldsOf(schema, operation.document);
      if (fields.length > 0) usage.noteDeprecated(caller!.credentialId, version!.slug, fields);
    }
    next();
  };
}
