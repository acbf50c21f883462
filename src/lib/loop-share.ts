import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds of work at a time, and of the pause after it. */
const [workMs, restMs] = [2, 2];

/**
 * Limits a long computation in pieces to half of the event loop's time, so that requests get their turns.
 *
 * @returns a function to await between two pieces
 */
export function makeLoopPause(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < workMs) return;
    await sleep(restMs);
    since = performance.now();
  };
}
