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

  /** Milliseconds that the first of so many calls waits. */
  waitMs(count: number, underWay: number, groups: number): number {
    if (underWay > 0) {
      const usualMs = Math.max(minPatienceMs, 2 * this.#usualMs) * Math.max(1, groups);
      return Math.min(maxPatienceMs, usualMs);
    }
    if (performance.now() - this.#begunAt > pauseMs) this.#usualCount = 1;
    return 2 * count < this.#usualCount ? Math.min(gatherMs, this.#usualMs) : 0;
  }
}
