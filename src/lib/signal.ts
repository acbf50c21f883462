/** Wakes who waits for something to do. A ring while nobody waits isn't lost. */
export class Bell {
  #hasRung = false;
  #wake: (() => void) | null = null;

  ring(): void {
    this.#hasRung = true;
    this.#wake?.();
  }

  /** Waits for the bell, but not for longer than this. */
  async wait(milliseconds: number, stopping: AbortSignal): Promise<void> {
    if (!this.#hasRung && !stopping.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, milliseconds);
      const stop = () => resolve();
      stopping.addEventListener("abort", stop);
      this.#wake = resolve;
      await promise;
      this.#wake = null;
      stopping.removeEventListener("abort", stop);
      clearTimeout(timer);
    }
    this.#hasRung = false;
  }
}
