import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Middleware } from "../pipeline.ts";

declare global {
  namespace Express {
    interface Locals {
      /** The id of the request. */
      requestId: string;
      /** What the log contains instead of the path, if a part of that is secret. */
      loggedPath?: string;
    }
  }
}

const sane = /^[A-Za-z0-9._:/+=-]{1,128}$/;

/**
 * Gives the request an id, for its answer and its log lines: the client's own from `X-Request-Id`, if that is harmless
 * in a log, or else a new one.
 */
export function requestId(logger: Logger): Middleware {
  return (request, response, next) => {
    const proposed = request.headers["x-request-id"] as string | undefined;
    const id = proposed !== undefined && sane.test(proposed) ? proposed : randomUUID();
    response.locals.requestId = id;
    response.setHeader("x-request-id", id);
    if (logger.isLevelEnabled("debug")) {
      const start = performance.now();
      const { method, url = "" } = request;
      const [address] = url.split("?", 1);
      response.on("close", () => {
        const path = response.locals.loggedPath ?? address;
        const milliseconds = Math.round(performance.now() - start);
        logger.debug({ requestId: id, method, path, status: response.statusCode, milliseconds }, "answered");
      });
    }
    next();
  };
}
