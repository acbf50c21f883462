import type { Logger } from "pino";

/** Milliseconds for which one line speaks. */
const spanMs = 1_000;

const logged = new WeakMap<Logger, Outages>();

/** Logs that the database is away: once a second, and how many more requests it concerned. */
export function logOutage(logger: Logger, details: object): void {
  let outages = logged.get(logger);
  if (outages === undefined) logged.set(logger, (outages = new Outages(logger)));
  outages.note(details);
}

class Outages {
  readonly #logger: Logger;
  #isSilent = false;
  #more = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  note(details: object): void {
    if (this.#isSilent) return void this.#more++;
    this.#logger.warn(details, "the database failed");
    this.#isSilent = true;
    setTimeout(() => this.#sumUp(), spanMs).unref();
  }

  #sumUp(): void {
    if (this.#more > 0) this.#logger.warn({ count: this.#more }, "the database failed for more requests");
    this.#more = 0;
    this.#isSilent = false;
  }
}
