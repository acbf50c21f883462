import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";

/** Milliseconds before what failed is tried again; doubled each time that it fails, up to the longest. */
const firstDelay = 250;
const longestDelay = 15_000;

/**
 * Does something again and again until it succeeds: the database may be away for a while. Null when it was to stop
 * before.
 */
export async function persist<T>(
  what: string,
  work: () => Promise<T>,
  logger: Logger,
  stopping: AbortSignal,
): Promise<T | null> {
  for (let delay = firstDelay; ; delay = Math.min(2 * delay, longestDelay)) {
    try {
      return await work();
    } catch (error) {
      if (stopping.aborted) return null;
      logger.warn({ err: error }, `webhooks: can't ${what}; trying again`);
    }
    await sleep(delay * (0.5 + Math.random()), undefined, { signal: stopping, ref: false }).catch(() => {});
    if (stopping.aborted) return null;
  }
}
