import { isSafeError } from "postgraphile/grafast";
import { GraphQLError } from "postgraphile/graphql";
import type { Logger } from "pino";
import type { ErrorCode } from "./api-error.ts";
import { apiError, errorCodes, isApiError } from "./api-error.ts";
import { logOutage } from "./outages.ts";
import { databaseFailure, isPermanent } from "./postgres-errors.ts";

/** The request of an error, and the log for its cause. */
export interface ErrorScene {
  requestId: string;
  logger: Logger;
  /** Further fields of the log line. */
  logFields?: object | undefined;
}

/**
 * Turns any thrown value into an error for the client: one of our codes, the request's id, and whether repeating can
 * help. The cause of an error that isn't the client's is logged under the same id.
 */
export function clientError(error: unknown, scene: ErrorScene): GraphQLError {
  return completeError(translate(error, scene), scene.requestId);
}

/** Adds the extensions that every error has to an error of `apiError`. */
export function completeError(error: GraphQLError, requestId: string): GraphQLError {
  const { code, ...others } = error.extensions as { code: ErrorCode };
  const extensions = { code, requestId, retryable: errorCodes[code].retryable, ...others };
  return new GraphQLError(shorten(error.message), { ...errorPlace(error), extensions });
}

/** Maximum characters of a message. Some messages repeat input, which may be as long as a request body. */
const maxMessage = 1_000;

const shorten = (message: string): string =>
  message.length <= maxMessage ? message : `${message.slice(0, maxMessage).toWellFormed()}…`;

function translate(error: unknown, { requestId, logger, logFields: logged }: ErrorScene): GraphQLError {
  if (isApiError(error)) return error;
  const place: ReturnType<typeof errorPlace> | undefined =
    error instanceof GraphQLError ? errorPlace(error) : undefined;
  const cause = error instanceof GraphQLError && error.originalError ? error.originalError : error;
  if (isApiError(cause)) return apiError(cause.extensions.code, cause.message, withoutCode(cause), place);
  if (cause instanceof Error && isSafeError(cause))
    return apiError("BAD_USER_INPUT", cause.message, {}, place);

  const failure = databaseFailure(cause);
  if (failure) {
    const { code, message, retryable } = failure;
    const line = { requestId, ...logged, err: cause };
    if (code === "SERVICE_UNAVAILABLE") logOutage(logger, line);
    else logger.warn(line, "the database failed");
    return apiError(code, message, retryable === undefined ? {} : { retryable }, place);
  }
  // graphql-js' own errors about the request as a whole: unknown operation name, wrong variables
  if (error instanceof GraphQLError && error.path === undefined && cause instanceof GraphQLError) {
    return apiError("BAD_USER_INPUT", error.message, {}, place);
  }
  logger.error({ requestId, ...logged, err: cause, path: place?.path }, "unexpected error");
  const message = `Something went wrong on our side. Quote the request id ${requestId} when you report it.`;
  return apiError("INTERNAL_SERVER_ERROR", message, isPermanent(cause) ? { retryable: false } : {}, place);
}

/** Maximum number of locations that an error shows. */
const maxLocations = 10;

function errorPlace({ nodes, source, positions, path }: GraphQLError) {
  return { nodes: nodes?.slice(0, maxLocations), source, positions: positions?.slice(0, maxLocations), path };
}

function withoutCode({ extensions }: GraphQLError): Record<string, unknown> {
  const others: Record<string, unknown> = { ...extensions };
  delete others.code;
  return others;
}
