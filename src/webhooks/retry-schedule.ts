const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Milliseconds between attempts: after the first, the second and so on. Then the delivery is given up. */
const retryDelaysMs: readonly number[] = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
];

/** Longest delay that a receiver can request. */
const maxRetryAfterMs = 24 * hourMs;
/** The share by which delays vary, so that messages that failed together aren't retried together. */
const jitter = 0.1;

/** Randomness and speed, for tests. */
export interface RetryClock {
  /** From 0 to 1. */
  random: () => number;
  /** Factor of all delays; 1 in production. */
  pace: number;
}

export const defaultClock: RetryClock = { random: Math.random, pace: 1 };

/**
 * Returns the milliseconds until the next attempt of a delivery, or null to give up.
 *
 * @param failures failed attempts, at least 1
 * @param retryAfterMs minimum delay that the receiver requested, in milliseconds
 */
export function delayMsAfter(
  failures: number,
  retryAfterMs: number | null,
  { random, pace }: RetryClock = defaultClock,
): number | null {
  const delayMs = retryDelaysMs[failures - 1];
  if (delayMs === undefined) return null;
  const varied = delayMs * (1 - jitter + 2 * jitter * random());
  return Math.round(Math.max(varied * pace, (retryAfterMs ?? 0) * (1 + jitter * random())));
}

/**
 * Parses a Retry-After header. Returns the milliseconds from now, or null if it is invalid.
 *
 * @param now in milliseconds since 1970
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? "";
  const retryAfterMs = /^\d{1,9}$/.test(text) ? Number(text) * secondMs : parseHttpDate(text) - now;
  return Number.isNaN(retryAfterMs) ? null : Math.min(Math.max(retryAfterMs, 0), maxRetryAfterMs);
}

/** Parses an HTTP date. `Date.parse` alone would accept much more. */
function parseHttpDate(text: string): number {
  return /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : NaN;
}
