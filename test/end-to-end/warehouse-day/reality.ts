/** Units of a product that move. `null` is outside of the building. */
export interface Move {
  product: string;
  quantity: number;
  from: string | null;
  to: string | null;
}

/** The real content of the shelves, known without the service: the books must equal it. */
export class Reality {
  readonly #units = new Map<string, number>();

  move({ product, quantity, from, to }: Move): void {
    this.#add(product, from, -quantity);
    this.#add(product, to, quantity);
  }

  at(product: string, place: string): number {
    return this.#units.get(`${product} ${place}`) ?? 0;
  }

  /** Product, place and units of each shelf that was ever used. */
  entries(): [shelf: string, units: number][] {
    return [...this.#units];
  }

  #add(product: string, place: string | null, quantity: number): void {
    if (place !== null) this.#units.set(`${product} ${place}`, this.at(product, place) + quantity);
  }
}

/**
 * Lets many people work with a product at the same time, or a single one look at it: goods that someone is carrying
 * can't be counted.
 */
export class Gate {
  readonly #working = new Map<string, Set<Promise<unknown>>>();
  readonly #closed = new Map<string, Promise<void>>();

  async work<T>(products: string[], task: () => Promise<T>): Promise<T> {
    for (let product; (product = products.find((name) => this.#closed.has(name)));)
      await this.#closed.get(product);
    const done = task();
    for (const product of products) this.#workingOn(product).add(done);
    try {
      return await done;
    } finally {
      for (const product of products) this.#workingOn(product).delete(done);
    }
  }

  async alone<T>(product: string, task: () => Promise<T>): Promise<T> {
    while (this.#closed.has(product)) await this.#closed.get(product);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closed.set(product, promise);
    try {
      await Promise.allSettled(this.#workingOn(product));
      return await task();
    } finally {
      this.#closed.delete(product);
      resolve();
    }
  }

  #workingOn(product: string): Set<Promise<unknown>> {
    let working = this.#working.get(product);
    if (!working) this.#working.set(product, (working = new Set()));
    return working;
  }
}
