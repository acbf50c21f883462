import { LRUCache } from "lru-cache";

/** A value that a thread keeps, without which it is known to have it. */
export interface Kept<Value = unknown> {
  id: number;
  value?: Value;
}

/** The latest values that a thread was sent by `WorkThreads.runWith`, in the form in which it uses them. */
export class KeptValues<Value, Used extends object> {
  readonly #known: LRUCache<number, Used>;
  readonly #use: (value: Value) => Used;

  constructor(max: number, use: (value: Value) => Used) {
    this.#known = new LRUCache({ max });
    this.#use = use;
  }

  /** Returns all of them; null when some have to be sent. */
  of(kept: readonly Kept<Value>[]): Used[] | null {
    const found: Used[] = [];
    for (const { id, value } of kept) {
      const used = this.#known.get(id) ?? (value === undefined ? null : this.#use(value));
      if (used === null) return null;
      this.#known.set(id, used);
      found.push(used);
    }
    return found;
  }
}
