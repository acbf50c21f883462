import { isSafeError } from "postgraphile/grafast";
import { GraphQLError } from "postgraphile/graphql";
import type { Logger } from "pino";
import type { ErrorCode } from "./api-error.ts";
import { apiError, errorCodes, isApiError } from "./api-error.ts";
import { databaseFailure } from "./postgres-errors.ts";

/** Which request an error belongs to, and where its cause is written down. */
export interface ErrorScene {
  requestId: string;
  logger: Logger;
}

/**
 * Turns whatever was thrown into what a client may read: one of our codes, the request's id, and whether sending the
 * same again can help. The cause of an error that isn't the client's goes to the log, under the same id.
 */
export function clientError(error: unknown, scene: ErrorScene): GraphQLError {
  return completed(translate(error, scene), scene.requestId);
}

/** An error made by `apiError`, with what every error says beside its code. */
export function completed(error: GraphQLError, requestId: string): GraphQLError {
  const { code, ...others } = error.extensions as { code: ErrorCode };
  const extensions = { code, requestId, retryable: errorCodes[code].retryable, ...others };
  return new GraphQLError(shortened(error.message), { ...placeOf(error), extensions });
}

/** Characters of a message. Some repeat what was sent, which may be as long as a body. */
const maxMessage = 1_000;

const shortened = (message: string): string =>
  message.length <= maxMessage ? message : `${message.slice(0, maxMessage).toWellFormed()}…`;

function translate(error: unknown, { requestId, logger }: ErrorScene): GraphQLError {
  if (isApiError(error)) return error;
  const place: ReturnType<typeof placeOf> | undefined =
    error instanceof GraphQLError ? placeOf(error) : undefined;
  const cause = error instanceof GraphQLError && error.originalError ? error.originalError : error;
  if (isApiError(cause)) return apiError(cause.extensions.code, cause.message, withoutCode(cause), place);
  if (cause instanceof Error && isSafeError(cause))
    return apiError("BAD_USER_INPUT", cause.message, {}, place);

  const failure = databaseFailure(cause);
  if (failure) {
    logger.warn({ requestId, err: cause }, "the database failed");
    const { code, message, retryable } = failure;
    return apiError(code, message, retryable === undefined ? {} : { retryable }, place);
  }
  // Complaints of graphql-js itself about the request, before any field: unknown operation name, wrong variables
  if (error instanceof GraphQLError && error.path === undefined && cause instanceof GraphQLError) {
    return apiError("BAD_USER_INPUT", error.message, {}, place);
  }
  logger.error({ requestId, err: cause, path: place?.path }, "unexpected error");
  const message = `Something went wrong on our side. Quote the request id ${requestId} when you report it.`;
  return apiError("INTERNAL_SERVER_ERROR", message, {}, place);
}

/** Places in the document that one error tells. */
const maxPlaces = 10;

function placeOf({ nodes, source, positions, path }: GraphQLError) {
  return { nodes: nodes?.slice(0, maxPlaces), source, positions: positions?.slice(0, maxPlaces), path };
}

function withoutCode({ extensions }: GraphQLError): Record<string, unknown> {
  const others: Record<string, unknown> = { ...extensions };
  delete others.code;
  return others;
}
