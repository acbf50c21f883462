import { createJobPool } from "../postgres/background-pool.ts";
import { runUntilFailure } from "./worker-run.ts";
import type { BackgroundWork } from "./worker-run.ts";
import { keepTrying, pause } from "../lib/retry.ts";
import { settlesWithin } from "../lib/within.ts";

/** Milliseconds before a new run after a failure. */
const recoveryMs = 500;
/** Milliseconds that closing connections may take. */
const closingTimeoutMs = 1_000;
/** Milliseconds after which a stop no longer waits for the run: a database that doesn't respond could delay it. */
const stopTimeoutMs = 8_000;

export interface JobRunnerOptions extends BackgroundWork {
  /** Database URL with the service's login role. */
  url: string;
  /** Settings of its Postgres sessions. */
  session?: Record<string, string>;
}

/** The running background work. */
export interface JobRunner {
  /** Stops. Running jobs have some seconds to end; the others are returned to the queue. */
  stop(): Promise<void>;
}

/** Starts to run jobs from the queue. While the database can't be reached, it keeps trying. */
export function startJobs(options: JobRunnerOptions): JobRunner {
  const stop = new AbortController();
  const ended = keepWorking(options, stop.signal);
  return {
    async stop() {
      stop.abort();
      await settlesWithin(stopTimeoutMs, ended);
    },
  };
}

async function keepWorking(options: JobRunnerOptions, stopping: AbortSignal): Promise<void> {
  const { url, concurrency, session, logger } = options;
  const held: string[] = [];
  const work = async () => {
    // Each run has new connections, so that a failed run doesn't disturb the next
    const pool = createJobPool(url, concurrency, session);
    try {
      await runUntilFailure({ ...options, pool, held, stopping });
    } finally {
      await settlesWithin(closingTimeoutMs, pool.end());
    }
  };
  while (!stopping.aborted) {
    await keepTrying(work, { logger, message: "background work can't start", signal: stopping });
    if (stopping.aborted) return;
    logger.warn("background work lost the database; starting again");
    await pause(recoveryMs, stopping);
  }
}
