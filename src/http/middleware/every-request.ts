import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { clientError } from "../../errors/client-errors.ts";
import { refuse, sendErrors } from "../answers.ts";
import type { ErrorHandler, Middleware } from "../pipeline.ts";

const safeId = /^[A-Za-z0-9._:/+=-]{1,128}$/;

/**
 * Gives the request an id, for its response and its log lines: the client's own from `X-Request-Id`, if that is harmless
 * in a log, or else a new one.
 */
export function requestId(logger: Logger): Middleware {
  return (request, response, next) => {
    const proposed = request.headers["x-request-id"] as string | undefined;
    const id = proposed !== undefined && safeId.test(proposed) ? proposed : randomUUID();
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

/** Tells browsers not to guess the type of responses, and not to show them in frames. */
export const securityHeaders: Middleware = (_request, response, next) => {
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("referrer-policy", "no-referrer");
  response.setHeader("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  next();
};

/**
 * Refuses requests with more than one `Host` header, as RFC 9112 §3.2 demands: a proxy may have used another one than the
 * service does.
 */
export const requireOneHost: Middleware = (request, response, next) => {
  const { rawHeaders } = request;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === "host") hosts++;
  if (hosts <= 1) return next();
  refuse(request, response, 400, "BAD_USER_INPUT", "The request has more than one Host header.");
};

/** Responds to requests that no other middleware handled. */
export const notFound: Middleware = (request, response) => {
  const message = "There is nothing at this address. GET /api/versions lists the API's endpoints.";
  refuse(request, response, 404, "BAD_USER_INPUT", message);
};

/** Responds to requests on which a middleware failed, without the reason. */
export function unexpectedError(logger: Logger): ErrorHandler {
  return (error, request, response) => {
    if (response.headersSent) return void response.destroy();
    // Thrown by the router for a path that can't be decoded
    if (error instanceof URIError)
      return refuse(request, response, 400, "BAD_USER_INPUT", "The address is malformed.");
    const { requestId } = response.locals;
    const shown = clientError(error, { requestId, logger });
    const isBusy = shown.extensions.code === "SERVICE_UNAVAILABLE";
    if (isBusy) response.setHeader("retry-after", "1");
    sendErrors(request, response, isBusy ? 503 : 500, [shown]);
  };
}
