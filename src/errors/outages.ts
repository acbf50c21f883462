import type { Logger } from "pino";

/** Milliseconds for which one line speaks. */
const spanMs = 1_000;

/** How many requests have failed since the line of a log. */
const silent = new WeakMap<Logger, { more: number }>();

/** Logs that the database is away: once a second, and how many more requests it concerned. */
export function logOutage(logger: Logger, details: object): void {
  const outage = silent.get(logger);
  if (outage) return void outage.more++;
  logger.warn(details, "the database failed");
  const begun = { more: 0 };
  silent.set(logger, begun);
  setTimeout(() => {
    silent.delete(logger);
    if (begun.more > 0) logger.warn({ count: begun.more }, "the database failed for more requests");
  }, spanMs).unref();
}
