import { setTimeout as sleep } from "node:timers/promises";
import type { JobHelpers } from "graphile-worker";

/** Milliseconds after which the rest is left to another job, so that other jobs get a turn. */
const workMs = 2_000;
/** The share of the time in which it works; in the rest, others have the database and its disk to themselves. */
const share = 0.5;

/**
 * Does the work of a job batch by batch for a while, and queues a job for the rest. Each batch is a transaction of its own: a
 * killed process loses at most one, and the next job continues.
 *
 * @param next does a batch. Returns whether there was anything to do
 */
export async function inBatches(
  { addJob, job, abortSignal }: JobHelpers,
  next: () => Promise<boolean>,
): Promise<void> {
  const end = performance.now() + workMs;
  do {
    const begun = performance.now();
    if (!(await next())) return;
    await sleep((performance.now() - begun) * (1 / share - 1), undefined, { ref: false });
  } while (performance.now() < end && abortSignal?.aborted !== true);
  await addJob(job.task_identifier, {}, { jobKey: job.task_identifier });
}
