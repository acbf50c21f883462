import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds of work at a time, and of the rest after it. */
const [workMs, restMs] = [2, 2];

/**
 * Lets requests have their turns while something long is computed in pieces: half of the event loop's time at most goes
 * into it.
 *
 * @returns what to wait for between two pieces
 */
export function loopShare(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < workMs) return;
    await sleep(restMs);
    since = performance.now();
  };
}
