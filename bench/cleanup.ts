/** Functions that end things, called in reverse order when a run ends or is interrupted. */
export class Cleanup {
  readonly #steps: (() => Promise<unknown>)[] = [];
  #closed: Promise<void> | undefined;

  add(step: () => Promise<unknown>): void {
    this.#steps.push(step);
  }

  /** Ends everything; a failing step doesn't prevent the others. */
  close(): Promise<void> {
    return (this.#closed ??= this.#closeAll());
  }

  async #closeAll(): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) {
      await step().catch((error: unknown) => console.error(error));
    }
  }
}
