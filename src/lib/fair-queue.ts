/** Refuses a turn: too many wait already, or this one has waited too long. */
export class NoTurn extends Error {
  readonly code = "NO_TURN";
  /** Whether it is the owner's own turns that are too many. */
  readonly isOwn: boolean;

  constructor(message: string, isOwn = false) {
    super(message);
    this.isOwn = isOwn;
  }
}

export interface FairQueueOptions<Work = unknown> {
  /** Turns at the same time, at present. After raising it, call `proceed`. */
  limit: () => number;
  /** Turns of one owner at the same time, at present; by default as many as of all. */
  limitPerOwner?: (owner: string) => number;
  /** Whether some work of an owner may have a turn of its own at present; by default any may. */
  mayBegin?: (work: Work | undefined, owner: string) => boolean;
  /** Work for which `mayBegin` may say something else than for other work: neither waits behind the other. */
  isLight?: (work: Work | undefined) => boolean;
  /** Waiting turns, in all and of one owner. */
  maxWaiting?: number;
  maxWaitingPerOwner?: number;
  /** Longest wait at present, in milliseconds. */
  maxWaitMs?: () => number;
}

/** Options of a queue in which any number may wait, for as long as it takes: what waits is bounded elsewhere. */
export const unboundedWaiting = {
  maxWaiting: Infinity,
  maxWaitingPerOwner: Infinity,
  maxWaitMs: () => Infinity,
};

/** A queue with fixed limits in which any number may wait, for as long as it takes. */
export const unboundedQueue = <Work>(limit: number, limitPerOwner = limit): FairQueue<Work> =>
  new FairQueue({ ...unboundedWaiting, limit: () => limit, limitPerOwner: () => limitPerOwner });

type Begin = (refusal: Error | null) => void;

interface Waiting<Work> {
  begin: Begin;
  since: number;
  until: number;
  work: Work | undefined;
}

/** The turns of an owner. */
interface Line<Work> {
  running: number;
  /** Light work and other work, each in the order of its arrival. */
  light: Waiting<Work>[];
  other: Waiting<Work>[];
}

/** The next light and the next other work of an owner, the one that has waited longer first. */
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
 * A fair queue: shares a scarce resource among owners, such as the clients of the API or merchants. There is a limit of turns
 * at the same time, in all and for each owner. Waiting turns are served round robin, owner by owner, not in their order of
 * arrival: an owner with much work waits for itself, and holds up no other.
 */
export class FairQueue<Work = unknown> {
  readonly #options: Required<FairQueueOptions<Work>>;
  /** Owners that have a turn or wait for one, longest since its last turn first. */
  readonly #lines = new Map<string, Line<Work>>();
  #running = 0;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #waited = { count: 0, ms: 0 };

  constructor(options: FairQueueOptions<Work>) {
    const bounds = { maxWaiting: 1_000, maxWaitingPerOwner: 200, maxWaitMs: () => 5_000 };
    const any = { limitPerOwner: () => Infinity, mayBegin: () => true, isLight: () => false };
    this.#options = { ...bounds, ...any, ...options };
  }

  /**
   * Calls back when the owner has its turn, at once if possible, or with a refusal. Then call `end`.
   *
   * @param work passed to `mayBegin` and others. `takeAlong` may take it while it waits: then it isn't called back
   */
  take(owner: string, begin: Begin, work?: Work): void {
    const { limit, limitPerOwner, mayBegin, isLight, maxWaiting, maxWaitingPerOwner, maxWaitMs } =
      this.#options;
    const known = this.#lines.get(owner);
    const line = known ?? { running: 0, light: [], other: [] };
    if (this.#running < limit() && line.running < limitPerOwner(owner) && mayBegin(work, owner)) {
      if (!known) this.#lines.set(owner, line);
      this.#running++;
      line.running++;
      return begin(null);
    }
    const waiting = waitingOf(line);
    // Where none may wait, it is its own running ones that are too many
    const isOwn = waiting >= maxWaitingPerOwner && (waiting > 0 || line.running >= limitPerOwner(owner));
    if (isOwn || this.#waiting >= maxWaiting)
      return begin(new NoTurn("Too many operations wait for the database.", isOwn));
    if (!known) this.#lines.set(owner, line);
    this.#waiting++;
    const since = performance.now();
    const waitMs = maxWaitMs();
    (isLight(work) ? line.light : line.other).push({ begin, since, until: since + waitMs, work });
    if (waitMs < Infinity) this.#timer ??= setTimeout(() => this.#giveUp(), waitMs).unref();
  }

  /**
   * Runs something when the owner has its turn, which ends with it.
   *
   * @throws {NoTurn} when too many wait, or it has waited too long
   */
  async run<T>(owner: string, run: () => Promise<T>, work?: Work): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.take(owner, (refusal) => (refusal ? reject(refusal) : resolve()), work);
    await promise;
    try {
      return await run();
    } finally {
      this.end(owner);
    }
  }

