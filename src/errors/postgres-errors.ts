import { GraphQLError } from "postgraphile/graphql";
import { errorCodes, type ErrorCode } from "./api-error.ts";

/** A failure of the database, as clients see it. */
export interface DatabaseFailure {
  code: ErrorCode;
  message: string;
  /** Whether repeating can help, if the code alone doesn't say. */
  retryable?: boolean;
}

const timeout: DatabaseFailure = {
  code: "QUERY_TIMEOUT",
  message: "The operation took too long and was stopped. Request less at once.",
};
const conflict: DatabaseFailure = {
  code: "CONFLICT_RETRY",
  message: "Another operation was changing the same data. Send the request again.",
};
const unavailable: DatabaseFailure = {
  code: "SERVICE_UNAVAILABLE",
  message: "The service can't reach its data at the moment. Send the request again in a little while.",
};
const busy: DatabaseFailure = {
  code: "SERVICE_UNAVAILABLE",
  message:
    "Too many operations are waiting for the data. Send the request again in a little while, and fewer at once.",
};
const uncertain: DatabaseFailure = {
  code: "SERVICE_UNAVAILABLE",
  message:
    "The connection to the data was lost during the operation. It may have been done: check before you repeat it. " +
    "With an idempotencyKey it can be repeated at once.",
  retryable: false,
};
const notWritable: DatabaseFailure = {
  code: "SERVICE_UNAVAILABLE",
  message:
    "The service can read its data, but not change it at the moment. Nothing was done. Send the request again later.",
};
const diskFull: DatabaseFailure = {
  code: "SERVICE_UNAVAILABLE",
  message:
    "The service has no room for more data at the moment. Nothing was done. Send the request again later.",
};
const unstorable: DatabaseFailure = {
  code: "BAD_USER_INPUT",
  message: "An argument has a character, a number or a depth of nesting that can't be stored.",
};

const disallowed: DatabaseFailure = {
  code: "BAD_USER_INPUT",
  message: "An argument has a value that isn't allowed there.",
};

const readOnly: DatabaseFailure = {
  code: "FORBIDDEN",
  message: "The merchant's plan allows queries only, no mutations.",
};

const tooLong: DatabaseFailure = {
  code: "QUERY_TOO_COMPLEX",
  message: "The response would have more than 32 MB. Request less at once: smaller pages, or fewer fields.",
};

const tooBroad: DatabaseFailure = {
  code: "SEARCH_TOO_BROAD",
  message: "The search has more than 10,000 matches. Use a longer search term.",
};

const tooMuch: DatabaseFailure = {
  code: "AGGREGATE_TOO_BROAD",
  message:
    "There are more than 100,000 entries, the most that can be aggregated at once. Narrow them down by a filter, for example to a product or to some days, and add up the parts.",
};
const tooManyGroups: DatabaseFailure = {
  code: "AGGREGATE_TOO_BROAD",
  message: "There are more than 1,000 groups. Narrow the entries down by a filter, or group by less.",
};

const eitherOr: DatabaseFailure = {
  code: "BAD_USER_INPUT",
  message: "Give one of sequence, moment and day, and no other.",
};
const tooLate: DatabaseFailure = {
  code: "AS_OF_TOO_LATE",
  message: errorCodes.AS_OF_TOO_LATE.meaning,
};

/** Errors for clients, by the SQLSTATE of Postgres or the error code of Node's sockets. */
const byCode: Readonly<Record<string, DatabaseFailure>> = {
  "57014": timeout, // query_canceled: statement_timeout
  "40001": conflict, // serialization_failure
  "40P01": conflict, // deadlock_detected
  "55P03": conflict, // lock_not_available: lock_timeout
  "22003": unstorable, // numeric_value_out_of_range
  "22021": unstorable, // character_not_in_repertoire: a null character in a text
  "22P05": unstorable, // untranslatable_character
  "54001": unstorable, // statement_too_complex: JSON that is nested too deeply
  "25006": notWritable, // read_only_sql_transaction: a standby, or a database that was made read-only
  "25P03": unavailable, // idle_in_transaction_session_timeout
  ANSWER_TOO_LONG: tooLong, // of postgres/answer-bound.ts
  NO_TURN: busy, // of lib/fair-queue.ts
  UNREPLICATED: unavailable, // of postgres/pipeline/unreplicated.ts
  NO_SECRETS_KEY: unavailable, // of secrets/secrets.ts: another process may have the key
  "26000": unavailable, // invalid_sql_statement_name: a pooler ran it where it isn't prepared, see postgres/pooler.ts
  "42P05": unavailable, // duplicate_prepared_statement: the same
  "28000": unavailable, // invalid_authorization_specification: it refuses connections from this host
  "28P01": unavailable, // invalid_password: the password was changed
  "3D000": unavailable, // invalid_catalog_name: the database was dropped or renamed
  "53100": diskFull, // disk_full
  "58030": unavailable, // io_error
  UE003: readOnly, // raised by mutation.run
  UE007: tooMuch, // raised by erp.require_countable
  UE008: tooManyGroups,
  UE006: tooBroad, // raised by search.require_few
  UE010: eitherOr, // raised by ledger.span_of
  UE011: tooLate,
  EADDRNOTAVAIL: unavailable,
  EAI_AGAIN: unavailable, // the name can't be looked up at the moment
  ECONNABORTED: unavailable,
  ECONNREFUSED: unavailable,
  ECONNRESET: unavailable,
  EHOSTDOWN: unavailable,
  EHOSTUNREACH: unavailable,
  EMFILE: unavailable, // too many files are open
  ENETDOWN: unavailable,
  ENETUNREACH: unavailable,
  ENOENT: unavailable, // the socket is gone; a missing file isn't meant, see below
  ENOTFOUND: unavailable,
  EPIPE: unavailable,
  ETIMEDOUT: unavailable,
};

