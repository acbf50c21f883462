import { growingPause } from "../../lib/retry.ts";

const pauses = { firstMs: 1_000, longestMs: 60_000 };
/** Milliseconds that an attempt takes at most. */
const attemptMs = 15_000;

/** Servers that can't be reached: one merchant of each tries now and then, and its others wait until it has succeeded. */
export class AwayServers {
  readonly #away = new Map<string, { failures: number; until: number }>();

  /**
   * Asks whether a merchant may try a server. Who may, notes how it went.
   *
   * @returns when it should ask again, as milliseconds of `performance.now()`; null if it may
   */
  waitUntil(server: string, now = performance.now()): number | null {
    const away = this.#away.get(server);
    if (!away) return null;
    if (now < away.until) return away.until;
    away.until = now + attemptMs;
    return null;
  }

  /** @returns how often in a row */
  noteFailure(server: string, now = performance.now()): number {
    const failures = (this.#away.get(server)?.failures ?? 0) + 1;
    this.#away.set(server, { failures, until: now + growingPause(failures, pauses) });
    return failures;
  }

  /** @returns whether it was away */
  noteAnswer(server: string): boolean {
    return this.#away.delete(server);
  }
}
