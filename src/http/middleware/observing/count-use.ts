import { getOperationAST } from "postgraphile/graphql";
import type { OperationUses } from "../../../auth/operation-use.ts";
import { RequestUse } from "../../../auth/request-use.ts";
import type { Usage } from "../../../auth/usage.ts";
import { findDocumentFacts } from "../../../graphql/document-facts.ts";
import { findNamedOperation } from "../../../graphql/signature.ts";
import type { Middleware } from "../../pipeline.ts";

/** Counts the request for its API credential. */
export function countUse(usage: Usage): Middleware<"caller" | "served"> {
  return (_request, { locals: { caller, served } }, next) => {
    usage.note(caller.credentialId, served.version.slug);
    next();
  };
}

/** Notes the fields of an operation for its API credential, and counts the deprecated ones. */
export function countFields(usage: Usage): Middleware<"caller" | "operation" | "served"> {
  return (_request, { locals: { caller, operation, served } }, next) => {
    if (operation.document) {
      const { slug } = served.version;
      const { fields, deprecated } = findDocumentFacts(served.current().schema, operation.document);
      usage.fields.note(caller.credentialId, slug, fields);
      if (deprecated.length > 0) usage.noteDeprecated(caller.credentialId, slug, deprecated);
    }
    next();
  };
}

/** Names the operation for its SQL statements, and counts it for its API credential. */
export function nameOperation(
  operations: OperationUses,
): Middleware<"caller" | "execution" | "trace", "use"> {
  return (_request, { locals: { caller, execution, trace } }, next) => {
    const { schema, document, operationName } = execution;
    const named = findNamedOperation(schema, document, operationName);
    if (!named) return next({ use: undefined });
    trace?.beginOperation(named, getOperationAST(document, operationName)!.operation);
    next({ use: new RequestUse(operations.begin(named, caller.credentialId), trace) });
  };
}