/**
 * Classes 08 (connection exceptions), 53 (insufficient resources, such as too many connections) and 57P (an operator
 * intervened: shutdown, crash, recovery).
 */
const unavailableClass = /^(08[0-9A-Z]{3}|53[0-9A-Z]{3}|57P[0-9A-Z]{2})$/;

// The driver gives these errors no code.
const connectionLost =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client (has encountered a connection error|was closed) and is not queryable|Cannot use a pool after calling end)/;

const uncertainErrors = new WeakSet<object>();

/** Marks a loss of the connection that leaves open whether the work was done. */
export function markUncertain(error: unknown): unknown {
  if (error instanceof Error) uncertainErrors.add(error);
  return error;
}

/** Whether Postgres has refused or ended the connection, for whatever reason. */
const isFatal = (error: Error): boolean => "severity" in error && error.severity === "FATAL";

/** Returns the SQLSTATE of a Postgres error, or the code of a Node error; undefined for others. */
export const errorCodeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

/** Returns the failure that clients see for an error of the database or of its connection; null for other errors. */
export function databaseFailure(error: unknown): DatabaseFailure | null {
  if (!(error instanceof Error) || isMissingFile(error)) return null;
  const code = errorCodeOf(error) ?? "";
  const isLost = unavailableClass.test(code) || connectionLost.test(error.message) || isFatal(error);
  const failure = byCode[code] ?? (isLost ? unavailable : isDomainViolation(error, code) ? disallowed : null);
  const mayBeDone = failure === unavailable || (failure === diskFull && endsConnection(error));
  return mayBeDone && uncertainErrors.has(error) ? uncertain : failure;
}

/** Whether a file is missing, which has the same code as the socket of a Postgres that isn't there. */
const isMissingFile = (error: Error): boolean =>
  errorCodeOf(error) === "ENOENT" && (error as NodeJS.ErrnoException).syscall !== "connect";

/** Whether a domain refused a value: only then does Postgres name a type. */
const isDomainViolation = (error: Error, code: string): boolean =>
  (code === "23514" || code === "23502") && "dataType" in error && error.dataType !== undefined;

/** Classes 0A, 22 and 23: the data or a rule is at fault, at any time. (A missing object may come with a migration.) */
const permanentClass = /^(0A|22|23)[0-9A-Z]{3}$/;

/** Whether the same request would fail again: because of the data that it reads or writes, or a type that can't show it. */
export function isPermanent(error: unknown): boolean {
  if (error instanceof GraphQLError) return true;
  return permanentClass.test(errorCodeOf(error) ?? "");
}

const finalErrors = new WeakSet<object>();

/** Marks a collision after which the work must not be repeated any more. */
export function markFinal(error: unknown): void {
  if (error instanceof Error) finalErrors.add(error);
}

/** Whether a conflict with another transaction rolled this one back, so that it can be repeated at once. */
export function isCollision(error: unknown): boolean {
  const code = errorCodeOf(error);
  return (code === "40001" || code === "40P01") && !finalErrors.has(error as Error);
}

/**
 * Whether Postgres ended the connection with the error. When the disk of its write-ahead log is full it ends all of
 * them, and a commit in progress may turn out done after the recovery.
 */
function endsConnection(error: Error): boolean {
  return "severity" in error && error.severity !== "ERROR";
}
