import type { ErrorRequestHandler, RequestHandler } from "express";
import type { Logger } from "pino";
import { z } from "zod";
import { errorCodeOf, databaseFailure } from "../errors/postgres-errors.ts";
import { UnreadableText } from "../lib/charset.ts";
import { html } from "../html/html.ts";
import { showPage } from "./show-page.ts";
import { badRequest, notFound, Problem } from "./problem.ts";
import { redirectToLogIn } from "./session.ts";
import { getVisit } from "./visit.ts";

/** Answers requests for unknown pages. */
export const refuseUnknownPage: RequestHandler = () => {
  throw notFound();
};

/** Shows an error page that reveals no internals. */
export function showProblem(logger: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.headersSent) return next(error);
    const code = errorCodeOf(error);
    // invalid_authorization_specification: the session ended during the request
    if (code === "28000") return redirectToLogIn(getVisit(response), true);
    const problem = toProblem(error, code);
    const { requestId } = response.locals;
    if (problem.status >= 500) logger.error({ requestId, err: error }, "a page of the administration failed");
    const { status, title, message } = problem;
    const body = html`
      <p class="lead">${message}</p>
      ${
        status === 409
          ? html`<p><a href="/admin${parentPath(getVisit(response).path)}">Go back</a></p>`
          : html`<p><a href="/admin">Go to the start page</a></p>`
      }
      <p class="quiet">Request ID <code>${requestId}</code></p>
    `;
    showPage(response, { status, title, body });
  };
}

/** Returns the path of the page that an action belongs to, such as `/webhooks/{id}`. */
const parentPath = (path: string): string => path.split("/").slice(0, 3).join("/");

/** The detail of an error that `mutation.refuse` raises: user errors, of which the first is shown. */
const refusals = z.tuple([z.object({ code: z.string(), message: z.string() })]).rest(z.unknown());

function toProblem(error: unknown, code: unknown): Problem {
  if (error instanceof Problem) return error;
  // no_data_found; for malformed ids: invalid_text_representation, character_not_in_repertoire
  if (code === "P0002" || code === "22P02" || code === "22021") return notFound();
  // Raised by mutation.refuse
  if (code === "UE001" && error instanceof Error && "detail" in error) {
    const [refusal] = refusals.parse(JSON.parse(String(error.detail)));
    return refusal.code === "NOT_FOUND"
      ? notFound()
      : new Problem(409, "This can’t be done", refusal.message);
  }
  if (error instanceof URIError || error instanceof UnreadableText) return badRequest();
  // Thrown by Express's body parser
  if (error instanceof Error && "type" in error && "status" in error) return badRequest(Number(error.status));
  if (databaseFailure(error))
    return new Problem(
      503,
      "The database can’t be reached",
      "Try again in a little while. If you were changing something, first check whether it was done.",
    );
  return new Problem(
    500,
    "Something went wrong",
    "The service has failed. Try again. If it happens again, give the request ID below to the operator of the service.",
  );
}
