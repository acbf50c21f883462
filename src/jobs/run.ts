import { EventEmitter } from "node:events";
import { run } from "graphile-worker";
import type { Runner, TaskList, WorkerEvents, WorkerPool } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { queueLogger } from "./log.ts";
import { within } from "../lib/within.ts";

/** When jobs under way end after the stop began. */
export interface StopTimeouts {
  /** When they are asked to break off. */
  abortMs: number;
  /** When they are given back. */
  giveBackMs: number;
}

const defaultStopTimeouts: StopTimeouts = { abortMs: 2_000, giveBackMs: 4_000 };
/** Milliseconds that giving them back may take. */
const giveBackTimeoutMs = 2_000;
/** How often in a row the database may fail before all is begun anew. */
const tolerated = 3;

export interface BackgroundWork {
  /** What there is to do, by the names that jobs carry. */
  tasks: TaskList;
  /** When jobs are queued by themselves, as graphile-worker reads it. */
  crontab: string;
  /** Tasks of which a job is queued at each start. */
  atStart: string[];
}

export interface JobRunOptions extends BackgroundWork {
  pool: Pool;
  /** Jobs at a time. */
  concurrency: number;
  logger: Logger;
  /** Names under which earlier runs, which have ended, held jobs. A run takes them off and adds its own. */
  held: string[];
  stopTimeouts?: StopTimeouts;
  /** Aborted when the work is to stop. */
  stopping: AbortSignal;
}

/**
 * Works until it is to stop, or until graphile-worker is in trouble that it doesn't get out of by itself: some of its
 * parts never try again what failed once. Then a new run is needed. Either way jobs under way end, or are given back:
 * at once, or when the database couldn't be told, by the next run.
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
  const runner = await run({
    pgPool: pool,
    taskList: tasks,
    crontab,
    concurrency,
    noHandleSignals: true,
    events,
    logger: queueLogger(options.logger),
    gracefulShutdownAbortTimeout: stopTimeouts.abortMs,
    // Nobody waits for a job to be struck off, nor hears when that fails, unless it is done in batches
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  });
  runner.promise.catch(() => {});
  const stop = () => end.resolve();
  stopping.addEventListener("abort", stop);
  if (stopping.aborted) stop();
  try {
    // A job that waits already, from another process or the last start, is replaced and not done twice
    for (const task of atStart) await runner.addJob(task, {}, { jobKey: task });
    await end.promise;
  } finally {
    stopping.removeEventListener("abort", stop);
    await finish(runner, workers!, stopTimeouts);
  }
}

/** Lets jobs end, then takes them away from those that don't. */
async function finish(runner: Runner, workers: WorkerPool, { giveBackMs }: StopTimeouts): Promise<void> {
  // Not awaited, for it also waits for the clock, which may be asleep for a minute after a failure
  runner.stop().catch(() => {});
  if (await within(giveBackMs, workers.promise)) return;
  await within(giveBackTimeoutMs, Promise.resolve(workers.forcefulShutdown("The worker has stopped.")));
}

/** Tells when the database has failed several times in a row, or graphile-worker has given up. */
function onTrouble(events: WorkerEvents, tell: () => void): void {
  let failures = 0;
  const fail = () => {
    if (++failures >= tolerated) tell();
  };
  for (const event of ["worker:getJob:error", "pool:listen:error"] as const) events.on(event, fail);
  for (const event of ["worker:getJob:empty", "job:start"] as const) events.on(event, () => (failures = 0));
  events.once("pool:gracefulShutdown", tell);
}
