import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/** A request as Node has it, with its body when that has been read. */
export interface Request extends IncomingMessage {
  body?: unknown;
}

/** A response as Node has it, with what middlewares have found out about the request. */
export interface Response extends ServerResponse {
  locals: Express.Locals;
}

export type Next = (error?: unknown) => void;

/**
 * Answers a request, or calls `next` to have it passed on; with an error, which ends the way. It takes nothing of
 * Express, so it also fits into Express.
 */
export type Middleware = (request: Request, response: Response, next: Next) => void | Promise<void>;

/** Answers a request at which a middleware failed. It passes on what it can't answer any more. */
export type ErrorMiddleware = (error: unknown, request: Request, response: Response, next: Next) => void;

/**
 * Lets requests pass middlewares one after the other, the last of which answers whatever gets there. It has no routes:
 * Express looks for them at each request, which takes longer than most middlewares do.
 */
export function pipeline(middlewares: readonly Middleware[], onError: ErrorMiddleware): RequestListener {
  return (request, plainResponse) => {
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
