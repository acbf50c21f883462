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

export interface TurnOptions<Work = unknown> {
  /** Turns in use at the same time, at present. After raising it, call `proceed`. */
  total: () => number;
  /** Turns that one client may have, at present. */
  perClient: (client: string) => number;
  /** Whether some work of a client may have a turn of its own at present; by default any may. */
  mayBegin?: (work: Work | undefined, client: string) => boolean;
  /** Work for which `mayBegin` may say something else than for other work: neither waits behind the other. */
  isLight?: (work: Work | undefined) => boolean;
  /** Waiting turns, in all and of one client. */
  maxWaiting?: number;
  maxWaitingPerClient?: number;
  /** Longest wait at present, in milliseconds. */
  maxWaitMs?: () => number;
}

type Begin = (refusal: NoTurn | null) => void;

interface Waiting<Work> {
  begin: Begin;
  since: number;
  until: number;
  work: Work | undefined;
}

interface Line<Work> {
  running: number;
  /** Light work and other work, each in the order of its arrival. */
  light: Waiting<Work>[];
  other: Waiting<Work>[];
}

/** Those of a client that are next, the one that has waited longer first. */
function heads<Work>({ light, other }: Line<Work>): Waiting<Work>[] {
  const [a, b] = [light[0], other[0]];
  if (!a || !b) return a ? [a] : b ? [b] : [];
  return a.since <= b.since ? [a, b] : [b, a];
}

const waitingOf = ({ light, other }: Line<unknown>): number => light.length + other.length;

/** How often something has waited, how long in all, and how much waits now. */
export interface Waits {
  readonly count: number;
  readonly ms: number;
  readonly waiting: number;
}

/**
 * Shares a scarce resource among clients. Each has a few turns at most, and waiting ones are served client by client,
 * not in their order of arrival: a client with many requests waits for itself, and holds up no other.
 */
export class Turns<Work = unknown> {
  readonly #options: Required<TurnOptions<Work>>;
  /** Clients that have a turn or wait for one, longest since its last turn first. */
  readonly #lines = new Map<string, Line<Work>>();
  #running = 0;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #waited = { count: 0, ms: 0 };

  constructor(options: TurnOptions<Work>) {
    const bounds = { maxWaiting: 1_000, maxWaitingPerClient: 200, maxWaitMs: () => 5_000 };
    this.#options = { ...bounds, mayBegin: () => true, isLight: () => false, ...options };
  }

  /**
   * Calls back when the client has its turn, at once if possible, or with a refusal.
   *
   * @param work what others may take along while it waits: then it isn't called back
   */
  take(client: string, begin: Begin, work?: Work): void {
    const { total, perClient, mayBegin, isLight, maxWaiting, maxWaitingPerClient, maxWaitMs } = this.#options;
    let line = this.#lines.get(client);
    if (!line) this.#lines.set(client, (line = { running: 0, light: [], other: [] }));
    if (this.#running < total() && line.running < perClient(client) && mayBegin(work, client)) {
      this.#running++;
      line.running++;
      return begin(null);
    }
    const isOwn = waitingOf(line) >= maxWaitingPerClient;
    if (isOwn || this.#waiting >= maxWaiting)
      return begin(new NoTurn("Too many operations wait for the database.", isOwn));
    this.#waiting++;
    const since = performance.now();
    (isLight(work) ? line.light : line.other).push({ begin, since, until: since + maxWaitMs(), work });
    this.#timer ??= setTimeout(() => this.#giveUp(), maxWaitMs()).unref();
  }

  /** Ends a turn of a client, and begins the next one. */
  end(client: string): void {
    const line = this.#lines.get(client)!;
    line.running--;
    this.#running--;
    const isDone = line.running === 0 && waitingOf(line) === 0;
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

  /**
   * Takes along work that waits, with the turn of another: of the client that is next, and the next of that client, at least
   * of its light or its other work.
   *
   * @returns null when none suits
   */
  takeAlong(suits: (work: Work) => boolean): Work | null {
    if (this.#waiting === 0) return null;
    for (const [client, line] of this.#lines) {
      const next = heads(line).find(({ work }) => work !== undefined && suits(work));
      if (!next) continue;
      this.#leave(line, next);
      this.#lines.delete(client);
      if (line.running > 0 || waitingOf(line) > 0) this.#lines.set(client, line);
      return next.work!;
    }
    return null;
  }

  /** How many have a turn, and how many wait. */
  get counts(): { running: number; waiting: number } {
    return { running: this.#running, waiting: this.#waiting };
  }

  /** What has waited until now. */
  get waits(): Waits {
    return { ...this.#waited, waiting: this.#waiting };
  }

  /** Ends the wait of one of the heads of a client. */
  #leave({ light, other }: Line<Work>, head: Waiting<Work>): void {
    (light[0] === head ? light : other).shift();
    this.#waiting--;
    this.#waited.count++;
    this.#waited.ms += performance.now() - head.since;
  }

  #next(): void {
    for (const [client, line] of this.#lines) {
      if (waitingOf(line) === 0 || line.running >= this.#options.perClient(client)) continue;
      const next = heads(line).find(({ work }) => this.#options.mayBegin(work, client));
      if (!next) continue;
      this.#leave(line, next);
      this.#running++;
      line.running++;
      if (this.#lines.size > 1) {
        this.#lines.delete(client);
        this.#lines.set(client, line);
      }
      return next.begin(null);
    }
  }

  /** Refuses those that have waited too long. */
  #giveUp(): void {
    const now = performance.now();
    let next = Infinity;
    for (const [client, line] of this.#lines) {
      let late;
      while ((late = heads(line).find(({ until }) => until <= now))) {
        this.#leave(line, late);
        late.begin(new NoTurn("The operation has waited too long for the database."));
      }
      for (const { until } of heads(line)) next = Math.min(next, until);
      if (waitingOf(line) === 0 && line.running === 0) this.#lines.delete(client);
    }
    this.#timer = next < Infinity ? setTimeout(() => this.#giveUp(), next - now).unref() : undefined;
  }
}
