import type { ClaimedLane } from "./delivery-queues.ts";

/** Milliseconds from which on an attempt hangs: it no longer keeps others of its subscription waiting. */
const hangsAfterMs = 2_000;

/** The lanes that a process is busy with. */
export class UnderWay {
  readonly #attempts = new Map<ClaimedLane, number>();

  get size(): number {
    return this.#attempts.size;
  }

  /** Notes that an attempt begins: the first one of the lane, or the next one. */
  begin(lane: ClaimedLane): void {
    this.#attempts.set(lane, performance.now());
  }

  end(lane: ClaimedLane): void {
    this.#attempts.delete(lane);
  }

  /** How many lanes of each subscription there are, and of how many of these the attempt hangs. */
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
