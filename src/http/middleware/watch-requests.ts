import type { Logger } from "pino";
import type { RequestTrace, Tracing } from "../../tracing/tracing.ts";
import { eventStream } from "../http-server.ts";
import type { Metrics } from "../metrics.ts";
import type { Middleware, Response } from "../pipeline.ts";

/** What a request passes, in this order; the rest of its time is the answer's. */
export type Stage = "rights" | "reading" | "limits";

declare global {
  namespace Express {
    interface Locals {
      /** When the request arrived, and passed each stage, in milliseconds. */
      passed?: [stage: Stage | "arrival", at: number][];
      /** Its spans; null when it isn't traced. */
      trace?: RequestTrace | null;
    }
  }
}

export interface WatchOptions {
  logger: Logger;
  metrics: Metrics;
  tracing: Tracing | null;
  /** Whether to log every request, and milliseconds from which to log one anyway. */
  logRequests: boolean;
  slowMs: number;
}

/** Characters of a statement that the log shows. */
const maxStatement = 20_000;

/**
 * Follows each request to the GraphQL endpoint until it has been answered: counts it, ends its trace, and logs a line, with
 * the slowest statement if it took long. The line has no word of its client.
 */
export function watchRequests({ logger, metrics, tracing, logRequests, slowMs }: WatchOptions): {
  arrive: Middleware;
  pass: (stage: Stage) => Middleware;
} {
  return {
    arrive(request, response, next) {
      const { locals } = response;
      const begun = performance.now();
      locals.passed = [["arrival", begun]];
      if (tracing) locals.trace = tracing.request(request.headers, request.method!, "/api/graphql/:version");
      response.once("close", () => {
        const { version, use, operation, trace, requestId, caller } = locals;
        const isStream = response.getHeader("content-type") === eventStream;
        const ms = performance.now() - begun;
        const [status, code, points] = [response.statusCode, codeOf(response), operation?.cost.requested];
        const isStored = locals.isStored === true;
        metrics.count({
          version: version?.slug,
          status,
          code,
          points,
          ms: isStream ? null : ms,
          use,
          isStored,
        });
        trace?.end({ status, requestId, credentialId: caller?.credentialId, points, code });
        const isSlow = ms >= slowMs && !isStream;
        if (isSlow) logger.warn({ ...lineOf(response), slowest: slowestOf(response) }, "a request was slow");
        else if (logRequests) logger.info(lineOf(response), "answered an operation");
      });
      next();
    },
    pass: (stage) => (_request, response, next) => {
      response.locals.passed!.push([stage, performance.now()]);
      next();
    },
  };
}

/** Traces requests that no operation comes with. @param route see {@link Tracing.request} */
export function traceRequests(tracing: Tracing | null, route: string): Middleware {
  return ({ headers, method }, response, next) => {
    const { locals } = response;
    const trace = (locals.trace = tracing?.request(headers, method!, route) ?? null);
    response.once("close", () => {
      const { requestId, caller } = locals;
      const [status, code] = [response.statusCode, codeOf(response)];
      trace?.end({ status, requestId, credentialId: caller?.credentialId, points: undefined, code });
    });
    next();
  };
}

/** The code of the answer's first error. */
const codeOf = ({ locals: { refusal, failure } }: Response): string | undefined => refusal ?? failure;

/** What the log says of a request. */
function lineOf(response: Response) {
  const { requestId, version, use, caller, operation, trace, passed } = response.locals;
  const { id, name } = use?.of.operation ?? {};
  return {
    ...{ requestId, version: version?.slug, operation: use && { id, name } },
    ...{ credentialId: caller?.credentialId, points: operation?.cost.requested },
    ...{ status: response.statusCode, code: codeOf(response), milliseconds: millisecondsOf(passed!) },
    statements: use && { count: use.statements, rows: use.rows, milliseconds: round(use.ms) },
    ...(trace && { traceId: trace.traceId }),
    // An answer that the client didn't wait for
    ...(response.writableFinished ? {} : { isCut: true }),
  };
}

/** The slowest statement of a request, with parameters instead of values. */
function slowestOf({ locals: { use } }: Response) {
  if (!use?.slowest) return undefined;
  const { text, ms, rows } = use.slowest;
  return { milliseconds: round(ms), rows, sql: text.slice(0, maxStatement) };
}

/** How long a request took at each stage that it passed, for the answer, and in all. */
function millisecondsOf(passed: readonly (readonly [string, number])[]): Record<string, number> {
  const end = performance.now();
  const spans = passed.map(([, at], index) => {
    const [stage, until] = passed[index + 1] ?? ["answer", end];
    return [stage, round(until - at)] as const;
  });
  return { ...Object.fromEntries(spans), all: round(end - passed[0]![1]) };
}

const round = (ms: number) => Math.round(100 * ms) / 100;
