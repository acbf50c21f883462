import { setTimeout as sleep } from "node:timers/promises";

/**
 * Waits until a condition holds. It checks every few milliseconds at first, later ten times a second. Fails after
 * two minutes: on a busy machine, starting Postgres may take half a minute.
 */
export async function until(holds: () => boolean | Promise<boolean>, timeoutMs = 120_000): Promise<void> {
  const end = performance.now() + timeoutMs;
  for (let pauseMs = 5; !(await holds()); pauseMs = Math.min(1.3 * pauseMs, 100)) {
    if (performance.now() > end) throw new Error(`It doesn't hold after ${timeoutMs} ms: ${holds}`);
    await sleep(pauseMs);
  }
}
