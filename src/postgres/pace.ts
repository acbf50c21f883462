import { LRUCache } from "lru-cache";
import { lruLimit } from "../lib/at-most.ts";

/** The most names whose times are kept. */
const maxNames = 10_000;

export interface PaceOptions {
  /** The average in milliseconds below which a name is quick. */
  quickMs: number;
  /** The number of measurements after which a name is known. */
  minMeasurements: number;
  /** Returns the weight of the latest measurement in the average, for the number of measurements so far. */
  weight: (times: number) => number;
  /** A measurement above this many milliseconds becomes the average at once. */
  spikeMs?: number;
}

/** Average times of statements, by the names of statements or of clients. */
export class Pace {
  readonly #options: Required<PaceOptions>;
  readonly #known = new LRUCache<string, { count: number; averageMs: number }>(lruLimit(maxNames));

  constructor(options: PaceOptions) {
    this.#options = { spikeMs: Infinity, ...options };
  }

  note(name: string, ms: number): void {
    const pace = this.#known.get(name);
    if (!pace) return void this.#known.set(name, { count: 1, averageMs: ms });
    pace.count++;
    pace.averageMs += (ms - pace.averageMs) * this.#options.weight(pace.count);
    if (ms > this.#options.spikeMs) pace.averageMs = Math.max(pace.averageMs, ms);
  }

  isKnown(name: string): boolean {
    return (this.#known.get(name)?.count ?? 0) >= this.#options.minMeasurements;
  }

  /** Whether it is usually quick, as far as is known. */
  isQuick(name: string): boolean {
    return (this.#known.get(name)?.averageMs ?? 0) < this.#options.quickMs;
  }
}
