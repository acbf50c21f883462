import type { ClaimedQueue } from "./delivery-queues.ts";

/** The part of a lease in which messages are sent: they then arrive before it ends. */
const reliedOn = 0.75;

/** A time by two clocks, because one stops while the machine sleeps, and people change the other. */
interface Moment {
  steady: number;
  wall: number;
}

const keyOf = ({ subscription_id, entity_id, claim }: ClaimedQueue): string =>
  `${subscription_id} ${entity_id} ${claim}`;

/**
 * What this process knows about its leases by its own clocks: a time at which each had certainly begun. Only Postgres
 * decides how long they last, so clocks need not agree. A process that stood still, or was cut off from Postgres, finds
 * that they may have ended.
 */
export class Leases {
  readonly #leaseMs: number;
  readonly #since = new Map<string, { queue: ClaimedQueue; moment: Moment }>();

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Call this before leases are taken or renewed. */
  now(): Moment {
    return { steady: performance.now(), wall: Date.now() };
  }

  /** Claims of queues that are being worked on. */
  claims(): string[] {
    return [...new Set([...this.#since.values()].map(({ queue }) => queue.claim))];
  }

  /** @param moment from before the queue was taken */
  begin({ subscription_id, entity_id, claim }: ClaimedQueue, moment: Moment): void {
    const queue = { subscription_id, entity_id, claim };
    this.#since.set(keyOf(queue), { queue, moment });
  }

  /** @param moment from before the queues were renewed */
  renewed(queues: readonly ClaimedQueue[], moment: Moment): void {
    for (const queue of queues) {
      const known = this.#since.get(keyOf(queue));
      if (known) known.moment = moment;
    }
  }

  end(queue: ClaimedQueue): void {
    this.#since.delete(keyOf(queue));
  }

  /** Whether no other process can have taken it. */
  isHeld(queue: ClaimedQueue): boolean {
    const known = this.#since.get(keyOf(queue));
    if (!known) return false;
    const { steady, wall } = this.now();
    const passed = Math.max(steady - known.moment.steady, Math.abs(wall - known.moment.wall));
    return passed < this.#leaseMs * reliedOn;
  }
}
