import type { Logger } from "pino";
import { createJobPool } from "../database/background-pool.ts";
import { runUntilTrouble } from "./run.ts";
import type { BackgroundWork, StopTimeouts } from "./run.ts";
import { growingPause, pause, retry } from "../lib/retry.ts";
import { within } from "../lib/within.ts";

const pauses = { firstMs: 500, longestMs: 15_000 };
/** Milliseconds that closing connections may take. */
const closingTimeoutMs = 1_000;
/** Milliseconds after which nobody waits for the end any more: a database that is silent could put it off. */
const stopTimeoutMs = 8_000;

export interface JobRunnerOptions extends BackgroundWork {
  /** The database, as the role that the service logs in with. */
  url: string;
  /** Jobs at a time. */
  concurrency: number;
  logger: Logger;
  /** How long jobs under way are waited for. */
  stopTimeouts?: StopTimeouts;
}

/** Background work under way. */
export interface JobRunner {
  /** Lets jobs under way end, for some seconds, or gives them back. */
  stop(): Promise<void>;
}

/** Begins to take jobs from the queue. While the database can't be reached, it keeps trying. */
export function startJobs(options: JobRunnerOptions): JobRunner {
  const stop = new AbortController();
  const ended = keepWorking(options, stop.signal);
  return {
    async stop() {
      stop.abort();
      await within(stopTimeoutMs, ended);
    },
  };
}

async function keepWorking(options: JobRunnerOptions, stopping: AbortSignal): Promise<void> {
  const { url, concurrency, logger } = options;
  const held: string[] = [];
  const work = async () => {
    // New connections for each run: what is left of one in trouble must not get into the way of the next
    const pool = createJobPool(url, concurrency);
    try {
      await runUntilTrouble({ ...options, pool, held, stopping });
    } finally {
      await within(closingTimeoutMs, pool.end());
    }
  };
  while (!stopping.aborted) {
    await retry(work, {
      signal: stopping,
      pauseMs(error, failures) {
        logger.warn({ err: error }, "background work can't begin; trying again");
        return growingPause(failures, pauses);
      },
    });
    if (stopping.aborted) return;
    logger.warn("background work lost the database; starting again");
    await pause(pauses.firstMs, stopping);
  }
}
