import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";

const lookEveryMs = 2;

/**
 * Waits until all connections of a pool are back, before something that holds up the event loop: requests that have waited
 * for a lock of Postgres don't wait for that too.
 *
 * @param longestMs for how long, while there are ever new requests
 */
export async function untilIdle(pool: Pool, longestMs = 100): Promise<void> {
  const until = performance.now() + longestMs;
  do await sleep(lookEveryMs);
  while (pool.totalCount > pool.idleCount && performance.now() < until);
}
