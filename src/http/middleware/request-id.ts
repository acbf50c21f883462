import { randomUUID } from "node:crypto";
import type { RequestHandler } from "express";
import type { Logger } from "pino";

declare global {
  namespace Express {
    interface Locals {
      /** The id of the request. */
      requestId: string;
      /** What the log says instead of the path, where a part of that must not be known. */
      loggedPath?: string;
    }
  }
}

const sane = /^[A-Za-z0-9._:/+=-]{1,128}$/;

/**
 * Gives the request an id, which its answer and its log lines carry: the client's own from `X-Request-Id`, when that
 * can't do harm in a log, else a fresh one.
 */
export function requestId(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const proposed = request.get("x-request-id");
    const id = proposed !== undefined && sane.test(proposed) ? proposed : randomUUID();
    response.locals.requestId = id;
    response.setHeader("x-request-id", id);
    if (logger.isLevelEnabled("debug")) {
      const start = performance.now();
      response.on("close", () => {
        const { method } = request;
        const path = response.locals.loggedPath ?? request.path;
        const milliseconds = Math.round(performance.now() - start);
        logger.debug({ requestId: id, method, path, status: response.statusCode, milliseconds }, "answered");
      });
    }
    next();
  };
}
