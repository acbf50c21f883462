import { once } from "node:events";
import type { Client } from "pg";
import type { Logger } from "pino";
import { UserError } from "../errors/user-error.ts";
import { pause, retry } from "../lib/retry.ts";

/** Milliseconds before each restart of Postgres. After the last one fails, there is no further attempt. */
const pausesMs = [0, 250, 500, 1_000, 2_000, 4_000, 8_000];
/** Milliseconds without a failure after which earlier failures are forgotten. */
const stableMs = 60_000;

export interface KeepRunningOptions {
  /** A connection that lasts as long as Postgres does. */
  lock: Client;
  /** Starts Postgres, unless it runs, and waits until it accepts connections. Returns a connection. */
  restartServer(): Promise<Client>;
  /** The path of Postgres' log. */
  log: string;
  logger: Logger;
  /** Aborted when Postgres should stop. The promise is then rejected as well. */
  stopping: AbortSignal;
}

/**
 * Restarts Postgres whenever it dies. After too many failures the operator has to solve the problem.
 *
 * @throws {UserError} when it can't be restarted
 */
export async function keepRunning({
  lock,
  restartServer,
  log,
  logger,
  stopping,
}: KeepRunningOptions): Promise<never> {
  let failures = 0;
  const nextPauseMs = () => {
    const pauseMs = pausesMs[failures++];
    if (pauseMs !== undefined) return pauseMs;
    throw new UserError(`Postgres has ended and can't be restarted. Its log ${log} says why.`);
  };
  const restart = () => {
    logger.warn({ attempt: failures }, "Postgres has ended unexpectedly; restarting it");
    return restartServer();
  };
  for (;;) {
    const begin = performance.now();
    await waitForEnd(lock, stopping);
    if (performance.now() - begin > stableMs) failures = 0;
    await pause(nextPauseMs(), stopping);
    stopping.throwIfAborted();
    const restarted = await retry(restart, {
      signal: stopping,
      pauseMs(error) {
        logger.error({ err: error }, "Postgres can't be started");
        return nextPauseMs();
      },
    });
    if (restarted === null) throw stopping.reason;
    lock = restarted;
    logger.warn("Postgres is running again");
    stopping.throwIfAborted();
  }
}

/** Waits until a connection has ended. */
async function waitForEnd(client: Client, stopping: AbortSignal): Promise<void> {
  // The query fails if the connection ended before the listener was added
  const asked = client.query("select").then(() => once(client, "end", { signal: stopping }));
  await asked.catch(() => {});
  stopping.throwIfAborted();
}
