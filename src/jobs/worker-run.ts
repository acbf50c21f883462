import { EventEmitter } from "node:events";
import { Logger as QueueLogger, run } from "graphile-worker";
import type { Job, Runner, TaskList, WorkerEvents, WorkerPool } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { within } from "../lib/within.ts";

/** Milliseconds after a stop at which running jobs must end. */
export interface StopTimeouts {
  /** Milliseconds after which they are asked to abort. */
  abortMs: number;
  /** Milliseconds after which they are returned to the queue. */
  giveBackMs: number;
}

const defaultStopTimeouts: StopTimeouts = { abortMs: 2_000, giveBackMs: 4_000 };
/** Milliseconds for returning them. */
const giveBackTimeoutMs = 2_000;
/** Failures of the database in a row after which a new run is needed. */
const tolerated = 3;

export interface BackgroundWork {
  /** Tasks, by the names of their jobs. */
  tasks: TaskList;
  /** When jobs are queued automatically, in graphile-worker's syntax. */
  crontab: string;
  /** Tasks of which a job is queued at each start. */
  atStart: string[];
  /** Jobs at a time. */
  concurrency: number;
  logger: Logger;
  /** How long a stop waits for running jobs. */
  stopTimeouts?: StopTimeouts;
}

export interface JobRunOptions extends BackgroundWork {
  pool: Pool;
  /**
   * Worker ids under which earlier, ended runs may still hold jobs. A run removes those that it frees and adds its own.
   */
  held: string[];
  /** Stops the run. */
  stopping: AbortSignal;
  /** Whether it is to end although there is more to do, after a job. If given, it also ends when nothing is due. */
  mustRest?: () => boolean;
}

/**
 * Works until it is stopped, or until graphile-worker has a problem that it can't solve: some of its parts never try
 * again after a failure. Then a new run is needed. In either case running jobs end or are returned: at once or, if the
 * database can't be reached, by the next run.
 */
export async function runUntilTrouble(options: JobRunOptions): Promise<void> {
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
  onTrouble(events, end.resolve);
  if (mustRest) {
    events.on("worker:getJob:empty", () => end.resolve());
    events.on("job:complete", () => {
      if (mustRest()) end.resolve();
    });
  }
  const runner = await run({
    pgPool: pool,
    taskList: tasks,
    // Without either it would look for a file
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
    // A waiting job, from another process or the last start, is replaced and not done twice
    for (const task of atStart) await runner.addJob(task, {}, { jobKey: task });
    await end.promise;
  } finally {
    stopping.removeEventListener("abort", stop);
    await finish(runner, workers!, stopTimeouts);
  }
}

/** Lets jobs end, then returns those that don't. */
async function finish(runner: Runner, workers: WorkerPool, { giveBackMs }: StopTimeouts): Promise<void> {
  // Not awaited, because it also waits for the cron timer, which may sleep for a minute after a failure
  runner.stop().catch(() => {});
  if (await within(giveBackMs, workers.promise)) return;
  await within(giveBackTimeoutMs, Promise.resolve(workers.forcefulShutdown("The worker has stopped.")));
}

/** Reports when the database has failed several times in a row, or graphile-worker has given up. */
function onTrouble(events: WorkerEvents, report: () => void): void {
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
  /** Report of a task about its work. */
  report?: object;
}

/** Sends graphile-worker's messages to the service's log: the results of jobs, and its own problems. */
function queueLogger(logger: Logger): QueueLogger {
  return new QueueLogger(() => (level, message, meta) => {
    const { failure, success, job, duration, error, report } = meta as Meta;
    if (report) return logger.info(report, message);
    if (job && (failure || success)) {
      const details = { job: describe(job), milliseconds: Math.round(duration ?? 0) };
      if (success) logger.info(details, "a job is done");
      else logger.error({ ...details, err: error }, "a job failed");
    } else if (level === "error" || level === "warning") {
      logger.warn({ err: error }, `background work: ${message}`);
    } else logger.debug(`background work: ${message}`);
  });
}

/** The identity of a job. Its payload may be long and doesn't belong into the log. */
function describe({ id, task_identifier, attempts, max_attempts }: Job) {
  return { id, task: task_identifier, attempts, maxAttempts: max_attempts };
}
