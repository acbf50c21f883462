import type { TaskSettings } from "./tasks.ts";

// The European Central Bank publishes on working days at about 16:00 in Frankfurt, which is 15:00 UTC, in summer 14:00.
// `fill=1d`: when no process was up at that time, the job is made up for at the next start. One day back is always
// enough, for there is one such time in each.
const importRates = "20 16 * * * import_exchange_rates ?fill=1d&max=10&jobKey=import_exchange_rates";

// What was locked at the start, or has come since
const fillPrices = "40 2 * * * fill_default_currency_prices ?jobKey=fill_default_currency_prices";

// What is to be deleted has been due for up to an hour, and is little each time
const pruneEvents = "17 * * * * prune_events ?jobKey=prune_events";

// A key that has retired is accepted no more, whether or not it is erased
const eraseKeys = "37 * * * * erase_retired_keys ?jobKey=erase_retired_keys";

/** When jobs are queued by themselves, by UTC. However many processes there are, it is one job. */
export function crontabOf({ exchangeRatesFrom }: TaskSettings): string {
  return [fillPrices, pruneEvents, eraseKeys, ...(exchangeRatesFrom === undefined ? [] : [importRates])].join(
    "\n",
  );
}
