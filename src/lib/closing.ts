/** Resources that have been opened, to be closed in reverse order. */
export class Closing {
  readonly #steps: (() => unknown)[] = [];

  /** Notes how to close a resource that has just been opened. */
  add(close: () => unknown): void {
    this.#steps.push(close);
  }

  /** Closes everything, the newest first. */
  async close(): Promise<void> {
    for (let step; (step = this.#steps.pop());) await step();
  }
}
