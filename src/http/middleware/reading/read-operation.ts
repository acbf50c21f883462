import type { DocumentNode, GraphQLError } from "postgraphile/graphql";
import { getOperationAST, OperationTypeNode } from "postgraphile/graphql";
import type { MerchantPlanName } from "../../../auth/merchant-plan.ts";
import type { Meter } from "../../../auth/rate-limits/meter.ts";
import { apiError } from "../../../errors/api-error.ts";
import { completeError } from "../../../errors/client-errors.ts";
import { assess } from "../../../graphql/assess.ts";
import type { DocumentReading } from "../../../graphql/documents.ts";
import { scopeRefusal } from "../../../graphql/missing-scopes.ts";
import type { SchemaWork } from "../../../graphql/schema-thread.ts";
import { sendErrors, refusalStatus } from "../../answers.ts";
import type { Locals, ParsedOperation } from "../../locals.ts";
import type { Middleware, Request, Response } from "../../pipeline.ts";
import { refuseTurn } from "../limits/turns.ts";

/** The cost in points of reading a document that is then refused. */
const costOfRefusal = 10;

type Needed = "body" | "caller" | "merchantPlan" | "served";

/**
 * Reads the operation of a request, and checks whether it is invalid, exceeds a limit, or is a mutation while the plan is
 * read-only. Nothing is planned or sent to the database yet.
 */
export function readOperation(meter: Meter, thread: SchemaWork): Middleware<Needed, "operation"> {
  return (request, response, next) => {
    const { locals } = response;
    const { credentialId } = locals.caller;
    const { documents } = locals.served.current();
    const start = performance.now();
    const reading = documents.readFairly(
      locals.body.query,
      locals.merchantPlan.limits,
      (schema, text, limits) => thread.check(credentialId, schema, text, limits),
    );
    meter.used(credentialId, performance.now() - start);
    const goOn = (found: DocumentReading) => next({ operation: assessOperation(found, locals) });
    if (reading instanceof Promise) return reading.then(goOn, refuseTurn(request, response));
    goOn(reading);
  };
}

/** Returns the operation in a document, with its cost. */
function assessOperation(
  reading: DocumentReading,
  { body, merchantPlan, served }: Locals<Needed>,
): ParsedOperation {
  const { name, limits } = merchantPlan;
  const costOf = (requested: number) => ({ requested, maximum: limits.cost });
  if (reading.errors) return { document: null, refusals: reading.errors, cost: costOf(costOfRefusal) };
  const { document } = reading;
  const { operationName, variables } = body;
  const { schema } = served.current();
  const { cost, refusal: excess } = assess(schema, document, operationName, variables ?? {}, limits);
  const refusal = excess ?? checkMerchantPlan(document, operationName, name);
  if (refusal) return { document, refusals: [refusal], cost: costOf(costOfRefusal) };
  return { document, refusals: [], cost: costOf(cost) };
}

function checkMerchantPlan(
  document: DocumentNode,
  name: string | null | undefined,
  plan: MerchantPlanName,
): GraphQLError | null {
  if (plan === "full" || getOperationAST(document, name)?.operation !== OperationTypeNode.MUTATION)
    return null;
  return apiError("FORBIDDEN", "The merchant's plan allows queries only, no mutations.");
}

/** Responds to refused operations as GraphQL over HTTP requires: with 200 or 400, depending on the media type. */
export const refuseOperation: Middleware<"body" | "caller" | "operation" | "served", "execution"> = (
  request,
  response,
  next,
) => {
  const { body, caller, operation, served } = response.locals;
  const { document, refusals } = operation;
  if (document === null || refusals.length > 0) return sendRefusals(request, response, refusals);
  const execution = {
    schema: served.current().schema,
    document,
    operationName: body.operationName,
    variableValues: body.variables,
    contextValue: { scopes: caller.scopes },
  };
  next({ execution });
};

/** Refuses operations for which the access token lacks scopes, before anything is planned or executed. */
export const refuseMissingScopes: Middleware<"execution" | "operation"> = (request, response, next) => {
  const refusal = scopeRefusal(response.locals.execution);
  if (!refusal) return next();
  sendRefusals(request, response, [refusal]);
};

function sendRefusals(
  request: Request,
  response: Response<"operation">,
  refusals: readonly GraphQLError[],
): void {
  const { operation, requestId } = response.locals;
  const errors = refusals.map((error) => completeError(error, requestId));
  sendErrors(request, response, refusalStatus(request), errors, { cost: operation.cost });
}
