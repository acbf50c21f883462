import { pause } from "../lib/retry.ts";

/** Longest rest: the lease goes on meanwhile. */
const maxRestMs = 2_000;

/** Whether others than a credential have sent requests just now. */
export type UsedByOthers = (credentialId: string) => boolean;

/**
 * Keeps work in the background from taking more than half of a core of Postgres from requests. While its own credential is
 * alone it never rests.
 */
export class Pace {
  readonly #isShared: () => boolean;
  readonly #stopping: AbortSignal;

  constructor(isShared: () => boolean, stopping: AbortSignal) {
    this.#isShared = isShared;
    this.#stopping = stopping;
  }

  /** Rests as long as Postgres has just worked, if others are there. */
  async restAfter(workedMs: number): Promise<void> {
    if (this.#isShared()) await pause(Math.min(workedMs, maxRestMs), this.#stopping);
  }
}
