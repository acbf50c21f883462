interface Waiting {
  group: string;
  start: () => void;
  refuse: (reason: Error) => void;
}

/**
 * Limits the work that runs at a time, in all and of one owner. Waiting owners take turns, so one with much work holds
 * up no other. Callers limit how much can wait: a sender has a maximum of running deliveries.
 */
export class PayloadSlots {
  readonly #max: number;
  readonly #maxOfOwner: number;
  readonly #busy = new Map<string, number>();
  /** Waiting work by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>();
  #total = 0;

  /**
   * @param max pieces of work at a time
   * @param maxOfOwner of one owner
   */
  constructor(max: number, maxOfOwner: number) {
    this.#max = max;
    this.#maxOfOwner = maxOfOwner;
  }

  /**
   * Runs work when its turn comes.
   *
   * @param group name for `drop`
   * @throws the error given to `drop`, when the group was dropped before its turn
   */
  async run<T>(owner: string, group: string, work: () => Promise<T>): Promise<T> {
    await this.#turn(owner, group);
    try {
      return await work();
    } finally {
      this.#count(owner, -1);
      this.#next();
    }
  }

  /** Refuses a group's waiting work. Running work continues. */
  drop(owner: string, group: string, reason: Error): void {
    const all = this.#waiting.get(owner) ?? [];
    const kept = all.filter((each) => each.group !== group);
    if (kept.length > 0) this.#waiting.set(owner, kept);
    else this.#waiting.delete(owner);
    // Later, so that the caller's own result is stored first
    for (const each of all) if (each.group === group) setImmediate(() => each.refuse(reason));
  }

  #turn(owner: string, group: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(owner) ?? [];
      waiting.push({ group, start: resolve, refuse: reject });
      this.#waiting.set(owner, waiting);
      this.#next();
    });
  }

  #next(): void {
    for (const [owner, waiting] of this.#waiting) {
      if (this.#total >= this.#max) return;
      if ((this.#busy.get(owner) ?? 0) >= this.#maxOfOwner) continue;
      const { start } = waiting.shift()!;
      // To the end, so that others come first the next time
      this.#waiting.delete(owner);
      if (waiting.length > 0) this.#waiting.set(owner, waiting);
      this.#count(owner, 1);
      start();
    }
  }

  #count(owner: string, change: 1 | -1): void {
    this.#total += change;
    const count = (this.#busy.get(owner) ?? 0) + change;
    if (count === 0) this.#busy.delete(owner);
    else this.#busy.set(owner, count);
  }
}
