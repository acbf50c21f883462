import { databaseFailure } from "../errors/postgres-errors.ts";
import { UserError } from "../errors/user-error.ts";
import { retry } from "../lib/retry.ts";
import { isPoolerRefusal, formatAddress } from "./client.ts";

/** Milliseconds between two attempts, and between two messages. */
const intervalMs = 1_000;
/** Milliseconds without a response from Postgres after which messages begin. A busy one may take that long. */
const silenceMs = 5_000;

/** Error codes that waiting doesn't change: a wrong name, a wrong password, no such database. */
const permanentCodes = new Set(["28000", "28P01", "3D000"]);

export interface WaitOptions {
  url: string;
  /** Milliseconds until it gives up. */
  waitMs: number;
  /** Whether the work itself takes long, so that only a failure shows that Postgres can't be reached. */
  isLong?: boolean;
  /** Called once a second during a wait, with its reason. An error that it throws ends the wait. */
  onWaiting(line: string): void;
}

/**
 * Runs work with a database that may not be reachable yet, for example because it is still starting. Tries again every
 * second until the time is over. Then, or after an error of another kind, it throws the error.
 */
export async function waitForDatabase<T>(
  { url, waitMs, isLong = false, onWaiting }: WaitOptions,
  work: () => Promise<T>,
): Promise<T> {
  const start = performance.now();
  const deadline = start + waitMs;
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => {});
  let failure: string | null = null;
  const messageTimer = setInterval(() => {
    const now = performance.now();
    const seconds = Math.ceil((deadline - now) / 1_000);
    const reason = failure ?? (isLong || now - start < silenceMs ? null : "no response yet");
    if (seconds <= 0 || reason === null) return;
    try {
      onWaiting(`Waiting for Postgres at ${formatAddress(url)}, for up to ${seconds} s more: ${reason}`);
    } catch (error) {
      ended.reject(error);
    }
  }, intervalMs);
  let begin = 0;
  const attempt = () => {
    begin = performance.now();
    return work();
  };
  const pauseMs = (error: unknown) => {
    const cause = error instanceof UserError ? error.cause : error;
    if (!isUnreachable(cause)) throw error;
    const why = (failure = cause.message || String((cause as NodeJS.ErrnoException).code));
    const now = performance.now();
    if (now + intervalMs >= deadline) throw toUserError(error, url, why);
    return Math.max(0, begin + intervalMs - now);
  };
  try {
    return await Promise.race([retry(attempt, { pauseMs }), ended.promise]);
  } finally {
    clearInterval(messageTimer);
  }
}

function toUserError(error: unknown, url: string, reason: string): UserError {
  if (error instanceof UserError) return error;
  return new UserError(`Postgres at ${formatAddress(url)} can't be used: ${reason}.`, { cause: error });
}

function isUnreachable(error: unknown): error is Error {
  if (databaseFailure(error)?.code !== "SERVICE_UNAVAILABLE" || isPoolerRefusal(error)) return false;
  return !permanentCodes.has(String((error as { code?: unknown }).code));
}
