import { setTimeout as sleep } from "node:timers/promises";
import type { JobHelpers, Task } from "graphile-worker";
import type { Pruned } from "./retention-periods.ts";

/** Milliseconds after which the rest is left to another job, so that other jobs get a turn. */
const workMs = 2_000;
/** The share of the time in which it works; in the rest, others have the database and its disk to themselves. */
const share = 0.5;

/** Called with what was deleted. */
export type OnPruned = (what: string, rows: number) => void;

/**
 * The task that deletes something by its age for a while, a batch at a time. Each batch is a statement and a
 * transaction of its own: a killed process loses at most one, and the next job continues.
 */
export const pruneTask =
  ({ task, what, prune }: Pruned, onPruned: OnPruned = () => {}): Task =>
  async (_payload, { query, addJob, logger, abortSignal }: JobHelpers) => {
    const end = performance.now() + workMs;
    let rows = 0;
    let last: number;
    do {
      const begun = performance.now();
      last = (await query<{ pruned: number }>(`select ${prune} as pruned`)).rows[0]!.pruned;
      rows += last;
      onPruned(what, last);
      if (last > 0) await sleep((performance.now() - begun) * (1 / share - 1), undefined, { ref: false });
    } while (last > 0 && performance.now() < end && abortSignal?.aborted !== true);
    if (rows > 0) logger.info(`deleted ${what} by their age`, { report: { pruned: { what, rows } } });
    if (last > 0) await addJob(task, {}, { jobKey: task });
  };
