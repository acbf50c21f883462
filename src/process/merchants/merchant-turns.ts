import { unboundedQueue } from "../../lib/fair-queue.ts";
import type { FairQueue } from "../../lib/fair-queue.ts";
import type { Kind } from "./due.ts";

/** Merchants that are asked at a time, and of one server: one that doesn't answer holds up no others. */
const [visitsAtOnce, visitsOfServer] = [8, 2];

/** Turns at working on merchants and at visiting them. Each merchant runs or waits once for each of these. */
export class MerchantTurns {
  readonly #queues: Record<Kind | "visits", FairQueue>;
  readonly #running = new Map<string, Promise<void>>();

  /** @param sizes merchants that are worked on at a time, by the kind of work */
  constructor({ webhooks, bulk, jobs }: Record<Kind, number>) {
    this.#queues = {
      webhooks: unboundedQueue(webhooks),
      bulk: unboundedQueue(bulk),
      jobs: unboundedQueue(jobs),
      visits: unboundedQueue(visitsAtOnce, visitsOfServer),
    };
  }

  /** How many merchants are worked on, and how many wait for that. */
  counts(kind: Kind): { running: number; waiting: number } {
    return this.#queues[kind].counts;
  }

  has(kind: Kind | "visits", merchant: string): boolean {
    return this.#running.has(`${kind} ${merchant}`);
  }

  /** Works on a merchant when it is its turn, unless it runs or waits already. @param owner whose turn it is */
  run(kind: Kind | "visits", merchant: string, work: () => Promise<void>, owner = merchant): void {
    if (this.has(kind, merchant)) return;
    const key = `${kind} ${merchant}`;
    const running = this.#queues[kind].run(owner, work).finally(() => this.#running.delete(key));
    this.#running.set(key, running);
  }

  /** Waits until all work has ended, also that which waits. */
  async end(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
