import type { OperationUse, OperationUses } from "../../auth/operation-use.ts";
import { namedOperationOf } from "../../graphql/signature.ts";
import type { ServedVersion } from "../../versions/serve-version.ts";
import type { Middleware } from "../pipeline.ts";
import { graphqlBodyOf } from "./read-graphql-body.ts";

declare global {
  namespace Express {
    interface Locals {
      /** The operation, as statements, the log and statistics name it. */
      use?: OperationUse;
    }
  }
}

/** Names the operation for its statements, and counts it for its credential. */
export function nameOperation(operations: OperationUses, served: readonly ServedVersion[]): Middleware {
  const bySlug = new Map(served.map((version) => [version.version.slug, version]));
  return (request, response, next) => {
    const { locals } = response;
    const { schema } = bySlug.get(locals.version!.slug)!.current();
    const named = namedOperationOf(schema, locals.operation!.document!, graphqlBodyOf(request).operationName);
    if (named) locals.use = operations.begin(named, locals.caller!.credentialId);
    next();
  };
}
