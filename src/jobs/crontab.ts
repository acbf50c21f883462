import { pruned } from "./retention-periods.ts";
import type { TaskSettings } from "./tasks.ts";

// The European Central Bank publishes on working days at about 16:00 in Frankfurt, which is 15:00 UTC, in summer 14:00.
// `fill=1d`: if no process was running at that time, the next start makes up for it. One day is enough, because every
// day has one such time.
export const importRatesAt = { task: "import_exchange_rates", hour: 16, minute: 20 };
const { task: importTask, hour, minute } = importRatesAt;
const importRates = `${minute} ${hour} * * * ${importTask} ?fill=1d&max=10&jobKey=${importTask}`;

// Lines that were locked at the start, or are new
const fillPrices = "40 2 * * * fill_default_currency_prices ?jobKey=fill_default_currency_prices";

// What has reached its age stays an hour longer at most; one after the other
const prune = pruned.map(({ task }, n) => `${17 + 5 * n} * * * * ${task} ?jobKey=${task}`);

// A retired key is refused whether or not it is erased
const eraseKeys = "7 * * * * erase_retired_keys ?jobKey=erase_retired_keys";

// Declared backfills queue it themselves; this continues what a killed process has left
const backfill = "*/10 * * * * backfill ?jobKey=backfill";

/** What is queued in any case. */
export const upkeep: readonly string[] = [
  ...["fill_default_currency_prices", "erase_retired_keys", "backfill"],
  ...pruned.map(({ task }) => task),
];

/** When jobs are queued automatically, in UTC. For any number of processes it is one job. */
export function crontabOf({ exchangeRatesFrom }: TaskSettings): string {
  return [
    ...[fillPrices, ...prune, eraseKeys, backfill],
    ...(exchangeRatesFrom === undefined ? [] : [importRates]),
  ].join("\n");
}
