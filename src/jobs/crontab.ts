import { retentionRules } from "./retention-periods.ts";
import type { TaskSettings } from "./tasks.ts";

// The European Central Bank publishes on working days at about 16:00 in Frankfurt, which is 15:00 UTC, in summer 14:00.
// `fill=1d`: if no process was running at that time, the job is queued at the next start. One day is enough, because the job
// is due once a day.
export const importRatesAt = { task: "import_exchange_rates", hour: 16, minute: 20 };
const { task: importTask, hour, minute } = importRatesAt;
const importRates = `${minute} ${hour} * * * ${importTask} ?fill=1d&max=10&jobKey=${importTask}`;

/** The times of tasks that are queued with any settings, in crontab's syntax. */
const upkeepAt: Record<string, string> = {
  // Fills lines that were locked at the start, or are new
  fill_default_currency_prices: "40 2 * * *",
  // Hourly is enough: a retired key is refused whether or not it is erased
  erase_retired_keys: "7 * * * *",
  close_ledger: "12 * * * *",
  // The day of a merchant ends at any hour of UTC
  expire_batches: "1 * * * *",
  // Hourly, because days begin at different times in time zones. Nothing is due after the head of yesterday
  sign_valuation_heads: "2 * * * *",
  // Calls that reserve end overdue reservations of their products at once; all figures follow within a minute
  expire_reservations: "* * * * *",
  // Accepting a quote looks at the clock itself; the state follows within some minutes
  expire_quotes: "*/5 * * * *",
  // Each change of the work queues a job for its time; this one is for work whose job was lost
  make_shipping_labels: "*/5 * * * *",
  // Declaring a backfill queues a job; this one continues after a process was killed
  backfill: "*/10 * * * *",
  // Old rows stay an hour too long at most. The tasks run at different minutes
  ...Object.fromEntries(retentionRules.map(({ task }, n) => [task, `${17 + 5 * n} * * * *`])),
};

/** Tasks that are queued with any settings. */
export const upkeep: readonly string[] = Object.keys(upkeepAt);

/** Returns the crontab of automatically queued jobs, in UTC. Any number of processes queues each job once. */
export function makeCrontab({ exchangeRatesFrom }: TaskSettings): string {
  const lines = Object.entries(upkeepAt).map(([task, at]) => `${at} ${task} ?jobKey=${task}`);
  return [...lines, ...(exchangeRatesFrom === undefined ? [] : [importRates])].join("\n");
}
