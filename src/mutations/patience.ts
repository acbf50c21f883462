/**
 * Milliseconds that a call waits for what is under way, from the least to the most: twice what that usually takes, and more when
 * several groups are under way, as many small ones take longer in all.
 */
const [minPatienceMs, maxPatienceMs] = [3, 50];
/**
 * Milliseconds that a call waits for others when nothing is under way, but groups were large until just now: their clients are
 * about to call again. After some milliseconds without calls that is over.
 */
const [gatherMs, pauseMs] = [5, 50];
/**
 * With so many waiting, and at least as many as are under way, a second group begins at once: one connection keeps one core of
 * Postgres busy, and none while its commit is written.
 */
const leastBeside = 8;
/** So many calls, or fewer, cost Postgres as much together as alone, so they don't wait for each other. */
const few = { calls: 3, usualCount: 2 };

/** What is under way: calls in all, groups of them, and those that are made alone. */
export interface UnderWay {
  calls: number;
  groups: number;
  singles: number;
}

/** How long calls wait for others to be made with. */
export class Patience {
  /** Milliseconds that calls take of late, alone or together. */
  #usualMs = minPatienceMs;
  /** How many calls were begun together of late, and when the last were. */
  #usualCount = 1;
  #begunAt = -Infinity;

  noteBegin(count: number): void {
    this.#usualCount += (count - this.#usualCount) / 4;
    this.#begunAt = performance.now();
  }

  noteEnd(ms: number): void {
    this.#usualMs += (ms - this.#usualMs) / 10;
  }

  /** Whether calls are made alone, beside each other: there are only so many, waiting or under way, and few came together of late. */
  areFew(calls: number): boolean {
    return calls <= few.calls && this.#usualCount <= few.usualCount;
  }

  /** Milliseconds that the first of so many calls waits. */
  waitMs(count: number, { calls, groups, singles }: UnderWay): number {
    if (groups + singles > 0) {
      if (groups + singles === 1 && count >= Math.max(leastBeside, calls)) return 0;
      const usualMs = Math.max(minPatienceMs, 2 * this.#usualMs) * Math.max(1, groups);
      return Math.min(maxPatienceMs, usualMs);
    }
    if (performance.now() - this.#begunAt > pauseMs) this.#usualCount = 1;
    return 2 * count < this.#usualCount ? Math.min(gatherMs, this.#usualMs) : 0;
  }
}
