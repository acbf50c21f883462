import { setTimeout as sleep } from "node:timers/promises";
import type { JobHelpers } from "graphile-worker";
import type { Progress } from "../migrations/backfills.ts";
import { fillNextBatch, printProgress } from "../migrations/backfills.ts";

/** Milliseconds after which the rest is left to another job, so that other jobs get a turn. */
const workMs = 2_000;
/** Milliseconds that a batch may take at all. */
const timeoutMs = 2_000;
/** The share of the time in which it works; in the rest, others have the database and its disk to themselves. */
const share = 0.5;

/**
 * Fills what migrations have declared (api_meta.backfill) for a while, a batch at a time. Each batch is a transaction,
 * and where it ended is written down in it: a killed process loses at most one.
 *
 * @throws when one fails, so that it is tried again after a growing pause
 */
export async function fillBackfills(_payload: unknown, helpers: JobHelpers): Promise<void> {
  const { addJob, job, logger, abortSignal } = helpers;
  const end = performance.now() + workMs;
  let last: Progress | null = null;
  const tell = () => {
    if (last !== null) logger.info(printProgress(last), { report: { backfill: last } });
  };
  while (performance.now() < end && abortSignal?.aborted !== true) {
    const begun = performance.now();
    const done = await nextBatch(helpers);
    if (last !== null && done?.name !== last.name) tell();
    last = done;
    if (done === null) return;
    if (done.state === "fails") throw new Error(printProgress(done));
    await sleep((performance.now() - begun) * (1 / share - 1), undefined, { ref: false });
  }
  tell();
  await addJob(job.task_identifier, {}, { jobKey: job.task_identifier });
}

const nextBatch = ({ withPgClient }: JobHelpers): Promise<Progress | null> =>
  withPgClient(async (client) => {
    await client.query(`begin; set local statement_timeout = ${timeoutMs}`);
    try {
      const done = await fillNextBatch(client);
      await client.query("commit");
      return done;
    } catch (error) {
      await client.query("rollback").catch(() => {});
      throw error;
    }
  });
