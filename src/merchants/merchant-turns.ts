import { unboundedQueue } from "../lib/fair-queue.ts";
import type { FairQueue } from "../lib/fair-queue.ts";

/** Turns of merchants at something. Each merchant waits, or has a turn, only once. */
export class MerchantTurns {
  readonly #queue: FairQueue;
  /** Turns that run or wait, by merchant. */
  readonly #turns = new Map<string, Promise<void>>();

  /** @param limit turns at a time, in all and of one owner */
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
   * Does some work when it is the owner's turn, unless the merchant waits or has a turn already.
   *
   * @param work never fails
   */
  run(merchant: string, work: () => Promise<void>, owner = merchant): void {
    if (this.has(merchant)) return;
    const turn = this.#queue.run(owner, work).finally(() => this.#turns.delete(merchant));
    this.#turns.set(merchant, turn);
  }

  /** Waits for all turns, which have to end at once. */
  async close(): Promise<void> {
    await Promise.all(this.#turns.values());
  }
}
