import type { ClaimedQueue } from "./delivery-queues.ts";

/** Milliseconds after which an attempt hangs: it no longer holds up others of its subscription. */
const hangsAfterMs = 2_000;

/** The queues that a process is working on. */
export class UnderWay {
  readonly #attempts = new Map<ClaimedQueue, number>();

  get size(): number {
    return this.#attempts.size;
  }

  /** Notes that an attempt begins: the first one of the queue, or the next one. */
  begin(queue: ClaimedQueue): void {
    this.#attempts.set(queue, performance.now());
  }

  end(queue: ClaimedQueue): void {
    this.#attempts.delete(queue);
  }

  /** The number of queues of each subscription, and of those whose attempt hangs. */
  counts(): { busy: Map<string, number>; hanging: Map<string, number> } {
    const busy = new Map<string, number>();
    const hanging = new Map<string, number>();
    const now = performance.now();
    for (const [{ subscription_id: id }, begun] of this.#attempts) {
      busy.set(id, (busy.get(id) ?? 0) + 1);
      if (now - begun >= hangsAfterMs) hanging.set(id, (hanging.get(id) ?? 0) + 1);
    }
    return { busy, hanging };
  }
}
