import type { Logger } from "pino";

/** Milliseconds that one log line covers. */
const spanMs = 1_000;

/** Number of requests that have failed since the last line, by logger. */
const silent = new WeakMap<Logger, { more: number }>();

/** Logs that the database is unavailable, at most once a second, and then how many more requests failed. */
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
