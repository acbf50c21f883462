import type { ClaimedQueue } from "./delivery-queues.ts";

/** The part of a lease for which it is relied on: a message that is sent then arrives before it ends. */
const reliedOn = 0.75;

/** A moment by two clocks: one doesn't go on while the machine sleeps, the other is set by people. */
interface Moment {
  steady: number;
  wall: number;
}

const keyOf = ({ subscription_id, entity_id, claim }: ClaimedQueue): string =>
  `${subscription_id} ${entity_id} ${claim}`;

/**
 * What this process knows about its leases, by its own clocks: since when each lasts at least. How long they last is
 * for Postgres to say, so clocks need not agree. A process that stood still, or was cut off from Postgres, finds that
 * they may have ended.
 */
export class Leases {
  readonly #leaseMs: number;
  readonly #since = new Map<string, { queue: ClaimedQueue; moment: Moment }>();

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** To be asked before leases are taken or renewed. */
  now(): Moment {
    return { steady: performance.now(), wall: Date.now() };
  }

  /** Claims of queues that are worked on. */
  claims(): string[] {
    return [...new Set([...this.#since.values()].map(({ queue }) => queue.claim))];
  }

  /** @param moment before the queue was taken */
  begin({ subscription_id, entity_id, claim }: ClaimedQueue, moment: Moment): void {
    const queue = { subscription_id, entity_id, claim };
    this.#since.set(keyOf(queue), { queue, moment });
  }

  /** @param moment before the queues were renewed */
  renewed(queues: readonly ClaimedQueue[], moment: Moment): void {
    for (const queue of queues) {
      const known = this.#since.get(keyOf(queue));
      if (known) known.moment = moment;
    }
  }

  end(queue: ClaimedQueue): void {
    this.#since.delete(keyOf(queue));
  }

  /** Whether nobody else can have taken it. */
  isHeld(queue: ClaimedQueue): boolean {
    const known = this.#since.get(keyOf(queue));
    if (!known) return false;
    const { steady, wall } = this.now();
    const passed = Math.max(steady - known.moment.steady, Math.abs(wall - known.moment.wall));
    return passed < this.#leaseMs * reliedOn;
  }
}
