import { setTimeout as sleep } from "node:timers/promises";

/** Pieces of work that may wait in a process. */
const maxWaiting = 200;

/**
 * Runs work that blocks the event loop for tens of milliseconds: one piece at a time, each followed by a pause as long
 * as the piece, so that everything else is served in between.
 */
export class HeavyWork {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Runs a piece of work when its turn comes; null when too many wait already. */
  async run<T>(work: () => T): Promise<T | null> {
    if (this.#waiting >= maxWaiting) return null;
    this.#waiting++;
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    this.#waiting--;
    const start = performance.now();
    try {
      return work();
    } finally {
      void sleep(performance.now() - start).then(resolve);
    }
  }
}
