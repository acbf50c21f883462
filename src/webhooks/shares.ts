/** Deliveries that each sender may make in any case. */
const always = 1;

/** Shares a number of deliveries at a time among senders, as those of several merchants. */
export class DeliveryShares {
  readonly #total: number;
  readonly #busy = new Set<() => number>();

  /** @param total deliveries at a time of all senders; each may always make one */
  constructor(total: number) {
    this.#total = total;
  }

  /**
   * Lets a sender take part.
   *
   * @param busy how many it is making at present
   * @returns how many it may make at present
   */
  enter(busy: () => number): { limit: () => number; leave: () => void } {
    this.#busy.add(busy);
    return {
      limit: () => {
        let free = this.#total;
        for (const each of this.#busy) if (each !== busy) free -= each();
        // One share is left to the next one
        const share = Math.ceil(this.#total / (this.#busy.size + 1));
        return Math.max(Math.min(share, free), always);
      },
      leave: () => void this.#busy.delete(busy),
    };
  }
}
