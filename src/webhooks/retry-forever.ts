import type { Logger } from "pino";
import { growingPause, retry } from "../lib/retry.ts";

const pauses = { firstMs: 250, longestMs: 15_000 };

/** Tries something until it succeeds, because the database may be away for a while. Null when it is stopped before. */
export function retryForever<T>(
  what: string,
  work: () => Promise<T>,
  logger: Logger,
  stopping: AbortSignal,
): Promise<T | null> {
  return retry(work, {
    signal: stopping,
    pauseMs(error, failures) {
      logger.warn({ err: error }, `webhooks: can't ${what}; trying again`);
      return growingPause(failures, pauses) * (0.5 + Math.random());
    },
  });
}
