type Work = () => Promise<void>;

/** Merchants that belong together. */
interface Group {
  running: number;
  waiting: Map<string, Work>;
}

/**
 * Merchants that are worked on, and those that wait for it, each once. They have their turns in the order of arrival; groups
 * of them in turns.
 */
export class Lane {
  readonly #size: number;
  readonly #sizeOfGroup: number;
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Set<string>();
  readonly #groups = new Map<string, Group>();
  #isClosed = false;

  /**
   * @param size merchants at a time
   * @param sizeOfGroup and of one group
   */
  constructor(size: number, sizeOfGroup = size) {
    this.#size = size;
    this.#sizeOfGroup = sizeOfGroup;
  }

  get counts(): { running: number; waiting: number } {
    return { running: this.#running.size, waiting: this.#waiting.size };
  }

  /** Whether a merchant waits or is worked on. */
  has(merchant: string): boolean {
    return this.#running.has(merchant) || this.#waiting.has(merchant);
  }

  /** Works on a merchant when it is its turn, unless it waits or is worked on already. @param work never fails */
  run(merchant: string, work: Work, group = ""): void {
    if (this.#isClosed || this.has(merchant)) return;
    const one = this.#groups.get(group) ?? { running: 0, waiting: new Map<string, Work>() };
    this.#groups.set(group, one);
    one.waiting.set(merchant, work);
    this.#waiting.add(merchant);
    this.#next();
  }

  /** Forgets those that wait, and waits for the others, who have been told to end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    this.#groups.clear();
    await Promise.all(this.#running.values());
  }

  #next(): void {
    // A group that had a turn is met again after the others
    for (const [name, group] of this.#groups) {
      if (this.#running.size >= this.#size) return;
      const [first] = group.waiting;
      if (!first || group.running >= this.#sizeOfGroup) continue;
      this.#groups.delete(name);
      this.#groups.set(name, group);
      this.#begin(first[0], first[1], name, group);
    }
  }

  #begin(merchant: string, work: Work, name: string, group: Group): void {
    group.waiting.delete(merchant);
    this.#waiting.delete(merchant);
    group.running++;
    const running = work().finally(() => {
      this.#running.delete(merchant);
      if (--group.running === 0 && group.waiting.size === 0) this.#groups.delete(name);
      this.#next();
    });
    this.#running.set(merchant, running);
  }
}
