import type { ClaimedQueue } from "./delivery-queues.ts";

/** The share of a lease in which messages are sent, so that they arrive before it ends. */
const usableShare = 0.75;
/** Milliseconds after which an attempt counts as hanging. It then no longer holds up others of its subscription. */
const hangsAfterMs = 2_000;

/** A time by two clocks: the steady clock stops while the machine sleeps, and people change the wall clock. */
interface Moment {
  steady: number;
  wall: number;
}

/** A claimed queue and its times. */
interface KnownQueue {
  queue: ClaimedQueue;
  /** A time before its lease began or was renewed, so the lease lasts at least until leaseMs later. */
  leasedAt: Moment;
  /** When its attempt began, by the steady clock. */
  attemptAt: number;
}

const queueKey = ({ subscription_id, entity_id, claim }: ClaimedQueue): string =>
  `${subscription_id} ${entity_id} ${claim}`;

/**
 * The queues that this process works on, with the times of their leases by its own clocks. Only Postgres decides when a
 * lease ends, so the clocks of different machines need not agree. A process that was suspended, or cut off from Postgres,
 * sees that its leases may have ended.
 */
export class ClaimedQueues {
  readonly #leaseMs: number;
  readonly #known = new Map<string, KnownQueue>();

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  get size(): number {
    return this.#known.size;
  }

  /** Call this before leases are taken or renewed. */
  now(): Moment {
    return { steady: performance.now(), wall: Date.now() };
  }

  /** The claims of all queues. */
  get claims(): string[] {
    return [...new Set([...this.#known.values()].map(({ queue }) => queue.claim))];
  }

  /** @param leasedAt a moment before the queue was taken */
  begin({ subscription_id, entity_id, claim }: ClaimedQueue, leasedAt: Moment): void {
    const queue = { subscription_id, entity_id, claim };
    this.#known.set(queueKey(queue), { queue, leasedAt, attemptAt: performance.now() });
  }

  /** Notes that the next attempt of a queue begins. */
  noteAttempt(queue: ClaimedQueue): void {
    const known = this.#known.get(queueKey(queue));
    if (known) known.attemptAt = performance.now();
  }

  /** @param leasedAt a moment before the queues were renewed */
  noteRenewal(queues: readonly ClaimedQueue[], leasedAt: Moment): void {
    for (const queue of queues) {
      const known = this.#known.get(queueKey(queue));
      if (known) known.leasedAt = leasedAt;
    }
  }

  end(queue: ClaimedQueue): void {
    this.#known.delete(queueKey(queue));
  }

  /** Whether no other process can have taken the queue. */
  isHeld(queue: ClaimedQueue): boolean {
    const known = this.#known.get(queueKey(queue));
    if (!known) return false;
    const { steady, wall } = this.now();
    const passed = Math.max(steady - known.leasedAt.steady, Math.abs(wall - known.leasedAt.wall));
    return passed < this.#leaseMs * usableShare;
  }

  /** Counts by subscription: all its queues, and the queues whose attempt hangs. */
  get counts(): { busy: Map<string, number>; hanging: Map<string, number> } {
    const busy = new Map<string, number>();
    const hanging = new Map<string, number>();
    const now = performance.now();
    for (const { queue, attemptAt } of this.#known.values()) {
      const id = queue.subscription_id;
      busy.set(id, (busy.get(id) ?? 0) + 1);
      if (now - attemptAt >= hangsAfterMs) hanging.set(id, (hanging.get(id) ?? 0) + 1);
    }
    return { busy, hanging };
  }
}
