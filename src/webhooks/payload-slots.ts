interface Waiting {
  group: string;
  start: () => void;
  refuse: (reason: Error) => void;
}

/**
 * Lets so much work go on at a time, and of one owner so much. Owners that wait are served in turns, so one with much to
 * do holds up nobody else. What waits is bounded by who calls: a sender has so many deliveries under way.
 */
export class PayloadSlots {
  readonly #max: number;
  readonly #maxOfOwner: number;
  readonly #busy = new Map<string, number>();
  /** Those that wait, by owner; the owner whose turn is next stands first. */
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
   * Does work when it is its turn.
   *
   * @param group what `drop` names it by
   * @throws what `drop` was called with, when it was dropped before its turn
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

  /** Ends the waiting of a group. What has begun goes on. */
  drop(owner: string, group: string, reason: Error): void {
    const all = this.#waiting.get(owner) ?? [];
    const kept = all.filter((each) => each.group !== group);
    if (kept.length > 0) this.#waiting.set(owner, kept);
    else this.#waiting.delete(owner);
    // Not before the one that this is about has been told of, so that its result is noted first
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
      // To the end: others come first the next time
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
