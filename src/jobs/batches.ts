import { setTimeout as sleep } from "node:timers/promises";
import type { JobHelpers } from "graphile-worker";

/** Milliseconds after which the rest is left to a new job, so that other jobs get a turn. */
const workMs = 2_000;
/** The share of time spent working. In the rest, other work has the database and its disk to itself. */
const share = 0.5;

/**
 * Does the work of a job in batches for a while, then queues a new job for the rest. Each batch is its own transaction, so
 * a killed process loses at most one batch, and the next job continues.
 *
 * @param next does a batch and returns whether there was any work
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
