import { GraphQLError, type GraphQLErrorOptions } from "postgraphile/graphql";

/** Description of a code. */
interface ErrorKind {
  /** Whether the same request may succeed when it is sent again. */
  retryable: boolean;
  /** Status of the answer. Of two, `application/json` gets the first. */
  status: string;
  /** Cause and remedy, for the table in docs/reference/errors.md. */
  meaning: string;
}

/** Every code that a GraphQL error of this service can have. Answers, documentation and tests use this list. */
export const errorCodes = {
  UNAUTHENTICATED: {
    retryable: false,
    status: "401",
    meaning: "There is no access token, or it is damaged or has expired. Get a new one.",
  },
  UNAUTHORIZED: {
    retryable: false,
    status: "403",
    meaning:
      "The access token is not for this API, or its credential was deactivated, rotated or deleted. Use another credential: a new token doesn't help.",
  },
  FORBIDDEN: {
    retryable: false,
    status: "200 or 400",
    meaning:
      "The token lacks scopes, listed by field in `missingScopes`. Or the operation is a mutation and the plan is read-only. Or the credential may only send stored operations, and this operation isn't stored. Nothing was done.",
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
    meaning:
      "The idempotency key was used for the upload of another file. Nothing was done. Use another key.",
  },
  PERSISTED_QUERY_NOT_FOUND: {
    retryable: false,
    status: "200",
    meaning:
      "No document with this hash is known or stored for the credential. Send `query` together with the hash once; clients with persisted queries do so automatically.",
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
      "The aggregate covers more than 100,000 entries or 1,000 groups. Filter the list, and add up the results.",
  },
  QUERY_TOO_DEEP: {
    retryable: false,
    status: "200 or 400",
    meaning: "Fields are nested deeper than `maximum`. Split the operation.",
  },
  QUERY_TOO_COMPLEX: {
    retryable: false,
    status: "200 or 400",
    meaning:
      "The operation exceeds `maximum` points, relations, aliases, directives, tokens or mutations, or its result has more than 32 MB. Request less at once.",
  },
  THROTTLED: {
    retryable: true,
    status: "429",
    meaning: "The token has spent its points. Wait as long as `Retry-After` says.",
  },
  QUERY_TIMEOUT: {
    retryable: true,
    status: "200",
    meaning: "The operation took too long and was stopped; a mutation was rolled back. Request less at once.",
  },
  CONFLICT_RETRY: {
    retryable: true,
    status: "200",
    meaning: "The operation collided with another write and was rolled back. Send it again.",
  },
  SERVICE_UNAVAILABLE: {
    retryable: true,
    status: "200 or 503",
    meaning:
      "The database is unavailable or read-only. Send the request again later. If a mutation says `retryable: false`, check whether it was done.",
  },
  PAYLOAD_UNAVAILABLE: {
    retryable: false,
    status: "200",
    meaning:
      "The mutation was done, but its payload couldn't be read; `cause` has the code of the reason. Read what you need; repeating the request does it once more, unless every mutation in it has an `idempotencyKey`. `retryable` is true if that is so and can help.",
  },
  INTERNAL_SERVER_ERROR: {
    retryable: true,
    status: "200 or 500",
    meaning:
      "A fault of ours. Quote the request id when you report it. `retryable` is false where repeating can't help.",
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
 * @param options where in the document it happened, as in graphql-js
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
