import type { execute, GrafastExecutionArgs } from "postgraphile/grafast";
import type { ExecutionResult } from "postgraphile/graphql";
import { GraphQLError, isNonNullType } from "postgraphile/graphql";
import type { ErrorCode } from "../errors/api-error.ts";
import { databaseFailure } from "../errors/postgres-errors.ts";
import type { ReadStatement } from "./statements.ts";

type Answer = ReturnType<typeof execute>;

/** Counts of queries that one statement answered, and that Grafast answered, since the process began. */
export const readCounts = { sql: 0, grafast: 0 };

/** Answers a request with a statement, or with Grafast if that fails. Reads change nothing, so they can be repeated. */
export async function answerByStatement(
  statement: ReadStatement,
  args: GrafastExecutionArgs,
  answerByGrafast: () => Answer,
): Promise<Awaited<Answer>> {
  const { withPgClient, pgSettings, readFailure } = args.contextValue as Grafast.Context;
  const { text, name, values } = statement;
  let data: string | null;
  try {
    if (readFailure) throw readFailure;
    const { rows } = await withPgClient(pgSettings, (client) =>
      client.query<[string | null]>({ text, name, values, arrayMode: true }),
    );
    data = rows[0]![0];
  } catch (error) {
    if (isFinal(error, statement)) return createFailedResult(statement, args, error as Error);
    return answerByGrafast();
  }
  if (data === null) return answerByGrafast();
  readCounts.sql++;
  return { data: toData(data, args) };
}

/** Returns the data of a response. The library accepts text here, but its types don't. */
function toData(text: string, { outputDataAsString }: GrafastExecutionArgs): Record<string, unknown> {
  return (outputDataAsString ? text : JSON.parse(text)) as Record<string, unknown>;
}

const finalCodes = new Set<ErrorCode>([
  "QUERY_TIMEOUT",
  "QUERY_TOO_COMPLEX",
  "CONFLICT_RETRY",
  "SERVICE_UNAVAILABLE",
]);

/**
 * Whether Grafast must not try again. It would only make things worse if the time is up, Postgres can't be reached or the
 * response is too long. If there is too much to aggregate, Grafast would find out only after reading it.
 */
function isFinal(error: unknown, { fields }: ReadStatement): boolean {
  const code = databaseFailure(error)?.code;
  // With several fields, it isn't known which one reads too much
  const isTooBroad = code === "AGGREGATE_TOO_BROAD" || code === "SEARCH_TOO_BROAD";
  if (isTooBroad) return fields().size === 1;
  return code !== undefined && finalCodes.has(code);
}

/** Returns the response when nothing could be read. It equals Grafast's when each root field fails. */
function createFailedResult(
  { fields }: ReadStatement,
  args: GrafastExecutionArgs,
  originalError: Error,
): ExecutionResult {
  const types = args.schema.getQueryType()!.getFields();
  const requested = [...fields()].filter(([, { name }]) => name !== "__typename");
  const createError = ([key, { node }]: (typeof requested)[number]) =>
    new GraphQLError(originalError.message, { nodes: node, path: [key], originalError });
  const required = requested.find(([, { name }]) => isNonNullType(types[name]!.type));
  if (required) return { data: null, errors: [createError(required)] };
  const data = Object.fromEntries(
    [...fields()].map(([key, { name }]) => [key, name === "__typename" ? "Query" : null]),
  );
  return {
    data: toData(JSON.stringify(data), args),
    errors: requested.map(createError),
  };
}
