import { GraphQLError, type GraphQLErrorOptions } from "postgraphile/graphql";

/** Description of a code. */
interface ErrorKind {
  /** Whether the same request may succeed when it is sent again. */
  retryable: boolean;
  /** Status of the response. Of two, `application/json` gets the first. */
  status: string;
  /** The event and its remedy, for the table in docs/reference/errors.md. */
  meaning: string;
}

/** Every code that a GraphQL error of this service can have. Responses, documentation and tests use this list. */
export const errorCodes = {
  UNAUTHENTICATED: {
    retryable: false,
    status: "401",
    meaning: "The access token is missing, damaged or expired. Get a new one.",
  },
  UNAUTHORIZED: {
    retryable: false,
    status: "403",
    meaning:
      "The access token is not for this API, or its credential was deactivated, rotated or deleted. You need a new credential.",
  },
  FORBIDDEN: {
    retryable: false,
    status: "200 or 400",
    meaning:
      "The access token lacks scopes, which `missingScopes` lists by field; or the merchant's plan allows no mutations; or the credential may only send stored operations, and this one isn't. Nothing was done.",
  },
  GRAPHQL_PARSE_FAILED: {
    retryable: false,
    status: "200 or 400",
    meaning: "The document is not valid GraphQL.",
  },
  GRAPHQL_VALIDATION_FAILED: {
    retryable: false,
    status: "200 or 400",
    meaning: "The document does not match the schema of the version.",
  },
  BAD_USER_INPUT: {
    retryable: false,
    status: "200 or 400; 404, 405, 406, 413, 415 by the request",
    meaning: "A value, a variable or the request itself is wrong.",
  },
  IDEMPOTENCY_KEY_MISMATCH: {
    retryable: false,
    status: "409",
    meaning: "The idempotency key was used to upload another file. Nothing was done. Use another key.",
  },
  LABEL_CANCELLED: {
    retryable: false,
    status: "410",
    meaning: "The file was deleted, because its shipping label was cancelled. Request a new label.",
  },
  FILE_EXPIRED: {
    retryable: false,
    status: "410",
    meaning: "The file of the shipping label was deleted at the end of its retention period.",
  },
  FILE_ERASED: {
    retryable: false,
    status: "410",
    meaning:
      "The file of the shipping label was deleted on purpose, for example with the data of its customer.",
  },
  PERSISTED_QUERY_NOT_FOUND: {
    retryable: false,
    status: "200",
    meaning:
      "No document with this hash is known, or stored for the credential. Send `query` with the hash once; clients with persisted queries do so automatically.",
  },
  CURSOR_INVALID: {
    retryable: false,
    status: "200",
    meaning: "`after` or `before` is not a cursor of this list.",
  },
  PAGE_SIZE_EXCEEDED: {
    retryable: false,
    status: "200",
    meaning: "`first` or `last` is more than `maximum`.",
  },
  SEARCH_TOO_BROAD: {
    retryable: false,
    status: "200",
    meaning: "`search` has more than 10,000 matches. Use a longer search term.",
  },
  AGGREGATE_TOO_BROAD: {
    retryable: false,
    status: "200",
    meaning:
      "The aggregate has more than 100,000 entries, or 1,000 groups. Narrow the list by a filter, and add up the parts.",
  },
  AS_OF_TOO_LATE: {
    retryable: true,
    status: "200",
    meaning:
      "No stock movement has this `sequence` yet, or a booking that is still open may happen before the `moment`. Give an earlier one, or retry a little later.",
  },
  QUERY_TOO_DEEP: {
    retryable: false,
    status: "200 or 400",
    meaning: "Fields are nested deeper than `maximum`. Use two operations.",
  },
  QUERY_TOO_COMPLEX: {
    retryable: false,
    status: "200 or 400",
    meaning:
      "The operation exceeds the `maximum` of points, relations, aliases, directives, tokens or mutations; or the response would exceed 32 MB. Request less at once.",
  },
  THROTTLED: {
    retryable: true,
    status: "429",
    meaning: "The client has spent its points. Wait as long as `Retry-After` says.",
  },
  QUERY_TIMEOUT: {
    retryable: true,
    status: "200",
    meaning: "It took too long and was stopped; a mutation was rolled back. Request less at once.",
  },
  CONFLICT_RETRY: {
    retryable: true,
    status: "200",
    meaning: "It conflicted with another write and was rolled back. Retry.",
  },
  SERVICE_UNAVAILABLE: {
    retryable: true,
    status: "200 or 503",
    meaning:
      "The data is unreachable or read-only. Retry a little later; if a mutation has `retryable: false`, check whether it was done.",
  },
  PAYLOAD_UNAVAILABLE: {
    retryable: false,
    status: "200",
    meaning:
      "The mutation was done, but its payload couldn't be read; `cause` has the code of the reason. Query what you need; repeating the request does it again, unless every mutation in it has an `idempotencyKey`. `retryable` is true if all have one and a retry can help.",
  },
  INTERNAL_SERVER_ERROR: {
    retryable: true,
    status: "200 or 500",
    meaning:
      "An error in the service. Report it with the request id. `retryable` is false if repeating can't help.",
  },
} as const satisfies Record<string, ErrorKind>;

/** A code of {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

/**
 * An error whose message a client may read. All other errors are masked.
 *
 * @param code what went wrong, for programs
 * @param message what went wrong and what to do, for people
 * @param extensions further details for programs, beside the code
 * @param options its place in the document, as in graphql-js
 */
export function apiError(
  code: ErrorCode,
  message: string,
  extensions: Record<string, unknown> = {},
  options: Omit<GraphQLErrorOptions, "extensions"> = {},
): GraphQLError {
  return new GraphQLError(message, { ...options, extensions: { code, ...extensions } });
}

/** Whether {@link apiError} made an error, so that clients may see it. */
export function isApiError(error: unknown): error is GraphQLError & { extensions: { code: ErrorCode } } {
  return (
    error instanceof GraphQLError &&
    typeof error.extensions.code === "string" &&
    error.extensions.code in errorCodes
  );
}
