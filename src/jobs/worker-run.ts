import { EventEmitter } from "node:events";
import { Logger as QueueLogger, run } from "graphile-worker";
import type { Job, Runner, TaskList, WorkerEvents, WorkerPool } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { settlesWithin } from "../lib/within.ts";

/** Deadlines of running jobs, in milliseconds after a stop. */
export interface StopTimeouts {
  /** Milliseconds after which jobs get the signal to abort. */
  abortMs: number;
  /** Milliseconds after which jobs are returned to the queue. */
  giveBackMs: number;
}

const defaultStopTimeouts: StopTimeouts = { abortMs: 2_000, giveBackMs: 4_000 };
/** Milliseconds that returning jobs may take. */
const giveBackTimeoutMs = 2_000;
/** Consecutive failures of the database after which a new run is needed. */
const tolerated = 3;

export interface BackgroundWork {
  /** Tasks by name. */
  tasks: TaskList;
  /** The crontab of automatically queued jobs, in graphile-worker's syntax. */
  crontab: string;
  /** Tasks that are queued at each start. */
  atStart: string[];
  /** Most concurrent jobs. */
  concurrency: number;
  logger: Logger;
  /** How long a stop waits for running jobs. */
  stopTimeouts?: StopTimeouts;
}

export interface JobRunOptions extends BackgroundWork {
  pool: Pool;
  /**
   * Worker ids of earlier, ended runs that may still hold jobs. A run removes the ids that it frees and adds its own.
   */
  held: string[];
  /** Stops the run. */
  stopping: AbortSignal;
  /** Whether the run must end after a job although more work is due. With this function, it also ends when nothing is due. */
  mustRest?: () => boolean;
}

/**
 * Runs jobs until it is stopped, or until graphile-worker fails in a way that needs a new run: some of its parts never retry
 * after a failure. In either case, running jobs end or are returned to the queue: at once or, if the database can't be
 * reached, by the next run.
 */
export async function runUntilFailure(options: JobRunOptions): Promise<void> {
  const {
    pool,
    tasks,
    crontab,
    atStart,
    concurrency,
    held,
    stopping,
    mustRest,
    stopTimeouts = defaultStopTimeouts,
  } = options;
  await pool.query("select graphile_worker.force_unlock_workers($1)", [held]);
  held.length = 0;
  const events: WorkerEvents = new EventEmitter();
  let workers: WorkerPool;
  events.once("pool:create", ({ workerPool }) => {
    workers = workerPool;
    held.push(workerPool.id);
  });
  const end = Promise.withResolvers<void>();
  watchForFailures(events, end.resolve);
  if (mustRest) {
    events.on("worker:getJob:empty", () => end.resolve());
    events.on("job:complete", () => {
      if (mustRest()) end.resolve();
    });
  }
  const runner = await run({
    pgPool: pool,
    taskList: tasks,
    // Without either option, graphile-worker would look for a file
    ...(crontab === "" ? { parsedCronItems: [] } : { crontab }),
    concurrency,
    noHandleSignals: true,
    events,
    logger: queueLogger(options.logger),
    gracefulShutdownAbortTimeout: stopTimeouts.abortMs,
    // Without batches, a job's completion is not awaited, and its failure not reported
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  });
  runner.promise.catch(() => {});
  const stop = () => end.resolve();
  stopping.addEventListener("abort", stop);
  if (stopping.aborted) stop();
  try {
    // The job key replaces a waiting job from another process or the last start, so the work isn't done twice
    for (const task of atStart) await runner.addJob(task, {}, { jobKey: task });
    await end.promise;
  } finally {
    stopping.removeEventListener("abort", stop);
    await finish(runner, workers!, stopTimeouts);
  }
}

/** Lets jobs end, then returns the others to the queue. */
async function finish(runner: Runner, workers: WorkerPool, { giveBackMs }: StopTimeouts): Promise<void> {
  // Not awaited, because it also waits for the cron timer, which may sleep for a minute after a failure
  runner.stop().catch(() => {});
  if (await settlesWithin(giveBackMs, workers.promise)) return;
  await settlesWithin(
    giveBackTimeoutMs,
    Promise.resolve(workers.forcefulShutdown("The worker has stopped.")),
  );
}

/** Calls `report` after several consecutive failures of the database, or if graphile-worker has given up. */
function watchForFailures(events: WorkerEvents, report: () => void): void {
  let failures = 0;
  const fail = () => {
    if (++failures >= tolerated) report();
  };
  for (const event of ["worker:getJob:error", "pool:listen:error"] as const) events.on(event, fail);
  for (const event of ["worker:getJob:empty", "job:start"] as const) events.on(event, () => (failures = 0));
  events.once("pool:gracefulShutdown", report);
}

interface Meta {
  failure?: boolean;
  success?: boolean;
  job?: Job;
  duration?: number;
  error?: unknown;
  /** A task's report on its work. */
  report?: object;
}

/** Writes graphile-worker's messages to the service's log: results of jobs, and its own failures. */
function queueLogger(logger: Logger): QueueLogger {
  return new QueueLogger(() => (level, message, meta) => {
    const { failure, success, job, duration, error, report } = meta as Meta;
    if (report) return logger.info(report, message);
    if (job && (failure || success)) {
      const details = { job: describeJob(job), milliseconds: Math.round(duration ?? 0) };
      if (success) logger.info(details, "a job is done");
      else logger.error({ ...details, err: error }, "a job failed");
    } else if (level === "error" || level === "warning") {
      logger.warn({ err: error }, `background work: ${message}`);
    } else logger.debug(`background work: ${message}`);
  });
}

/** Returns the log fields of a job, without its payload, which may be long. */
function describeJob({ id, task_identifier, attempts, max_attempts }: Job) {
  return { id, task: task_identifier, attempts, maxAttempts: max_attempts };
}
