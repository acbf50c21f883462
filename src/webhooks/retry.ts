const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Milliseconds from one attempt to the next, after the first, the second and so on. After the last there is none. */
const retryDelaysMs: readonly number[] = [
  ...[5 * secondMs, 5 * minuteMs, 30 * minuteMs],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
];

/** How far a receiver can put an attempt off. */
const maxRetryAfterMs = 24 * hourMs;
/** Delays vary by this part, so that what failed together doesn't come back together. */
const jitter = 0.1;

/** Chance and speed of time, for tests. */
export interface RetryClock {
  /** From 0 to 1. */
  random: () => number;
  /** What part of the delays is waited for; 1 in earnest. */
  pace: number;
}

export const defaultClock: RetryClock = { random: Math.random, pace: 1 };

/**
 * Milliseconds until a delivery is attempted again; null when it has been given up.
 *
 * @param failures attempts that have failed, at least 1
 * @param retryAfterMs milliseconds that the receiver asked for: it never comes earlier
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
 * What a header Retry-After asks for, in milliseconds from now; null when it says nothing that can be read.
 *
 * @param now in milliseconds since 1970
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? "";
  const retryAfterMs = /^\d{1,9}$/.test(text) ? Number(text) * secondMs : dateOf(text) - now;
  return Number.isNaN(retryAfterMs) ? null : Math.min(Math.max(retryAfterMs, 0), maxRetryAfterMs);
}

/** A date of HTTP; `Date.parse` alone takes much more for one. */
function dateOf(text: string): number {
  return /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : NaN;
}
