import type { Logger } from "pino";
import { createJobPool } from "../postgres/background-pool.ts";
import { runUntilTrouble } from "./run.ts";
import type { BackgroundWork, StopTimeouts } from "./run.ts";
import { growingPause, pause, retry } from "../lib/retry.ts";
import { within } from "../lib/within.ts";

const pauses = { firstMs: 500, longestMs: 15_000 };
/** Milliseconds that closing connections may take. */
const closingTimeoutMs = 1_000;
/** Milliseconds after which a stop continues without them: a silent database could delay it. */
const stopTimeoutMs = 8_000;

export interface JobRunnerOptions extends BackgroundWork {
  /** URL of the database, with the role that the service logs in as. */
  url: string;
  /** Settings of Postgres for it. */
  session?: Record<string, string>;
  /** Jobs at a time. */
  concurrency: number;
  logger: Logger;
  /** How long a stop waits for running jobs. */
  stopTimeouts?: StopTimeouts;
}

/** The running background work. */
export interface JobRunner {
  /** Lets running jobs end, for some seconds, or returns them. */
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
  const { url, concurrency, session, logger } = options;
  const held: string[] = [];
  const work = async () => {
    // New connections for each run, so that remains of a failed one don't disturb the next
    const pool = createJobPool(url, concurrency, session);
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
