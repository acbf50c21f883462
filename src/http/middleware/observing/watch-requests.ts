import type { Logger } from "pino";
import type { RequestUse } from "../../../auth/request-use.ts";
import type { Tracing } from "../../../tracing/tracing.ts";
import { eventStream } from "../../http-server.ts";
import type { Facts, Stage } from "../../locals.ts";
import type { Metrics } from "../../metrics.ts";
import type { Middleware, Response } from "../../pipeline.ts";

export interface WatchOptions {
  logger: Logger;
  metrics: Metrics;
  tracing: Tracing | null;
  /** Whether to log every request, and the milliseconds from which to log one in any case. */
  logRequests: boolean;
  slowMs: number;
}

/** The maximum number of characters of a statement in the log. */
const maxStatement = 20_000;

/**
 * Follows each request to the GraphQL endpoint until its response has ended: counts it, ends its trace, and logs a line,
 * with the slowest statement if it took long. The line has no query text and no values.
 */
export function watchRequests(options: WatchOptions): Middleware<never, "passed" | "trace"> {
  const { logger, metrics, tracing, logRequests, slowMs } = options;
  return (request, response, next) => {
    const { locals } = response;
    const begun = performance.now();
    const passed: Facts["passed"] = [["arrival", begun]];
    const trace = tracing?.beginRequest(request.headers, request.method!, "/api/graphql/:version") ?? null;
    response.once("close", () => {
      const { served, use, isStored = false } = locals;
      const isStream = response.getHeader("content-type") === eventStream;
      const ms = performance.now() - begun;
      const end = describeEnd(response);
      const { status, code, points } = end;
      const version = served?.version.slug;
      metrics.count({ version, status, code, points, ms: isStream ? null : ms, use, isStored });
      trace?.end(end);
      if (ms >= slowMs && !isStream)
        logger.warn(
          { ...formatLogLine(response, passed), slowest: describeSlowest(use) },
          "a request was slow",
        );
      else if (logRequests) logger.info(formatLogLine(response, passed), "answered an operation");
    });
    next({ passed, trace });
  };
}

/** Returns a middleware that notes when a request has passed a stage. */
export const noteStage =
  (stage: Stage): Middleware<"passed"> =>
  (_request, response, next) => {
    response.locals.passed.push([stage, performance.now()]);
    next();
  };

/** Traces requests that aren't operations. @param route see {@link Tracing.beginRequest} */
export function traceRequests(tracing: Tracing | null, route: string): Middleware<never, "trace"> {
  return ({ headers, method }, response, next) => {
    const trace = tracing?.beginRequest(headers, method!, route) ?? null;
    response.once("close", () => trace?.end(describeEnd(response)));
    next({ trace });
  };
}

/** Returns how a request ended. */
function describeEnd(response: Response) {
  const { requestId, caller, operation, refusal, failure } = response.locals;
  const [status, points] = [response.statusCode, operation?.cost.requested];
  // The code of the first error
  return { status, requestId, credentialId: caller?.credentialId, points, code: refusal ?? failure };
}

/** Returns the log line of a request. */
function formatLogLine(response: Response, passed: Facts["passed"]) {
  const { served, use, trace } = response.locals;
  const { requestId, credentialId, points, status, code } = describeEnd(response);
  const { id, name } = use?.operationUse.operation ?? {};
  return {
    requestId,
    version: served?.version.slug,
    operation: use && { id, name },
    credentialId,
    points,
    status,
    code,
    milliseconds: measureStages(passed),
    statements: use && { count: use.statements, rows: use.rows, milliseconds: round(use.ms) },
    ...(trace && { traceId: trace.traceId }),
    // The client closed the connection before the end of the response
    ...(response.writableFinished ? {} : { isCut: true }),
  };
}

/** Returns the slowest statement of a request, with parameters instead of values. */
function describeSlowest(use: RequestUse | undefined) {
  if (!use?.slowest) return undefined;
  const { text, ms, rows } = use.slowest;
  return { milliseconds: round(ms), rows, sql: text.slice(0, maxStatement) };
}

/** Returns how long a request took for each stage, for the response, and in total. */
function measureStages(passed: Facts["passed"]): Record<string, number> {
  const end = performance.now();
  const spans = passed.map(([, at], index) => {
    const [stage, until] = passed[index + 1] ?? ["answer", end];
    return [stage, round(until - at)] as const;
  });
  return { ...Object.fromEntries(spans), all: round(end - passed[0]![1]) };
}

const round = (ms: number) => Math.round(100 * ms) / 100;
