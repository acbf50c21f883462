import type { Logger } from "pino";
import { stringifyPayload } from "postgraphile/grafast";
import { getVariableValues } from "postgraphile/graphql";
import type { ServiceContext } from "../../../graphql/context.ts";
import { MutationLog } from "../../../graphql/mutation-log.ts";
import { findOperation } from "../../../graphql/operation.ts";
import { quickJsonLength } from "../../../lib/json-size.ts";
import { contextFor } from "../../../versions/context.ts";
import { executeIn } from "../../../versions/execute.ts";
import { refuse, refusalStatus } from "../../answers.ts";
import type { Execution } from "../../locals.ts";
import { noteArrival } from "../../pipeline.ts";
import type { Middleware, Request, Response } from "../../pipeline.ts";
import type { UnreadResponses } from "../limits/unread-answers.ts";
import { buildExtensions, sendResponse } from "./send-data.ts";

type Needed = "caller" | "execution" | "locale" | "noteWrite" | "operation" | "served" | "use";

/** Executes the operation in the requested version, and sends the response. */
export function executeOperation(logger: Logger, unread: UnreadResponses): Middleware<Needed> {
  return async (request, response) => {
    const { locals } = response;
    const { execution, requestId, served, use } = locals;
    const fault = checkLongVariables(request, execution);
    if (fault !== null) return refuse(request, response, refusalStatus(request), "BAD_USER_INPUT", fault);
    const errorContext = { requestId, logger, logged: use?.logged };
    const asText = { outputDataAsString: true };
    const result = await executeIn(served, execution, createContext(request, response), errorContext, asText);
    locals.failure ??= result.errors?.[0]?.extensions.code as string | undefined;
    if (response.closed) return;
    const status = result.errors && result.data === undefined ? refusalStatus(request) : 200;
    const extensions = { ...result.extensions, ...buildExtensions(locals) };
    const body = stringifyPayload({ ...result, extensions } as never, true);
    sendResponse(request, response, status, body, unread);
  };
}

/** Creates the context of a request's operation. */
function createContext(request: Request, response: Response<Needed>): ServiceContext {
  const { caller, locale, mutationOutcome, noteWrite, readFailure, requestId, served, use } = response.locals;
  const { version, writing } = served;
  const context = contextFor(caller, requestId, locale, use, use?.trace?.traceparent);
  return {
    ...context,
    pgSettings: { ...context.pgSettings, ...writing.settings },
    arrivedAt: noteArrival(request),
    readFailure,
    mutationLog: new MutationLog(),
    mutationOutcome,
    mutationTimeoutMs: writing.timeoutMs,
    mutationChecks: writing.checks,
    newSecret: writing.newSecret,
    noteWrite,
    // `unstable` shows developers the executor
    onRead: version.kind === "floating" ? (executor) => response.setHeader("x-read-by", executor) : undefined,
  };
}

/**
 * Returns the first error of the variables in a long body; null when they are valid, or the body is short. Grafast would
 * report fifty, each with the whole value: a quarter of a second for an object with 9,000 unknown fields.
 */
function checkLongVariables(
  { headers }: Request,
  { schema, document, operationName, variableValues }: Execution,
): string | null {
  if (Number(headers["content-length"]) < quickJsonLength) return null;
  const { operation } = findOperation(document, operationName);
  const { errors } = getVariableValues(schema, operation?.variableDefinitions ?? [], variableValues ?? {}, {
    maxErrors: 1,
  });
  return errors?.[0]?.message ?? null;
}
