import type { Logger } from "pino";
import { refuse, sendErrors } from "../answers.ts";
import { clientError } from "../../errors/client-errors.ts";
import type { ErrorMiddleware, Middleware } from "../pipeline.ts";

/** Answers requests that no middleware took. */
export const notFound: Middleware = (request, response) => {
  refuse(
    request,
    response,
    404,
    "BAD_USER_INPUT",
    "There is nothing at this address. GET /api/versions lists where the API is.",
  );
};

/** Answers requests on which a middleware failed, without the reason. */
export function unexpectedError(logger: Logger): ErrorMiddleware {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    // By the router: a path that can't be decoded
    if (error instanceof URIError)
      return refuse(request, response, 400, "BAD_USER_INPUT", "The address is malformed.");
    const { requestId } = response.locals;
    const told = clientError(error, { requestId, logger });
    const isBusy = told.extensions.code === "SERVICE_UNAVAILABLE";
    if (isBusy) response.setHeader("retry-after", "1");
    sendErrors(request, response, isBusy ? 503 : 500, [told]);
  };
}
