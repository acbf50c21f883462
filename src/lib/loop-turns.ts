/** Milliseconds of continuous work after which a client that has had a turn waits for the next one. */
const sliceMs = 2;
/** Milliseconds without work after which the next request begins a new slice. */
const gapMs = 1;

/**
 * Shares the event loop among clients. Each turn of the loop does a slice of work, and one more piece for each client
 * that has had none. Further work waits, and is done client by client, one piece in each turn, so that the requests of
 * one client, however many, don't hold up those of another.
 */
export class LoopTurns {
  /** Waiting work by client, longest since its last turn first. */
  readonly #lines = new Map<string, (() => void)[]>();
  readonly #served = new Set<string>();
  #since = -Infinity;
  #workedUntil = -Infinity;

  /** Runs a piece of a client's work, at once if no other has to wait for it. */
  take(client: string, work: () => void): void {
    const now = performance.now();
    if (this.#lines.size === 0 && now - this.#workedUntil > gapMs) this.#beginSlice(now);
    const line = this.#lines.get(client);
    if (line) return void line.push(work);
    if (now - this.#since < sliceMs || !this.#served.has(client)) return this.#run(client, work);
    if (this.#lines.size === 0) setImmediate(this.#turn);
    this.#lines.set(client, [work]);
  }

  /** The same for work that follows a promise. */
  turn(client: string): Promise<void> {
    return new Promise((resolve) => this.take(client, resolve));
  }

  /** Waiting pieces of work. */
  get waiting(): number {
    let count = 0;
    for (const line of this.#lines.values()) count += line.length;
    return count;
  }

  readonly #turn = (): void => {
    this.#beginSlice(performance.now());
    const [[client, line]] = this.#lines as unknown as [[string, (() => void)[]]];
    const work = line.shift()!;
    this.#lines.delete(client);
    // Behind all others that wait
    if (line.length > 0) this.#lines.set(client, line);
    if (this.#lines.size > 0) setImmediate(this.#turn);
    this.#run(client, work);
  };

  #beginSlice(now: number): void {
    this.#since = now;
    this.#served.clear();
  }

  #run(client: string, work: () => void): void {
    this.#served.add(client);
    work();
    this.#workedUntil = performance.now();
  }
}
