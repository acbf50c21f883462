/** Why nobody gets a turn: too many wait already, or it has waited too long. */
export class NoTurn extends Error {
  readonly code = "NO_TURN";
}

export interface TurnOptions {
  /** Turns at the same time, by now. Who makes it more calls `proceed`. */
  total: () => number;
  /** Those of them that one client may have, by now. */
  perClient: (client: string) => number;
  /** Who may wait, altogether and of one client. */
  maxWaiting?: number;
  maxWaitingPerClient?: number;
  /** How long, in milliseconds, by now. */
  maxWaitMs?: () => number;
}

type Begin = (refusal: NoTurn | null) => void;

interface Line {
  running: number;
  waiting: { begin: Begin; until: number }[];
}

/**
 * Shares what there is little of among clients: each has a few turns at most, and those that wait get theirs client by
 * client, not in the order in which they came. So a client that asks for much waits for itself, and for nobody else.
 */
export class Turns {
  readonly #options: Required<TurnOptions>;
  /** Clients that have a turn or wait for one. Those that wait longest since their last turn come first. */
  readonly #lines = new Map<string, Line>();
  #running = 0;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TurnOptions) {
    this.#options = { maxWaiting: 1_000, maxWaitingPerClient: 200, maxWaitMs: () => 5_000, ...options };
  }

  /** Calls back when the client has a turn, which is at once where possible, or won't get one. */
  take(client: string, begin: Begin): void {
    const { total, perClient, maxWaiting, maxWaitingPerClient, maxWaitMs } = this.#options;
    let line = this.#lines.get(client);
    if (!line) this.#lines.set(client, (line = { running: 0, waiting: [] }));
    if (this.#running < total() && line.running < perClient(client)) {
      this.#running++;
      line.running++;
      return begin(null);
    }
    if (this.#waiting >= maxWaiting || line.waiting.length >= maxWaitingPerClient)
      return begin(new NoTurn("Too many operations wait for the database."));
    this.#waiting++;
    line.waiting.push({ begin, until: performance.now() + maxWaitMs() });
    this.#timer ??= setTimeout(() => this.#giveUp(), maxWaitMs()).unref();
  }

  /** Ends a turn of a client, and lets the next one begin. */
  end(client: string): void {
    const line = this.#lines.get(client)!;
    line.running--;
    this.#running--;
    const isDone = line.running === 0 && line.waiting.length === 0;
    if (isDone) this.#lines.delete(client);
    if (this.#waiting === 0) return;
    // Behind all others that wait
    if (!isDone && this.#lines.size > 1) {
      this.#lines.delete(client);
      this.#lines.set(client, line);
    }
    this.proceed();
  }

  /** Lets the next one begin, when there is a turn. */
  proceed(): void {
    if (this.#waiting > 0 && this.#running < this.#options.total()) this.#next();
  }

  /** Who has a turn, and who waits. */
  get counts(): { running: number; waiting: number } {
    return { running: this.#running, waiting: this.#waiting };
  }

  #next(): void {
    for (const [client, line] of this.#lines) {
      if (line.waiting.length === 0 || line.running >= this.#options.perClient(client)) continue;
      const { begin } = line.waiting.shift()!;
      this.#waiting--;
      this.#running++;
      line.running++;
      if (this.#lines.size > 1) {
        this.#lines.delete(client);
        this.#lines.set(client, line);
      }
      return begin(null);
    }
  }

  /** Tells those who have waited too long. */
  #giveUp(): void {
    const now = performance.now();
    let next = Infinity;
    for (const [client, line] of this.#lines) {
      while (line.waiting[0] && line.waiting[0].until <= now) {
        this.#waiting--;
        line.waiting.shift()!.begin(new NoTurn("The operation has waited too long for the database."));
      }
      if (line.waiting[0]) next = Math.min(next, line.waiting[0].until);
      else if (line.running === 0) this.#lines.delete(client);
    }
    this.#timer = next < Infinity ? setTimeout(() => this.#giveUp(), next - now).unref() : undefined;
  }
}
