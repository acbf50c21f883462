import pg from "pg";
import { growingPause } from "../lib/retry.ts";

/** Pauses before a database is asked again that can't be, or where others do the work. */
export const pauses = { firstMs: 1_000, longestMs: 60_000 };
/** Milliseconds that an attempt takes at most. */
const attemptMs = 15_000;

/** A server can't be reached, or doesn't answer. */
export class Unreachable extends Error {}

export interface ServerChanges {
  /** Called when a server can be reached again. */
  onBack(server: string): void;
  /** Called when a server couldn't be reached, at least twice in a row. */
  onAway(server: string): void;
}

/** Servers that can't be reached: one attempt of each is made now and then, and all else there waits until one has succeeded. */
export class AwayServers {
  readonly #changes: ServerChanges;
  readonly #away = new Map<string, { failures: number; until: number }>();

  constructor(changes: ServerChanges) {
    this.#changes = changes;
  }

  /**
   * Asks whether a server may be tried. If so, the caller makes an attempt.
   *
   * @returns when to ask again, as milliseconds of `performance.now()`; null if it may
   */
  waitUntil(server: string, now = performance.now()): number | null {
    const away = this.#away.get(server);
    if (!away) return null;
    if (now < away.until) return away.until;
    away.until = now + attemptMs;
    return null;
  }

  /** Does something at a server, and notes whether that can be reached. */
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
    this.#away.set(server, { failures, until: now + growingPause(failures, pauses) });
    if (failures > 1) this.#changes.onAway(server);
  }

  noteAnswer(server: string): void {
    if (this.#away.delete(server)) this.#changes.onBack(server);
  }
}
