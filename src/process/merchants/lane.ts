/** Merchants that are worked on, and those that wait for it, each once. They have their turns in the order of arrival. */
export class Lane {
  readonly #size: number;
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, () => Promise<void>>();
  #isClosed = false;

  /** @param size merchants at a time */
  constructor(size: number) {
    this.#size = size;
  }

  get counts(): { running: number; waiting: number } {
    return { running: this.#running.size, waiting: this.#waiting.size };
  }

  /** Whether a merchant waits or is worked on. */
  has(merchant: string): boolean {
    return this.#running.has(merchant) || this.#waiting.has(merchant);
  }

  /** Works on a merchant when it is its turn, unless it waits or is worked on already. @param work never fails */
  run(merchant: string, work: () => Promise<void>): void {
    if (this.#isClosed || this.has(merchant)) return;
    this.#waiting.set(merchant, work);
    this.#next();
  }

  /** Forgets those that wait, and waits for the others, who have been told to end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    await Promise.all(this.#running.values());
  }

  #next(): void {
    for (const [merchant, work] of this.#waiting) {
      if (this.#running.size >= this.#size) return;
      this.#waiting.delete(merchant);
      const running = work().finally(() => {
        this.#running.delete(merchant);
        this.#next();
      });
      this.#running.set(merchant, running);
    }
  }
}
