import { setTimeout as sleep } from "node:timers/promises";

/** Work that may wait in a process. */
const maxWaiting = 200;

/**
 * Does work that holds the event loop for tens of milliseconds: one piece after the other, and after each as long
 * nothing of the kind, so that whatever else arrives is served in between.
 */
export class HeavyWork {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Does a piece of work when its turn has come; null when too much of it waits already. */
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
