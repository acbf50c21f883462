/** Milliseconds after a first request in which another is expected: a client of many merchants sends them in a row. */
const nextMs = 100;
/** Milliseconds after which a request no longer waits for its merchant, but is a live query or a long request. */
const defaultLongestMs = 5_000;

/** Requests that found their merchant closed and wait until it is open, which is mostly work for Postgres. */
export class FirstRequests {
  readonly #longestMs: number;
  #running = 0;
  #begunAt = -Infinity;
  #endedAt = -Infinity;

  constructor(longestMs = defaultLongestMs) {
    this.#longestMs = longestMs;
  }

  /** Notes the beginning of a first request. @returns a function to be called when it has ended */
  begin(): () => void {
    this.#running++;
    this.#begunAt = performance.now();
    return () => {
      this.#running--;
      this.#endedAt = performance.now();
    };
  }

  /** Whether first requests are running, or were a moment ago. */
  get areRunning(): boolean {
    const now = performance.now();
    return (this.#running > 0 && now - this.#begunAt < this.#longestMs) || now - this.#endedAt < nextMs;
  }
}
