import type { Logger } from "pino";

/** Milliseconds that one log line covers. */
const intervalMs = 1_000;

/** Number of requests that have failed since the last line, by logger. */
const currentOutages = new WeakMap<Logger, { more: number }>();

/** Logs that the database is unavailable, at most once a second, and then how many more requests failed. */
export function logOutage(logger: Logger, details: object): void {
  const outage = currentOutages.get(logger);
  if (outage) return void outage.more++;
  logger.warn(details, "the database failed");
  const current = { more: 0 };
  currentOutages.set(logger, current);
  setTimeout(() => {
    currentOutages.delete(logger);
    if (current.more > 0) logger.warn({ count: current.more }, "the database failed for more requests");
  }, intervalMs).unref();
}
