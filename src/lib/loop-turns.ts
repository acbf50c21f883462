import type { Waits } from "./turns.ts";

/** Milliseconds of continuous work after which a client that has had a turn waits for the next one. */
const sliceMs = 2;
/** Milliseconds without work after which the next request begins a new slice. */
const gapMs = 1;
/** Milliseconds after which a client counts as alone, when no other has asked. */
const aloneAfterMs = 1_000;
/** Clients that are remembered. */
const maxClients = 10_000;

/** Turns of clients at some work. */
export interface WorkTurns {
  /** Runs a piece of a client's work, at once if others needn't wait for it. */
  take(client: string, work: () => void): void;
  /** The same for work that follows a promise. */
  turn(client: string): Promise<void>;
  /** What has waited until now. */
  readonly waits: Waits;
}

interface Line {
  /** The last slice in which the client had a turn. */
  slice: number;
  waiting: { work: () => void; since: number }[];
}

/**
 * Shares the event loop among clients. Each turn of the loop does a slice of work, and one piece more for each client that
 * has had none; whatever else has arrived waits, and is done client by client, one piece in each turn. So the requests
 * of one client, however many it sends at once, don't hold up those of another. A client that is alone never waits.
 */
export class LoopTurns implements WorkTurns {
  // Not a map of what waits: one that is filled and emptied with each request leaves tables behind that keep requests alive
  readonly #lines = new Map<string, Line>();
  /** Those with waiting work, longest since its last turn first. */
  readonly #waiting: Line[] = [];
  /** The number of the present slice. */
  #slice = 0;
  #since = -Infinity;
  #workedUntil = -Infinity;
  /** The client that asked last, and since when only it has. */
  #latest = { client: "", since: -Infinity };
  readonly #waited = { count: 0, ms: 0 };

  take(client: string, work: () => void): void {
    const now = performance.now();
    if (client !== this.#latest.client) this.#latest = { client, since: now };
    if (this.#waiting.length === 0) {
      if (now - this.#latest.since > aloneAfterMs) return work();
      if (now - this.#workedUntil > gapMs) this.#beginSlice(now);
    }
    const line = this.#lineOf(client);
    const isNext = line.waiting.length === 0 && (now - this.#since < sliceMs || line.slice !== this.#slice);
    if (isNext) return this.#run(line, work);
    if (this.#waiting.length === 0) setImmediate(this.#turn);
    if (line.waiting.push({ work, since: now }) === 1) this.#waiting.push(line);
  }

  turn(client: string): Promise<void> {
    return new Promise((resolve) => this.take(client, resolve));
  }

  /** Pieces of work that wait. */
  get waiting(): number {
    return this.#waiting.reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  /** What has waited until now. */
  get waits(): Waits {
    return { ...this.#waited, waiting: this.waiting };
  }

  readonly #turn = (): void => {
    const now = performance.now();
    this.#beginSlice(now);
    const line = this.#waiting.shift()!;
    const { work, since } = line.waiting.shift()!;
    this.#waited.count++;
    this.#waited.ms += now - since;
    // Behind all others that wait
    if (line.waiting.length > 0) this.#waiting.push(line);
    if (this.#waiting.length > 0) setImmediate(this.#turn);
    this.#run(line, work);
  };

  #lineOf(client: string): Line {
    let line = this.#lines.get(client);
    if (!line) {
      // Those with waiting work are in the other list as well
      if (this.#lines.size >= maxClients) this.#lines.clear();
      this.#lines.set(client, (line = { slice: -1, waiting: [] }));
    }
    return line;
  }

  #beginSlice(now: number): void {
    this.#since = now;
    this.#slice++;
  }

  #run(line: Line, work: () => void): void {
    line.slice = this.#slice;
    work();
    this.#workedUntil = performance.now();
  }
}

/** The turns of a group's clients: groups share the event loop like clients do, however many clients they have. */
export class GroupTurns implements WorkTurns {
  readonly #groups: LoopTurns;
  readonly #group: string;
  readonly #clients = new LoopTurns();

  constructor(groups: LoopTurns, group: string) {
    this.#groups = groups;
    this.#group = group;
  }

  take(client: string, work: () => void): void {
    this.#groups.take(this.#group, () => this.#clients.take(client, work));
  }

  turn(client: string): Promise<void> {
    return new Promise((resolve) => this.take(client, resolve));
  }

  get waits(): Waits {
    return this.#clients.waits;
  }
}
