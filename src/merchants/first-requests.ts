/** Milliseconds after a first request in which another one is expected: a client of many sends them one after the other. */
const nextMs = 100;
/** Milliseconds after which one isn't waiting for its merchant any more, but is a live query, or large. */
const defaultLongestMs = 5_000;

/** Requests that have found their merchant closed, and wait until it is open: most of that is Postgres' work. */
export class FirstRequests {
  readonly #longestMs: number;
  #running = 0;
  #begunAt = -Infinity;
  #endedAt = -Infinity;

  constructor(longestMs = defaultLongestMs) {
    this.#longestMs = longestMs;
  }

  /** Notes one. @returns a function to be called when it is answered */
  begin(): () => void {
    this.#running++;
    this.#begunAt = performance.now();
    return () => {
      this.#running--;
      this.#endedAt = performance.now();
    };
  }

  /** Whether some are being answered, or were a moment ago. */
  get areThere(): boolean {
    const now = performance.now();
    return (this.#running > 0 && now - this.#begunAt < this.#longestMs) || now - this.#endedAt < nextMs;
  }
}
