import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { arrivalOf } from "./arrival.ts";

/** Node's request, with its body when that has been read. */
export interface Request extends IncomingMessage {
  body?: unknown;
}

/** Node's response, with the results of the middlewares. */
export interface Response extends ServerResponse {
  locals: Express.Locals;
}

export type Next = (error?: unknown) => void;

/**
 * Answers a request, or calls `next` to pass it on; `next` with an error ends the pipeline. It uses nothing of Express,
 * so it also fits into Express.
 */
export type Middleware = (request: Request, response: Response, next: Next) => void | Promise<void>;

/** Answers a request on which a middleware failed. It passes the error on when it can't answer any more. */
export type ErrorMiddleware = (error: unknown, request: Request, response: Response, next: Next) => void;

/**
 * Passes requests through middlewares one after the other; the last one answers all that reach it. It has no routes:
 * Express searches its routes at each request, which takes longer than most middlewares do.
 */
export function pipeline(middlewares: readonly Middleware[], onError: ErrorMiddleware): RequestListener {
  return (request, plainResponse) => {
    arrivalOf(request);
    const response = withLocals(plainResponse);
    let position = 0;
    const next: Next = (error) => {
      if (error) return onError(error, request, response, () => void response.destroy());
      try {
        middlewares[position++]!(request, response, next)?.catch(next);
      } catch (thrown) {
        next(thrown);
      }
    };
    next();
  };
}

function withLocals(plainResponse: ServerResponse): Response {
  const response = plainResponse as Response;
  // The first middleware sets the id of the request
  response.locals = {} as Express.Locals;
  return response;
}
