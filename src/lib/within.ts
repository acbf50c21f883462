import { setTimeout as sleep } from "node:timers/promises";

/** Waits for work to end, successfully or not, at most for this time. Returns whether it has ended. */
export async function settlesWithin(timeoutMs: number, work: PromiseLike<unknown>): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([
      Promise.resolve(work).then(
        () => true,
        () => true,
      ),
      sleep(timeoutMs, false, { signal: timer.signal }),
    ]);
  } finally {
    timer.abort();
  }
}
