import type { JobHelpers } from "graphile-worker";
import type { Progress } from "../migrations/backfills.ts";
import { fillNextBatch, printProgress } from "../migrations/backfills.ts";
import { inBatches } from "./batches.ts";

/** Statement timeout of a batch, in milliseconds. */
const timeoutMs = 2_000;

/**
 * Runs batches of the backfills that migrations declared (api_meta.backfill). Each batch stores its end in the same
 * transaction.
 *
 * @throws if a batch fails, so that the job is retried with a growing delay
 */
export async function fillBackfills(_payload: unknown, helpers: JobHelpers): Promise<void> {
  let last: Progress | null = null;
  const report = () => {
    if (last !== null) helpers.logger.info(printProgress(last), { report: { backfill: last } });
  };
  await inBatches(helpers, async () => {
    const done = await nextBatch(helpers);
    if (done?.name !== last?.name) report();
    last = done;
    if (done?.state === "fails") throw new Error(printProgress(done));
    return done !== null;
  });
  report();
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
