import { retentionRules } from "./retention-periods.ts";
import type { TaskSettings } from "./tasks.ts";

// The European Central Bank publishes on working days at about 16:00 in Frankfurt, which is 15:00 UTC, in summer 14:00.
// `fill=1d`: if no process was running at that time, the job is queued at the next start. One day is enough, because the job
// is due once a day.
export const importRatesAt = { task: "import_exchange_rates", hour: 16, minute: 20 };
const { task: importTask, hour, minute } = importRatesAt;
const importRates = `${minute} ${hour} * * * ${importTask} ?fill=1d&max=10&jobKey=${importTask}`;

// Fills lines that were locked at the start, or are new
const fillPrices = "40 2 * * * fill_default_currency_prices ?jobKey=fill_default_currency_prices";

// Old rows stay an hour too long at most. The tasks run at different minutes
const prune = retentionRules.map(({ task }, n) => `${17 + 5 * n} * * * * ${task} ?jobKey=${task}`);

// Hourly is enough: a retired key is refused whether or not it is erased
const eraseKeys = "7 * * * * erase_retired_keys ?jobKey=erase_retired_keys";

// The day of a merchant ends at any hour of UTC
const expireBatches = "1 * * * * expire_batches ?jobKey=expire_batches";

// Calls that reserve end overdue reservations of their products at once; all figures follow within a minute
const expireReservations = "* * * * * expire_reservations ?jobKey=expire_reservations";

// Accepting a quote looks at the clock itself; the state follows within some minutes
const expireQuotes = "*/5 * * * * expire_quotes ?jobKey=expire_quotes";

const closeLedger = "12 * * * * close_ledger ?jobKey=close_ledger";

// Hourly, because days begin at different times in time zones. Nothing is due after the head of yesterday
const signHeads = "2 * * * * sign_valuation_heads ?jobKey=sign_valuation_heads";

// Each change of the work queues a job for its time; this one is for work whose job was lost
const makeLabels = "*/5 * * * * make_shipping_labels ?jobKey=make_shipping_labels";

// Declaring a backfill queues a job; this one continues after a process was killed
const backfill = "*/10 * * * * backfill ?jobKey=backfill";

/** Tasks that are queued with any settings. */
export const upkeep: readonly string[] = [
  "fill_default_currency_prices",
  "erase_retired_keys",
  "close_ledger",
  "expire_batches",
  "sign_valuation_heads",
  "expire_reservations",
  "expire_quotes",
  "make_shipping_labels",
  "backfill",
  ...retentionRules.map(({ task }) => task),
];

/** Returns the crontab of automatically queued jobs, in UTC. Any number of processes queues each job once. */
export function makeCrontab({ exchangeRatesFrom }: TaskSettings): string {
  return [
    fillPrices,
    ...prune,
    eraseKeys,
    closeLedger,
    expireBatches,
    signHeads,
    expireReservations,
    expireQuotes,
    makeLabels,
    backfill,
    ...(exchangeRatesFrom === undefined ? [] : [importRates]),
  ].join("\n");
}
