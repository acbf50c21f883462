/** Refuses a turn: too many wait already, or this one has waited too long. */
export class NoTurn extends Error {
  readonly code = "NO_TURN";
  /** Whether it is the client's own turns that are too many. */
  readonly isOwn: boolean;

  constructor(message: string, isOwn = false) {
    super(message);
    this.isOwn = isOwn;
  }
}

export interface TurnOptions {
  /** Turns in use at the same time, at present. Whoever makes it more calls `proceed`. */
  total: () => number;
  /** Turns that one client may have, at present. */
  perClient: (client: string) => number;
  /** Waiting turns, in all and of one client. */
  maxWaiting?: number;
  maxWaitingPerClient?: number;
  /** Longest wait at present, in milliseconds. */
  maxWaitMs?: () => number;
}

type Begin = (refusal: NoTurn | null) => void;

interface Line {
  running: number;
  waiting: { begin: Begin; until: number }[];
}

/**
 * Shares a scarce resource among clients. Each has a few turns at most, and waiting ones are served client by client,
 * not in their order of arrival: a client with many requests waits for itself, and holds up no other.
 */
export class Turns {
  readonly #options: Required<TurnOptions>;
  /** Clients that have a turn or wait for one, longest since its last turn first. */
  readonly #lines = new Map<string, Line>();
  #running = 0;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TurnOptions) {
    this.#options = { maxWaiting: 1_000, maxWaitingPerClient: 200, maxWaitMs: () => 5_000, ...options };
  }

  /** Calls back when the client has its turn, at once if possible, or with a refusal. */
  take(client: string, begin: Begin): void {
    const { total, perClient, maxWaiting, maxWaitingPerClient, maxWaitMs } = this.#options;
    let line = this.#lines.get(client);
    if (!line) this.#lines.set(client, (line = { running: 0, waiting: [] }));
    if (this.#running < total() && line.running < perClient(client)) {
      this.#running++;
      line.running++;
      return begin(null);
    }
    const isOwn = line.waiting.length >= maxWaitingPerClient;
    if (isOwn || this.#waiting >= maxWaiting)
      return begin(new NoTurn("Too many operations wait for the database.", isOwn));
    this.#waiting++;
    line.waiting.push({ begin, until: performance.now() + maxWaitMs() });
    this.#timer ??= setTimeout(() => this.#giveUp(), maxWaitMs()).unref();
  }

  /** Ends a turn of a client, and begins the next one. */
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

  /** Begins the next turn, if one is free. */
  proceed(): void {
    if (this.#waiting > 0 && this.#running < this.#options.total()) this.#next();
  }

  /** How many have a turn, and how many wait. */
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

  /** Refuses those that have waited too long. */
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
