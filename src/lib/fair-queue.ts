/** The refusal of a turn: too many are waiting, or this one has waited too long. */
export class TurnRefused extends Error {
  readonly code = "NO_TURN";
  /** Whether the owner itself has too many turns. */
  readonly isOwn: boolean;

  constructor(message: string, isOwn = false) {
    super(message);
    this.isOwn = isOwn;
  }
}

export interface FairQueueOptions<Work = unknown> {
  /** The current maximum of simultaneous turns. After raising it, call `proceed`. */
  limit: () => number;
  /** The current maximum of one owner's simultaneous turns; by default, there is none. */
  limitPerOwner?: (owner: string) => number;
  /** Whether this work of an owner may get a turn of its own now; by default, any may. */
  mayBegin?: (work: Work | undefined, owner: string) => boolean;
  /** Whether work is light. `mayBegin` may treat light and other work differently, so neither waits behind the other. */
  isLight?: (work: Work | undefined) => boolean;
  /** Maximum number of waiting turns, in total and per owner. */
  maxWaiting?: number;
  maxWaitingPerOwner?: number;
  /** The current maximum wait, in milliseconds. */
  maxWaitMs?: () => number;
}

/** Options of a queue in which any number may wait, for as long as it takes: the work is limited elsewhere. */
export const unboundedWaiting = {
  maxWaiting: Infinity,
  maxWaitingPerOwner: Infinity,
  maxWaitMs: () => Infinity,
};

/** Makes a queue with fixed limits in which any number may wait, for as long as it takes. */
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
interface OwnerTurns<Work> {
  running: number;
  /** Light work and other work, each in the order of its arrival. */
  light: Waiting<Work>[];
  other: Waiting<Work>[];
}

/** Returns the next light and the next other work of an owner, the one that has waited longer first. */
function nextWork<Work>({ light, other }: OwnerTurns<Work>): Waiting<Work>[] {
  const [a, b] = [light[0], other[0]];
  if (!a || !b) return a ? [a] : b ? [b] : [];
  return a.since <= b.since ? [a, b] : [b, a];
}

const countWaiting = ({ light, other }: OwnerTurns<unknown>): number => light.length + other.length;

/** Number of waits so far, their total duration, and how many are waiting now. */
export interface Waits {
  readonly count: number;
  readonly ms: number;
  readonly waiting: number;
}

/**
 * A fair queue: shares a scarce resource among owners, such as clients of the API or merchants. It limits simultaneous turns,
 * in total and per owner. Waiting turns are served round robin, owner by owner, not in order of arrival: an owner with much
 * work delays itself, but no other.
 */
export class FairQueue<Work = unknown> {
  readonly #options: Required<FairQueueOptions<Work>>;
  /** Owners that have a turn or wait for one; first the owner whose last turn is longest ago. */
  readonly #owners = new Map<string, OwnerTurns<Work>>();
  #running = 0;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #totals = { count: 0, ms: 0 };

  constructor(options: FairQueueOptions<Work>) {
    const bounds = { maxWaiting: 1_000, maxWaitingPerOwner: 200, maxWaitMs: () => 5_000 };
    const any = { limitPerOwner: () => Infinity, mayBegin: () => true, isLight: () => false };
    this.#options = { ...bounds, ...any, ...options };
  }

