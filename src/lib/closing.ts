/** Resources that have been opened, to be closed in reverse order. */
export class Closing {
  readonly #steps: (() => unknown)[] = [];

  /** Notes how to close a resource that has just been opened. */
  add(close: () => unknown): void {
    this.#steps.push(close);
  }

  /**
   * Closes everything, the newest first. One that can't be closed leaves the others.
   *
   * @throws what the first of those has thrown
   */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (let step; (step = this.#steps.pop());)
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
  }
}
