import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";

/** Milliseconds that a statement usually takes at most to count as quick. */
const quickMs = 5;
/** Times that a statement must have run to be known. */
const knownAfter = 3;
/** The part of an average that the latest time makes up. */
const weight = 0.1;
const maxStatements = 10_000;

/** How long statements take, by their names. */
export class StatementPace {
  readonly #known = new LRUCache<string, { count: number; averageMs: number }>(atMost(maxStatements));

  /** Notes a time. A long one counts at once, and is forgotten slowly. */
  note(name: string, ms: number): void {
    const pace = this.#known.get(name);
    if (!pace) return void this.#known.set(name, { count: 1, averageMs: ms });
    pace.count++;
    pace.averageMs = Math.max(pace.averageMs + (ms - pace.averageMs) * weight, ms > 4 * quickMs ? ms : 0);
  }

  /** Whether a statement is known to be quick. */
  isQuick(name: string): boolean {
    const pace = this.#known.get(name);
    return pace !== undefined && pace.count >= knownAfter && pace.averageMs < quickMs;
  }
}
