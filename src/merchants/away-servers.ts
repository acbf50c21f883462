import pg from "pg";
import { growingPause } from "../lib/retry.ts";

/** Pauses before the next visit to a database that can't be reached, or where other processes do the work. */
export const retryPauses = { firstMs: 1_000, longestMs: 60_000 };
/** The maximum duration of an attempt in milliseconds. */
const attemptMs = 15_000;

/** An error for a server that can't be reached, or doesn't respond. */
export class Unreachable extends Error {}

export interface ServerChanges {
  /** Called when a server can be reached again. */
  onBack(server: string): void;
  /** Called when a server couldn't be reached, at least twice in a row. */
  onAway(server: string): void;
}

/** Servers that can't be reached. Each is tried from time to time; all other work there waits until a try succeeds. */
export class UnreachableServers {
  readonly #changes: ServerChanges;
  readonly #away = new Map<string, { failures: number; until: number }>();

  constructor(changes: ServerChanges) {
    this.#changes = changes;
  }

  /**
   * Checks whether a server may be tried now. If so, the caller must make an attempt.
   *
   * @returns null if it may; otherwise when to check again, in milliseconds of `performance.now()`
   */
  nextAttemptAt(server: string, now = performance.now()): number | null {
    const away = this.#away.get(server);
    if (!away) return null;
    if (now < away.until) return away.until;
    away.until = now + attemptMs;
    return null;
  }

  /** Does some work at a server, and notes whether the server can be reached. */
  async attempt<T>(server: string, work: () => Promise<T>): Promise<T> {
    try {
      const done = await work();
      this.noteAnswer(server);
      return done;
    } catch (error) {
      if (error instanceof Unreachable) this.noteFailure(server);
      else if (error instanceof pg.DatabaseError) this.noteAnswer(server);
      throw error;
    }
  }

  noteFailure(server: string, now = performance.now()): void {
    const failures = (this.#away.get(server)?.failures ?? 0) + 1;
    this.#away.set(server, { failures, until: now + growingPause(failures, retryPauses) });
    if (failures > 1) this.#changes.onAway(server);
  }

  noteAnswer(server: string): void {
    if (this.#away.delete(server)) this.#changes.onBack(server);
  }
}
