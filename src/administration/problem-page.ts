import type { ErrorRequestHandler, RequestHandler } from "express";
import type { Logger } from "pino";
import { databaseFailure } from "../errors/postgres-errors.ts";
import { UnreadableText } from "../lib/charset.ts";
import { html } from "../html/html.ts";
import { showPage } from "./show-page.ts";
import { missing, Problem } from "./problem.ts";
import type { ProblemKind } from "./problem.ts";
import { sendToLogIn } from "./session.ts";

const texts: Record<ProblemKind, { title: string; text: string }> = {
  form: {
    title: "This form can’t be accepted",
    text: "It was not sent by a page of your present session. Nothing was changed. Open the page again, and send the form from there. Your browser must accept cookies from this address.",
  },
  missing: {
    title: "There is nothing here",
    text: "The address is wrong, or what it belonged to has been deleted.",
  },
  malformed: {
    title: "This can’t be read",
    text: "The browser sent something that this page doesn’t accept.",
  },
  "too-many": { title: "Too many attempts", text: "Wait a while before you try again." },
  unavailable: {
    title: "The database can’t be reached",
    text: "Try again in a little while. If you were changing something, first check whether it was done.",
  },
  fault: {
    title: "Something went wrong",
    text: "The fault is ours. Try again. If it happens again, tell the operator of the service, with the request id below.",
  },
};

/** Answers requests for unknown pages. */
export const noPage: RequestHandler = () => {
  throw missing();
};

/** Shows what went wrong, without internals. */
export function showProblem(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // invalid_authorization_specification: the session ended during the request
    if (code === "28000") return sendToLogIn(request, response, true);
    const problem = problemOf(error, code);
    const { requestId } = response.locals;
    if (problem.status >= 500) logger.error({ requestId, err: error }, "a page of the administration failed");
    const { title, text } = texts[problem.kind];
    const body = html`
      <p class="lead">${text}</p>
      <p><a href="/admin">Go to the start page</a></p>
      <p class="quiet">Request id <code>${requestId}</code></p>
    `;
    showPage(response, { status: problem.status, title, body });
  };
}

function problemOf(error: unknown, code: unknown): Problem {
  if (error instanceof Problem) return error;
  if (code === "P0002") return missing(); // no_data_found
  if (error instanceof URIError || error instanceof UnreadableText) return new Problem(400, "malformed");
  // By Express's body parser
  if (error instanceof Error && "type" in error && "status" in error)
    return new Problem(Number(error.status), "malformed");
  return databaseFailure(error) ? new Problem(503, "unavailable") : new Problem(500, "fault");
}
