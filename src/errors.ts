import { GraphQLError, type GraphQLErrorOptions } from "postgraphile/graphql";

/**
 * Every code that a GraphQL error of this service can carry, with whether the very same request may succeed
 * when sent again. One place for the fact: answers, documentation and tests read it from here.
 */
export const errorCodes = {
  UNAUTHENTICATED: { retryable: false },
  UNAUTHORIZED: { retryable: false },
  FORBIDDEN: { retryable: false },
  GRAPHQL_PARSE_FAILED: { retryable: false },
  GRAPHQL_VALIDATION_FAILED: { retryable: false },
  BAD_USER_INPUT: { retryable: false },
  CURSOR_INVALID: { retryable: false },
  PAGE_SIZE_EXCEEDED: { retryable: false },
  QUERY_TOO_DEEP: { retryable: false },
  QUERY_TOO_COMPLEX: { retryable: false },
  THROTTLED: { retryable: true },
  QUERY_TIMEOUT: { retryable: true },
  CONFLICT_RETRY: { retryable: true },
  SERVICE_UNAVAILABLE: { retryable: true },
  INTERNAL_SERVER_ERROR: { retryable: true },
} as const satisfies Record<string, { retryable: boolean }>;

/** A code of {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

/**
 * An error whose message a client may read. Errors of any other kind are masked before they leave the service.
 *
 * @param code what went wrong, for programs
 * @param message what went wrong and what to do, for people
 * @param extensions further facts for programs, shown beside the code
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

/** Whether an error was made by {@link apiError}, and so may be shown as it is. */
export function isApiError(error: unknown): error is GraphQLError & { extensions: { code: ErrorCode } } {
  return (
    error instanceof GraphQLError &&
    typeof error.extensions.code === "string" &&
    error.extensions.code in errorCodes
  );
}
