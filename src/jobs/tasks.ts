import type { JobHelpers, Task, TaskList } from "graphile-worker";
import { z } from "zod";
import { fillBackfills } from "./backfill-job.ts";
import { inBatches } from "./batches.ts";
import { retentionRules } from "./retention-periods.ts";
import type { RetentionRule } from "./retention-periods.ts";
import { importRates } from "./exchange-rates/import-rates.ts";
import type { ImportOptions } from "./exchange-rates/import-rates.ts";
import { signNextHead } from "./sign-heads.ts";
import { Secrets } from "../secrets/secrets.ts";

/** A function that is called after rows were deleted by age. */
export type OnPruned = (what: string, rows: number) => void;

/** Settings of tasks. The service's settings (src/process/settings.ts) include them. */
export interface TaskSettings {
  /** File or address with exchange rates; without it there is no import task. */
  exchangeRatesFrom: string | undefined;
  /** Keys that encrypt stored secrets; without one, they are plain. */
  secretsKeys?: readonly string[];
}

/** Tasks that are queued at each start. */
export const tasksAtStart = [
  "fill_default_currency_prices",
  "backfill",
  "close_ledger",
  "expire_batches",
  "make_shipping_labels",
];

/**
 * Returns the tasks of background work by name. A job may run twice, so tasks must be safe to repeat.
 *
 * @param onPruned called after rows were deleted by age
 * @param read reads exchange rates
 */
export function makeTasks(
  { exchangeRatesFrom: from, secretsKeys = [] }: TaskSettings,
  onPruned?: OnPruned,
  read?: ImportOptions["read"],
): TaskList {
  const secrets = new Secrets(secretsKeys);
  return {
    backfill: fillBackfills,
    fill_default_currency_prices: fillDefaultCurrencyPrices,
    ...Object.fromEntries(retentionRules.map((one) => [one.task, pruneTask(one, onPruned)])),
    erase_retired_keys: callTask("auth.erase_retired_keys()"),
    close_ledger: callTask("ledger.close_next()::integer"),
    expire_batches: callTask("erp.expire_batches()"),
    expire_reservations: callTask("ledger.expire_reservations()"),
    expire_quotes: callTask("erp.expire_quotes()"),
    sign_valuation_heads: async (_payload: unknown, helpers: JobHelpers) =>
      inBatches(helpers, () => signNextHead(helpers, secrets)),
    ...(from !== undefined && {
      import_exchange_rates: async (_payload: unknown, { query, abortSignal }: JobHelpers) =>
        void (await importRates({ from, query, stopping: abortSignal, read })),
    }),
  };
}

/** Makes the task that calls a function of SQL until it has found nothing to do: it returns how much it did. */
const callTask =
  (call: string): Task =>
  (_payload, helpers) =>
    inBatches(helpers, async () => {
      const { rows } = await helpers.query<{ done: number }>(`select ${call} as done`);
      return rows[0]!.done > 0;
    });

/** Makes the task that deletes a kind of data by age. Each batch is one statement. */
const pruneTask =
  ({ what, prune }: RetentionRule, onPruned: OnPruned = () => {}): Task =>
  async (_payload, helpers) => {
    let rows = 0;
    await inBatches(helpers, async () => {
      const answer = await helpers.query<{ pruned: number }>(`select ${prune} as pruned`);
      const { pruned } = answer.rows[0]!;
      rows += pruned;
      onPruned(what, pruned);
      return pruned > 0;
    });
    if (rows > 0) helpers.logger.info(`deleted old ${what}`, { report: { pruned: { what, rows } } });
  };

/** Most lines of goods receipts that one job fills. It locks them, so it must be short. */
const batch = 1_000;

const place = z.object({ after: z.uuid().optional() });

async function fillDefaultCurrencyPrices(
  payload: unknown,
  { query, addJob, job }: JobHelpers,
): Promise<void> {
  const { after } = place.parse(payload);
  const { rows } = await query<{ filled: number; last: string | null }>(
    "select filled, last from erp.fill_default_currency_prices($1, $2)",
    [after ?? null, batch],
  );
  const { filled, last } = rows[0]!;
  // A new job does the rest, so that other jobs get a turn
  if (filled === batch) await addJob(job.task_identifier, { after: last }, { jobKey: job.task_identifier });
}
