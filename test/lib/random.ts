/** A random number generator that gives the same numbers for a seed at each run. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns a number from 0 to 1. The algorithm is Mulberry32, which is in the public domain. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number below a limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** Repeats a list endlessly, each time in another random order. */
  *rounds<T>(list: readonly T[]): Generator<T, never> {
    for (;;) {
      const left = [...list];
      while (left.length > 0) yield left.splice(this.below(left.length), 1)[0]!;
    }
  }
}
