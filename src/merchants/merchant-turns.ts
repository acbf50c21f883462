import { unboundedQueue } from "../lib/fair-queue.ts";
import type { FairQueue } from "../lib/fair-queue.ts";

/** Turns of merchants at some work. A merchant waits for a turn or has one, but never two. */
export class MerchantTurns {
  readonly #queue: FairQueue;
  /** Turns that run or wait, by merchant. */
  readonly #turns = new Map<string, Promise<void>>();

  /** @param limit turns at a time, in total. @param limitOfOwner turns at a time, of one owner */
  constructor(limit: number, limitOfOwner = limit) {
    this.#queue = unboundedQueue(limit, limitOfOwner);
  }

  get counts(): { running: number; waiting: number } {
    return this.#queue.counts;
  }

  /** Whether a merchant waits or has a turn. */
  has(merchant: string): boolean {
    return this.#turns.has(merchant);
  }

  /**
   * Does some work when it is the owner's turn, unless the merchant already waits or has a turn.
   *
   * @param work must not reject
   */
  run(merchant: string, work: () => Promise<void>, owner = merchant): void {
    if (this.has(merchant)) return;
    const turn = this.#queue.run(owner, work).finally(() => this.#turns.delete(merchant));
    this.#turns.set(merchant, turn);
  }

  /** Waits for all turns, which the caller has told to end. */
  async close(): Promise<void> {
    await Promise.all(this.#turns.values());
  }
}
