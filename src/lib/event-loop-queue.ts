import { FairQueue, unboundedWaiting } from "./fair-queue.ts";
import type { Waits } from "./fair-queue.ts";
import { LatestOwner } from "./latest-owner.ts";

/** Milliseconds of continuous work after which an owner that has had a turn waits for the next one. */
const sliceMs = 2;
/** Milliseconds without work after which the next request begins a new slice. */
const gapMs = 1;
/** Maximum number of owners whose last slice is remembered. */
const maxOwners = 10_000;

/**
 * Shares the event loop among owners, such as tokens. Each turn of the loop does a slice of work, and one more piece for each
 * owner that has had none. All other work waits in a fair queue, from which each turn of the loop takes one piece. So an
 * owner that sends many requests at once doesn't delay the requests of others. An owner that is alone never waits.
 */
export class EventLoopQueue {
  readonly #parent: { queue: EventLoopQueue; owner: string } | null;
  /** The last slice in which each owner had a turn. */
  readonly #slices = new Map<string, number>();
  readonly #queue = new FairQueue({ limit: () => (this.#isTurnFree ? 1 : 0), ...unboundedWaiting });
  /** Whether a waiting piece of work may begin. */
  #isTurnFree = false;
  /** The number of the current slice. */
  #slice = 0;
  #sliceBegan = -Infinity;
  #lastWorkEnd = -Infinity;
  readonly #latest = new LatestOwner();

  /** @param within a queue in which all owners of this one count as one owner, such as all tokens of a merchant */
  constructor(within: { queue: EventLoopQueue; owner: string } | null = null) {
    this.#parent = within;
  }

  /** Does a piece of an owner's work: at once, if that delays nobody else. */
  take(owner: string, work: () => void): void {
    if (this.#parent) this.#parent.queue.take(this.#parent.owner, () => this.#take(owner, work));
    else this.#take(owner, work);
  }

  /** Waits for a turn. */
  waitForTurn(owner: string): Promise<void> {
    return new Promise((resolve) => this.take(owner, resolve));
  }

  /** Number and duration of waits so far. */
  get waits(): Waits {
    return this.#queue.waits;
  }

  #take(owner: string, work: () => void): void {
    const now = performance.now();
    this.#latest.note(owner, now);
    const isQuiet = this.#queue.counts.waiting === 0;
    if (isQuiet) {
      if (this.#latest.isAlone(owner, now)) return work();
      if (now - this.#lastWorkEnd > gapMs) this.#beginSlice(now);
    }
    const mayWork = now - this.#sliceBegan < sliceMs || this.#slices.get(owner) !== this.#slice;
    if (mayWork && (isQuiet || !this.#queue.isWaiting(owner))) return this.#run(owner, work);
    if (isQuiet) setImmediate(this.#runNext);
    this.#queue.take(owner, () => {
      this.#isTurnFree = false;
      this.#queue.end(owner);
      this.#run(owner, work);
    });
  }

  /** Does the next waiting piece of work. */
  readonly #runNext = (): void => {
    this.#beginSlice(performance.now());
    if (this.#queue.counts.waiting > 1) setImmediate(this.#runNext);
    this.#isTurnFree = true;
    this.#queue.proceed();
  };

  #beginSlice(now: number): void {
    this.#sliceBegan = now;
    this.#slice++;
  }

  #run(owner: string, work: () => void): void {
    if (this.#slices.get(owner) !== this.#slice) {
      if (this.#slices.size >= maxOwners) this.#slices.clear();
      this.#slices.set(owner, this.#slice);
    }
    work();
    this.#lastWorkEnd = performance.now();
  }
}
