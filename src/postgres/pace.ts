import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";

/** Names of which the pace is known. */
const maxNames = 10_000;

export interface PaceOptions {
  /** Milliseconds on average below which something is quick. */
  quickMs: number;
  /** Times after which it is known. */
  knownAfter: number;
  /** The part of an average that the latest time makes up, the second time and so on. */
  weight: (times: number) => number;
  /** Milliseconds from which a time counts as the average at once. */
  spikeMs?: number;
}

/** How long statements usually take, by the names of statements or of clients. */
export class Pace {
  readonly #options: Required<PaceOptions>;
  readonly #known = new LRUCache<string, { count: number; averageMs: number }>(atMost(maxNames));

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
    return (this.#known.get(name)?.count ?? 0) >= this.#options.knownAfter;
  }

  /** Whether it is usually quick, as far as is known. */
  isQuick(name: string): boolean {
    return (this.#known.get(name)?.averageMs ?? 0) < this.#options.quickMs;
  }
}
