import type { GrafastExecutionArgs } from "postgraphile/grafast";
import { execute, hookArgs } from "postgraphile/grafast";
import type { ExecutionResult } from "postgraphile/graphql";
import { getOperationAST, GraphQLError, OperationTypeNode } from "postgraphile/graphql";
import type { ErrorScene } from "../errors/client-errors.ts";
import { clientError } from "../errors/client-errors.ts";
import type { ServiceContext } from "../graphql/context.ts";
import type { MutationLog } from "../graphql/mutation-log.ts";
import type { ServedVersion } from "./serve-version.ts";

/** A valid operation of a document, with its variables. */
export type Operation = Pick<GrafastExecutionArgs, "document" | "operationName" | "variableValues">;

export interface ExecuteOptions {
  /** Connections for the operation; by default, the version's. */
  withPgClient?: ServedVersion["withPgClient"];
  /** Whether to return the data as JSON text. */
  outputDataAsString?: boolean;
}

/**
 * Executes an operation in a version: a query by one SQL statement if possible, everything else by Grafast. Its errors are
 * ready for clients: they have a code and the id of the request, and reveal nothing that clients must not see.
 */
export async function executeIn(
  served: ServedVersion,
  operation: Operation,
  context: ServiceContext,
  scene: ErrorScene,
  { withPgClient = served.withPgClient, outputDataAsString = false }: ExecuteOptions = {},
): Promise<ExecutionResult> {
  const reported = (error: unknown) => reportError(error, operation, context, scene);
  try {
    const { schema, resolvedPreset } = served.current();
    const args = await hookArgs({
      schema,
      resolvedPreset,
      document: operation.document,
      operationName: operation.operationName,
      variableValues: operation.variableValues,
      rootValue: null,
      contextValue: {},
      requestContext: {},
      outputDataAsString,
    });
    Object.assign(args.contextValue, context, withPgClient && { withPgClient });
    const result = (await execute(args)) as ExecutionResult;
    return result.errors ? { ...result, errors: result.errors.map(reported) } : result;
  } catch (error) {
    return { errors: [reported(error)] };
  }
}

/** Returns the error for the client, which depends on whether a mutation has been committed. */
function reportError(
  error: unknown,
  { document, operationName }: Operation,
  { mutationLog }: ServiceContext,
  scene: ErrorScene,
): GraphQLError {
  const reported = clientError(error, scene);
  if (getOperationAST(document, operationName)?.operation !== OperationTypeNode.MUTATION || !mutationLog)
    return reported;
  const { path } = reported;
  const cause = error instanceof GraphQLError ? error.originalError : error;
  const isAfterCommit = path ? path.length > 1 || mutationLog.isUnreadable(cause) : mutationLog.isAnyDone;
  if (isAfterCommit) return payloadUnavailable(reported, mutationLog);
  // A retry would do the operation's other mutations again
  return mutationLog.isRepeatable
    ? reported
    : withExtensions(reported, reported.message, { retryable: false });
}

/** Codes whose messages advise to repeat the request, although a mutation has been committed. */
const retryCodes = new Set<unknown>(["QUERY_TIMEOUT", "CONFLICT_RETRY", "SERVICE_UNAVAILABLE"]);

/** Returns the error for a payload that couldn't be read. The mutation itself has been committed. */
function payloadUnavailable(error: GraphQLError, { isRepeatable }: MutationLog): GraphQLError {
  const { code, retryable } = error.extensions;
  const advice = isRepeatable
    ? "Its idempotencyKey makes it safe to send again."
    : "Query what you need; sending it again would do it once more.";
  const reason = retryCodes.has(code) ? `${code as string}.` : error.message;
  const message = `The mutation was done, but its payload can't be read: ${reason} ${advice}`;
  return withExtensions(error, message, {
    code: "PAYLOAD_UNAVAILABLE",
    retryable: isRepeatable && retryable === true,
    cause: code,
  });
}

function withExtensions(error: GraphQLError, message: string, more: Record<string, unknown>): GraphQLError {
  const { nodes, source, positions, path, extensions } = error;
  return new GraphQLError(message, {
    nodes,
    source,
    positions,
    path,
    extensions: { ...extensions, ...more },
  });
}
