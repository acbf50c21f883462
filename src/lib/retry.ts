import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";

const defaultPauses = { firstMs: 500, longestMs: 15_000 };

export interface RetryOptions {
  /**
   * Called after each failure.
   *
   * @param failures how many there were, including this one
   * @returns milliseconds before the next attempt
   * @throws the error that `retry` throws, to give up
   */
  pauseMs(error: unknown, failures: number): number | Promise<number>;
}

/**
 * Tries something until it succeeds, with pauses between the attempts.
 *
 *     const client = await retry(connect, {
 *       pauseMs: (error, failures) => growingPause(failures),
 *     });
 *
 * With a signal, it returns null when that is aborted before a success.
 */
export async function retry<T>(
  work: () => Promise<T>,
  options: RetryOptions & { signal: AbortSignal },
): Promise<T | null>;
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T>;
export async function retry<T>(
  work: () => Promise<T>,
  { pauseMs, signal }: RetryOptions & { signal?: AbortSignal },
): Promise<T | null> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted) return null;
      await pause(await pauseMs(error, failures), signal);
      if (signal?.aborted) return null;
    }
  }
}

/** Tries something until it succeeds, with growing pauses, and logs each failure. Returns null if it is stopped before. */
export function keepTrying<T>(
  work: () => Promise<T>,
  { logger, message, signal }: { logger: Logger; message: string; signal: AbortSignal },
): Promise<T | null> {
  return retry(work, {
    signal,
    pauseMs(error, failures) {
      logger.warn({ err: error }, `${message}; trying again`);
      // Processes that failed together don't try again together
      return growingPause(failures) * (0.5 + Math.random());
    },
  });
}

/** Waits. A signal ends the wait, and the wait doesn't keep the process alive. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal) await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
  else await sleep(ms);
}

/** Returns the pause after a number of failures: it doubles, up to the longest. */
export function growingPause(failures: number, { firstMs, longestMs } = defaultPauses): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}
