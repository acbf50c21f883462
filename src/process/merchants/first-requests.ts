import type { Watched } from "./write-watch.ts";

/** Milliseconds after a first request in which another one is expected: a client of many sends them one after the other. */
const nextMs = 100;
/** Milliseconds after which one isn't waiting for its merchant any more, but is a live query, or large. */
const defaultLongestMs = 5_000;
/** Milliseconds between two first visits, and for all: requests have processors, too. */
export const betweenFirstMs = 40;
const allFirstMs = 60_000;
/** Milliseconds by which first visits are put off at the most, all times together. */
const defaultMostMs = 60_000;

/** Requests that have found their merchant closed, and wait until it is open: most of that is Postgres' work. */
export class FirstRequests {
  readonly #longestMs: number;
  #running = 0;
  #begunAt = -Infinity;
  #endedAt = -Infinity;

  constructor(longestMs = defaultLongestMs) {
    this.#longestMs = longestMs;
  }

  /** Notes one. @returns a function to be called when it is answered */
  begin(): () => void {
    this.#running++;
    this.#begunAt = performance.now();
    return () => {
      this.#running--;
      this.#endedAt = performance.now();
    };
  }

  /** Whether some are being answered, or were a moment ago. */
  get areThere(): boolean {
    const now = performance.now();
    return (this.#running > 0 && now - this.#begunAt < this.#longestMs) || now - this.#endedAt < nextMs;
  }
}

/** In how many milliseconds a merchant has its first visit. @param before how many others have theirs before */
export const timeOfFirst = (before: number): number => Math.min(before * betweenFirstMs, allFirstMs);

/**
 * Puts off the visits after a start, to merchants that nothing is known of, while first requests are answered: both need
 * Postgres for new connections, and clients wait. Visits for which there is a reason aren't put off.
 */
export class FirstVisits {
  readonly #requests: FirstRequests;
  readonly #mostMs: number;
  #putOffMs = 0;
  #lookedAt = performance.now();

  constructor(requests: FirstRequests, mostMs = defaultMostMs) {
    this.#requests = requests;
    this.#mostMs = mostMs;
  }

  /** Whether they are put off at present. */
  get rest(): boolean {
    return this.#putOffMs < this.#mostMs && this.#requests.areThere;
  }

  /** Moves their times by what has passed since it was called before, if they rest. */
  putOff(watched: Iterable<Watched>): void {
    const now = performance.now();
    const ms = now - this.#lookedAt;
    this.#lookedAt = now;
    if (!this.rest) return;
    this.#putOffMs += ms;
    for (const each of watched) if (each.mayRest) each.visitAt += ms;
  }
}
