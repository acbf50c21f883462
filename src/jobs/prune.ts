import type { Task } from "graphile-worker";
import type { Pruned } from "./retention-periods.ts";
import { inBatches } from "./batches.ts";

/** Called with what was deleted. */
export type OnPruned = (what: string, rows: number) => void;

/** The task that deletes something by its age. Each batch is a statement. */
export const pruneTask =
  ({ what, prune }: Pruned, onPruned: OnPruned = () => {}): Task =>
  async (_payload, helpers) => {
    let rows = 0;
    await inBatches(helpers, async () => {
      const answer = await helpers.query<{ pruned: number }>(`select ${prune} as pruned`);
      const { pruned } = answer.rows[0]!;
      rows += pruned;
      onPruned(what, pruned);
      return pruned > 0;
    });
    if (rows > 0) helpers.logger.info(`deleted ${what} by their age`, { report: { pruned: { what, rows } } });
  };