  /**
   * Calls back when the owner has its turn, at once if possible, or with a refusal. Then call `end`.
   *
   * @param work passed to the functions of the options. If it is taken out while it waits, `begin` is not called
   */
  take(owner: string, begin: Begin, work?: Work): void {
    const { limit, limitPerOwner, mayBegin, isLight, maxWaiting, maxWaitingPerOwner, maxWaitMs } =
      this.#options;
    const known = this.#owners.get(owner);
    const line = known ?? { running: 0, light: [], other: [] };
    if (this.#running < limit() && line.running < limitPerOwner(owner) && mayBegin(work, owner)) {
      if (!known) this.#owners.set(owner, line);
      this.#running++;
      line.running++;
      return begin(null);
    }
    const waiting = countWaiting(line);
    // If none may wait, the owner's own running turns are too many
    const isOwn = waiting >= maxWaitingPerOwner && (waiting > 0 || line.running >= limitPerOwner(owner));
    if (isOwn || this.#waiting >= maxWaiting)
      return begin(new TurnRefused("Too many operations wait for the database.", isOwn));
    if (!known) this.#owners.set(owner, line);
    this.#waiting++;
    const since = performance.now();
    const waitMs = maxWaitMs();
    (isLight(work) ? line.light : line.other).push({ begin, since, until: since + waitMs, work });
    if (waitMs < Infinity) this.#timer ??= setTimeout(() => this.#refuseLate(), waitMs).unref();
  }

  /**
   * Runs work when the owner gets its turn. The turn ends with the work.
   *
   * @throws {TurnRefused} if too many are waiting, or it has waited too long
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
    const line = this.#owners.get(owner)!;
    line.running--;
    this.#running--;
    const isDone = line.running === 0 && countWaiting(line) === 0;
    if (isDone) this.#owners.delete(owner);
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
   * Takes waiting work out of the queue, to be done within another turn. It tries the owners in turn, and of each the next
   * light and the next other work.
   *
   * @returns null if none suits
   */
  takeWaiting(suits: (work: Work) => boolean): Work | null {
    if (this.#waiting === 0) return null;
    for (const [owner, line] of this.#owners) {
      const next = nextWork(line).find(({ work }) => work !== undefined && suits(work));
      if (!next) continue;
      this.#endWait(line, next);
      this.#owners.delete(owner);
      if (line.running > 0 || countWaiting(line) > 0) this.#owners.set(owner, line);
      return next.work!;
    }
    return null;
  }

  /** Refuses waiting work of an owner. Running work continues. */
  drop(owner: string, isDropped: (work: Work | undefined) => boolean, reason: Error): void {
    const line = this.#owners.get(owner);
    if (!line) return;
    const dropped = new Set([...line.light, ...line.other].filter(({ work }) => isDropped(work)));
    line.light = line.light.filter((each) => !dropped.has(each));
    line.other = line.other.filter((each) => !dropped.has(each));
    this.#waiting -= dropped.size;
    if (line.running === 0 && countWaiting(line) === 0) this.#owners.delete(owner);
    // Later, so that the caller's own result comes first
    for (const { begin } of dropped) setImmediate(() => begin(reason));
  }

  /** How many have a turn, and how many wait. */
  get counts(): { running: number; waiting: number } {
    return { running: this.#running, waiting: this.#waiting };
  }

  /** Number and duration of waits so far. */
  get waits(): Waits {
    return { ...this.#totals, waiting: this.#waiting };
  }

  /** Whether an owner waits for a turn. */
  isWaiting(owner: string): boolean {
    const line = this.#owners.get(owner);
    return line !== undefined && countWaiting(line) > 0;
  }

  #moveBack(owner: string, line: OwnerTurns<Work>): void {
    if (this.#owners.size === 1) return;
    this.#owners.delete(owner);
    this.#owners.set(owner, line);
  }

  /** Ends the wait of an owner's next light or other work. */
  #endWait({ light, other }: OwnerTurns<Work>, head: Waiting<Work>): void {
    (light[0] === head ? light : other).shift();
    this.#waiting--;
    this.#totals.count++;
    this.#totals.ms += performance.now() - head.since;
  }

  #next(): void {
    for (const [owner, line] of this.#owners) {
      if (countWaiting(line) === 0 || line.running >= this.#options.limitPerOwner(owner)) continue;
      const next = nextWork(line).find(({ work }) => this.#options.mayBegin(work, owner));
      if (!next) continue;
      this.#endWait(line, next);
      this.#running++;
      line.running++;
      this.#moveBack(owner, line);
      return next.begin(null);
    }
  }

  /** Refuses work that has waited too long. */
  #refuseLate(): void {
    const now = performance.now();
    let next = Infinity;
    for (const [owner, line] of this.#owners) {
      let late;
      while ((late = nextWork(line).find(({ until }) => until <= now))) {
        this.#endWait(line, late);
        late.begin(new TurnRefused("The operation has waited too long for the database."));
      }
      for (const { until } of nextWork(line)) next = Math.min(next, until);
      if (countWaiting(line) === 0 && line.running === 0) this.#owners.delete(owner);
    }
    this.#timer = next < Infinity ? setTimeout(() => this.#refuseLate(), next - now).unref() : undefined;
  }
}
