/** What has been opened, to be closed the other way round. */
export class Closing {
  readonly #steps: (() => unknown)[] = [];

  /** Notes how to close what has just been opened. */
  add(close: () => unknown): void {
    this.#steps.push(close);
  }

  /** Closes everything, what was opened last first. */
  async close(): Promise<void> {
    for (let step; (step = this.#steps.pop());) await step();
  }
}
