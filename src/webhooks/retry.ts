const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Milliseconds from one attempt to the next, after the first, the second and so on. After the last there is none. */
const retryDelays: readonly number[] = [
  ...[5 * second, 5 * minute, 30 * minute],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour),
];

/** How far a receiver can put an attempt off. */
const maxRetryAfterMs = 24 * hour;
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
 * @param wish milliseconds that the receiver asked for: it never comes earlier
 */
export function delayAfter(
  failures: number,
  wish: number | null,
  { random, pace }: RetryClock = defaultClock,
): number | null {
  const delay = retryDelays[failures - 1];
  if (delay === undefined) return null;
  const varied = delay * (1 - jitter + 2 * jitter * random());
  return Math.round(Math.max(varied * pace, (wish ?? 0) * (1 + jitter * random())));
}

/**
 * What a header Retry-After asks for, in milliseconds from now; null when it says nothing that can be read.
 *
 * @param now in milliseconds since 1970
 */
export function retryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? "";
  const wish = /^\d{1,9}$/.test(text) ? Number(text) * second : dateOf(text) - now;
  return Number.isNaN(wish) ? null : Math.min(Math.max(wish, 0), maxRetryAfterMs);
}

/** A date of HTTP; `Date.parse` alone takes much more for one. */
function dateOf(text: string): number {
  return /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : NaN;
}