  /** Ends a turn of an owner, and begins the next one. */
  end(owner: string): void {
    const line = this.#lines.get(owner)!;
    line.running--;
    this.#running--;
    const isDone = line.running === 0 && waitingOf(line) === 0;
    if (isDone) this.#lines.delete(owner);
    if (this.#waiting === 0) return;
    // Behind all others that wait
    if (!isDone) this.#moveBack(owner, line);
    this.proceed();
  }

  /** Begins the next turn, if one is free. */
  proceed(): void {
    if (this.#waiting > 0 && this.#running < this.#options.limit()) this.#next();
  }

  /**
   * Takes waiting work that can run together with other work that has its turn: the first suitable piece of the next
   * owner, light or other.
   *
   * @returns null if no waiting work is suitable
   */
  takeAlong(suits: (work: Work) => boolean): Work | null {
    if (this.#waiting === 0) return null;
    for (const [owner, line] of this.#lines) {
      const next = heads(line).find(({ work }) => work !== undefined && suits(work));
      if (!next) continue;
      this.#leave(line, next);
      this.#lines.delete(owner);
      if (line.running > 0 || waitingOf(line) > 0) this.#lines.set(owner, line);
      return next.work!;
    }
    return null;
  }

  /** Refuses waiting work of an owner. Running work goes on. */
  drop(owner: string, isDropped: (work: Work | undefined) => boolean, reason: Error): void {
    const line = this.#lines.get(owner);
    if (!line) return;
    const dropped = new Set([...line.light, ...line.other].filter(({ work }) => isDropped(work)));
    line.light = line.light.filter((each) => !dropped.has(each));
    line.other = line.other.filter((each) => !dropped.has(each));
    this.#waiting -= dropped.size;
    if (line.running === 0 && waitingOf(line) === 0) this.#lines.delete(owner);
    // Later, so that the caller's own result comes first
    for (const { begin } of dropped) setImmediate(() => begin(reason));
  }

  /** How many have a turn, and how many wait. */
  get counts(): { running: number; waiting: number } {
    return { running: this.#running, waiting: this.#waiting };
  }

  /** Counts and sums of waits until now. */
  get waits(): Waits {
    return { ...this.#waited, waiting: this.#waiting };
  }

  /** Whether an owner waits for a turn. */
  isWaiting(owner: string): boolean {
    const line = this.#lines.get(owner);
    return line !== undefined && waitingOf(line) > 0;
  }

  #moveBack(owner: string, line: Line<Work>): void {
    if (this.#lines.size === 1) return;
    this.#lines.delete(owner);
    this.#lines.set(owner, line);
  }

  /** Ends the wait of one of the heads of an owner. */
  #leave({ light, other }: Line<Work>, head: Waiting<Work>): void {
    (light[0] === head ? light : other).shift();
    this.#waiting--;
    this.#waited.count++;
    this.#waited.ms += performance.now() - head.since;
  }

  #next(): void {
    for (const [owner, line] of this.#lines) {
      if (waitingOf(line) === 0 || line.running >= this.#options.limitPerOwner(owner)) continue;
      const next = heads(line).find(({ work }) => this.#options.mayBegin(work, owner));
      if (!next) continue;
      this.#leave(line, next);
      this.#running++;
      line.running++;
      this.#moveBack(owner, line);
      return next.begin(null);
    }
  }

  /** Refuses those that have waited too long. */
  #giveUp(): void {
    const now = performance.now();
    let next = Infinity;
    for (const [owner, line] of this.#lines) {
      let late;
      while ((late = heads(line).find(({ until }) => until <= now))) {
        this.#leave(line, late);
        late.begin(new NoTurn("The operation has waited too long for the database."));
      }
      for (const { until } of heads(line)) next = Math.min(next, until);
      if (waitingOf(line) === 0 && line.running === 0) this.#lines.delete(owner);
    }
    this.#timer = next < Infinity ? setTimeout(() => this.#giveUp(), next - now).unref() : undefined;
  }
}
