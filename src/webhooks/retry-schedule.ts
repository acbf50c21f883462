const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Milliseconds between attempts: after the first, the second and so on. After the last one there is no other. */
const retryDelaysMs: readonly number[] = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
];

/** Longest delay that a receiver can ask for. */
const maxRetryAfterMs = 24 * hourMs;
/** Delays vary by this share, so that messages that failed together don't all come at once. */
const jitter = 0.1;

/** Randomness and speed, for tests. */
export interface RetryClock {
  /** From 0 to 1. */
  random: () => number;
  /** Share of the delays that is really waited for; 1 in production. */
  pace: number;
}

export const defaultClock: RetryClock = { random: Math.random, pace: 1 };

/**
 * Milliseconds until the next attempt of a delivery; null when it has been given up.
 *
 * @param failures failed attempts, at least 1
 * @param retryAfterMs least delay that the receiver asked for, in milliseconds
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
 * The delay of a header Retry-After, in milliseconds from now; null when it can't be read.
 *
 * @param now in milliseconds since 1970
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? "";
  const retryAfterMs = /^\d{1,9}$/.test(text) ? Number(text) * secondMs : dateOf(text) - now;
  return Number.isNaN(retryAfterMs) ? null : Math.min(Math.max(retryAfterMs, 0), maxRetryAfterMs);
}

/** Only HTTP dates; `Date.parse` alone accepts much more. */
function dateOf(text: string): number {
  return /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : NaN;
}
