import { getOperationAST } from "postgraphile/graphql";
import type { OperationUses } from "../../auth/operation-use.ts";
import { RequestUse } from "../../auth/request-use.ts";
import { namedOperationOf } from "../../graphql/signature.ts";
import type { ServedVersion } from "../../versions/serve-version.ts";
import type { Middleware } from "../pipeline.ts";
import { graphqlBodyOf } from "./read-graphql-body.ts";

declare global {
  namespace Express {
    interface Locals {
      /** The operation, as statements, the log and statistics name it. */
      use?: RequestUse;
    }
  }
}

/** Names the operation for its statements, and counts it for its credential. */
export function nameOperation(operations: OperationUses, served: readonly ServedVersion[]): Middleware {
  const bySlug = new Map(served.map((version) => [version.version.slug, version]));
  return (request, response, next) => {
    const { locals } = response;
    const { schema } = bySlug.get(locals.version!.slug)!.current();
    const document = locals.operation!.document!;
    const { operationName } = graphqlBodyOf(request);
    const named = namedOperationOf(schema, document, operationName);
    if (named) {
      const { trace = null } = locals;
      locals.use = new RequestUse(operations.begin(named, locals.caller!.credentialId), trace);
      trace?.operation(named, getOperationAST(document, operationName)!.operation);
    }
    next();
  };
}
