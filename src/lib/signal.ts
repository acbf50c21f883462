/** Wakes a loop that waits for work. A notification that comes while it is not waiting is kept. */
export class Signal {
  #isSet = false;
  #wake: (() => void) | null = null;

  notify(): void {
    this.#isSet = true;
    this.#wake?.();
  }

  /** Waits for a notification, at most for this time. @returns whether there was one */
  async wait(maxMs: number, stopping: AbortSignal): Promise<boolean> {
    if (!this.#isSet && !stopping.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, maxMs);
      const stop = () => resolve();
      stopping.addEventListener("abort", stop);
      this.#wake = resolve;
      await promise;
      this.#wake = null;
      stopping.removeEventListener("abort", stop);
      clearTimeout(timer);
    }
    const wasSet = this.#isSet;
    this.#isSet = false;
    return wasSet;
  }
}
