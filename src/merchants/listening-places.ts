import type { ChangeListener, Listen, Listener } from "../postgres/change-listener.ts";

/** Uses within a second from which a listener starts, and milliseconds without any after which it stops. */
const [busyPerSecond, idleMs] = [6, 10_000];

/** A limited number of connections that listen for notifications, shared by several databases. */
export class ListenerSlots {
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a place. @returns whether one was free */
  take(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  release(): void {
    this.#free++;
  }

  /** Listens from now on, if a place is free. */
  readonly listen: Listen = (begin) => new SlottedListener(begin, this, false);

  /** Listens during frequent use, if a place is then free. */
  readonly listenWhileUsed: Listen = (begin) => new SlottedListener(begin, this, true);
}

/**
 * A listener that listens if a place is free. Otherwise cached values are unreliable, as when a listener has lost its
 * connection.
 */
class SlottedListener implements Listener {
  readonly #begin: () => ChangeListener;
  readonly #places: ListenerSlots;
  readonly #isOnDemand: boolean;
  #listener: ChangeListener | null = null;
  #closing: Promise<void> = Promise.resolve();
  /** The number of uses since a time. */
  #uses = { count: 0, since: -Infinity };
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param isForUse whether it listens only during frequent use */
  constructor(begin: () => ChangeListener, places: ListenerSlots, isForUse: boolean) {
    this.#begin = begin;
    this.#places = places;
    this.#isOnDemand = isForUse;
    if (!isForUse) this.#listen();
  }

  /** Notes that a caller relies on it. */
  use(): void {
    if (!this.#isOnDemand) return;
    if (this.#listener) return void this.#idle!.refresh();
    const now = performance.now();
    if (now - this.#uses.since > 1_000) this.#uses = { count: 0, since: now };
    if (++this.#uses.count < busyPerSecond || this.#isClosed || !this.#listen()) return;
    this.#idle = setTimeout(() => this.#end(), idleMs).unref();
  }

  /** Whether it would notice a change made now. */
  get isListening(): boolean {
    return this.#listener?.isListening ?? false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#end();
    await this.#closing;
  }

  #listen(): boolean {
    const hasPlace = this.#places.take();
    if (hasPlace) this.#listener = this.#begin();
    return hasPlace;
  }

  #end(): void {
    if (!this.#listener) return;
    clearTimeout(this.#idle);
    this.#closing = this.#listener.close().finally(() => this.#places.release());
    this.#listener = null;
  }
}
