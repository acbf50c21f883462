import type { JobHelpers } from "graphile-worker";
import type { Progress } from "../migrations/backfills.ts";
import { fillNextBatch, printProgress } from "../migrations/backfills.ts";
import { inBatches } from "./batches.ts";

/** Milliseconds that a batch may take at all. */
const timeoutMs = 2_000;

/**
 * Fills for a while what migrations have declared (api_meta.backfill). Where a batch ended is written down in its
 * transaction.
 *
 * @throws when one fails, so that it is tried again after a growing pause
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
