import type { Logger } from "pino";
import type { Middleware } from "../pipeline.ts";

/** What a request passes, in this order; the rest of its time is the answer's. */
export type Station = "rights" | "reading" | "limits";

declare global {
  namespace Express {
    interface Locals {
      /** When the request arrived, and passed each station, in milliseconds. Only while requests are logged. */
      passed?: [station: Station | "arrival", at: number][];
    }
  }
}

/** Logs a line for each request to the GraphQL endpoint when it has been answered, without a word of its client. */
export function logRequests(logger: Logger): { arrive: Middleware; pass: (station: Station) => Middleware } {
  return {
    arrive(_request, response, next) {
      const { locals } = response;
      const begun = performance.now();
      const passed: typeof locals.passed = (locals.passed = [["arrival", begun]]);
      response.once("close", () => {
        const { requestId, version, use, caller, operation, refusal } = locals;
        const { id, name } = use?.operation ?? {};
        logger.info(
          {
            ...{ requestId, version: version?.slug, operation: use && { id, name } },
            ...{ credentialId: caller?.credentialId, points: operation?.cost.requested },
            ...{ status: response.statusCode, code: refusal, milliseconds: millisecondsOf(passed) },
            // An answer that the client didn't wait for
            ...(response.writableFinished ? {} : { isCut: true }),
          },
          "answered an operation",
        );
      });
      next();
    },
    pass: (station) => (_request, response, next) => {
      response.locals.passed!.push([station, performance.now()]);
      next();
    },
  };
}

/** How long a request took at each station that it passed, for the answer, and in all. */
function millisecondsOf(passed: readonly (readonly [string, number])[]): Record<string, number> {
  const round = (ms: number) => Math.round(100 * ms) / 100;
  const end = performance.now();
  const spans = passed.map(([, at], index) => {
    const [station, until] = passed[index + 1] ?? ["answer", end];
    return [station, round(until - at)] as const;
  });
  return { ...Object.fromEntries(spans), all: round(end - passed[0]![1]) };
}
