import type { DocumentNode, GraphQLError } from "postgraphile/graphql";
import { getOperationAST, OperationTypeNode } from "postgraphile/graphql";
import { apiError } from "../../errors/api-error.ts";
import { graphqlBodyOf } from "./read-graphql-body.ts";
import { sendErrors, statusOfRefusal } from "../answers.ts";
import { completed } from "../../errors/client-errors.ts";
import type { MerchantPlanName } from "../../auth/merchant-plan.ts";
import type { Meter } from "../../auth/rate-limits/meter.ts";
import type { ServedVersion } from "../../versions/serve-version.ts";
import { assess } from "../../graphql/assess.ts";
import { scopeRefusal } from "../../graphql/missing-scopes.ts";
import type { DocumentReading } from "../../graphql/documents.ts";
import type { SchemaWork } from "../../graphql/schema-thread.ts";
import { refuseTurn } from "../no-turn.ts";
import type { Request, Middleware, Response } from "../pipeline.ts";

/** The requested operation, or why it is refused. */
export interface ParsedOperation {
  /** The valid document, the same object for the same text; null when the text is invalid. */
  document: DocumentNode | null;
  refusals: readonly GraphQLError[];
  /** In points; shown in the answer's extensions. */
  cost: { requested: number; maximum: number };
}

declare global {
  namespace Express {
    interface Locals {
      /** The requested operation. */
      operation?: ParsedOperation;
    }
  }
}

/** Cost of reading a document that is then refused, in points. */
const costOfRefusal = 10;

/**
 * Reads the operation of a request, and finds out whether it is invalid, exceeds a limit, or is a mutation while the
 * plan is read-only. So far nothing has been planned or sent to the database.
 */
export function readOperation(
  served: readonly ServedVersion[],
  meter: Meter,
  thread: SchemaWork,
): Middleware {
  const bySlug = new Map(served.map((version) => [version.version.slug, version]));
  return (request, response, next) => {
    const { caller, version, merchantPlan } = response.locals;
    const { credentialId } = caller!;
    const { documents } = bySlug.get(version!.slug)!.current();
    const start = performance.now();
    const reading = documents.readFairly(
      graphqlBodyOf(request).query,
      merchantPlan!.limits,
      (schema, text, limits) => thread.check(credentialId, schema, text, limits),
    );
    meter.used(credentialId, performance.now() - start);
    const goOn = (found: DocumentReading) => {
      noteOperation(request, response, bySlug, found);
      next();
    };
    if (reading instanceof Promise) reading.then(goOn).catch(refuseTurn(request, response, next));
    else goOn(reading);
  };
}

/** Notes the requested operation and its cost. */
function noteOperation(
  request: Request,
  { locals }: Response,
  bySlug: ReadonlyMap<string, ServedVersion>,
  reading: DocumentReading,
): void {
  const { operationName, variables } = graphqlBodyOf(request);
  const { name, limits } = locals.merchantPlan!;
  const { document = null, errors } = { document: undefined, ...reading };
  const operation: ParsedOperation = {
    document,
    refusals: errors ?? [],
    cost: { requested: costOfRefusal, maximum: limits.cost },
  };
  if (document) {
    const { schema } = bySlug.get(locals.version!.slug)!.current();
    const { cost, refusal: excess } = assess(schema, document, operationName, variables ?? {}, limits);
    const refusal = excess ?? refusalByMerchantPlan(document, operationName, name);
    if (refusal) operation.refusals = [refusal];
    else operation.cost.requested = cost;
  }
  locals.operation = operation;
}

function refusalByMerchantPlan(
  document: DocumentNode,
  name: string | null | undefined,
  plan: MerchantPlanName,
): GraphQLError | null {
  if (plan === "full" || getOperationAST(document, name)?.operation !== OperationTypeNode.MUTATION)
    return null;
  return apiError("FORBIDDEN", "The merchant's plan allows queries only, no mutations.");
}

/** Answers refused operations as GraphQL over HTTP demands: with 200 or 400, by the media type. */
export const refuseOperation: Middleware = (request, response, next) => {
  const { refusals } = response.locals.operation!;
  if (refusals.length === 0) return next();
  answerRefusals(request, response, refusals);
};

/** Refuses operations for which the token lacks scopes. Nothing of them has been planned or executed. */
export function refuseMissingScopes(served: readonly ServedVersion[]): Middleware {
  const bySlug = new Map(served.map((version) => [version.version.slug, version]));
  return (request, response, next) => {
    const { version, operation, caller } = response.locals;
    const { schema } = bySlug.get(version!.slug)!.current();
    const { operationName, variables: variableValues } = graphqlBodyOf(request);
    const document = operation!.document!;
    const refusal = scopeRefusal({
      ...{ schema, document, operationName, variableValues },
      contextValue: { scopes: caller!.scopes },
    });
    if (!refusal) return next();
    answerRefusals(request, response, [refusal]);
  };
}

function answerRefusals(request: Request, response: Response, refusals: readonly GraphQLError[]): void {
  const { operation, requestId } = response.locals;
  const errors = refusals.map((error) => completed(error, requestId));
  sendErrors(request, response, statusOfRefusal(request), errors, { cost: operation!.cost });
}
