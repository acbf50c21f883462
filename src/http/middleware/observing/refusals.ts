import type { Logger } from "pino";
import { Counter } from "prom-client";
import type { Registry } from "prom-client";
import { clientNetwork } from "../../../lib/network-of.ts";
import type { Request, Middleware } from "../../pipeline.ts";

/** Log lines per period: for one reason and address, and in total. The rest is summarized. */
const maxLines = { ofOne: 5, ofAll: 100 };
/** Reasons and addresses that are counted separately per period. */
const maxCounted = 1_000;
const defaultPeriodMs = 60_000;

/** Refusals because of a client's mistake, which don't concern operators. */
const clientMistakes = new Set(["BAD_USER_INPUT", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED"]);

/**
 * Records refused requests: counts them by reason, and logs failed authentications, refused operations and throttled
 * requests. The number of log lines is limited, so that no client can fill the log.
 */
export class Refusals {
  readonly #counter: Counter;
  readonly #logger: Logger;
  readonly #periodMs: number;
  #counted = new Map<string, { lines: number; suppressed: number }>();
  #lines = 0;
  #suppressed = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(registry: Registry, logger: Logger, periodMs = defaultPeriodMs) {
    this.#logger = logger;
    this.#periodMs = periodMs;
    this.#counter = new Counter({
      name: "service_refusals_total",
      help: "Refused requests, by error code.",
      labelNames: ["reason"],
      registers: [registry],
    });
  }

  /** Records refusals by the following middlewares, once the response has ended. */
  watch(addressOf: (request: Request) => string): Middleware {
    return (request, response, next) => {
      response.once("close", () => {
        const { refusal, requestId, caller } = response.locals;
        if (refusal)
          this.note(refusal, addressOf(request), { requestId, credentialId: caller?.credentialId });
      });
      next();
    };
  }

  /** Records a refusal. @param reason an error code of ours or of OAuth: there are few, and each is a label of the metric */
  note(reason: string, ip: string, details: Record<string, unknown>): void {
    this.#counter.inc({ reason });
    if (clientMistakes.has(reason)) return;
    this.#timer ??= setTimeout(() => this.#logSummary(), this.#periodMs).unref();
    const address = clientNetwork(ip);
    const key = `${reason} ${address}`;
    let counted = this.#counted.get(key);
    if (!counted && this.#counted.size < maxCounted)
      this.#counted.set(key, (counted = { lines: 0, suppressed: 0 }));
    if (counted && counted.lines < maxLines.ofOne && this.#lines < maxLines.ofAll) {
      counted.lines++;
      this.#lines++;
      this.#logger.warn({ ...details, reason, address }, "refused a request");
    } else {
      this.#suppressed++;
      if (counted) counted.suppressed++;
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#logSummary();
  }

  #logSummary(): void {
    const most = [...this.#counted]
      .filter(([, { suppressed: silent }]) => silent > 0)
      .sort(([, one], [, other]) => other.suppressed - one.suppressed)
      .slice(0, 10)
      .map(([key, { suppressed: silent }]) => {
        const [reason, address] = key.split(" ");
        return { reason, address, count: silent };
      });
    if (this.#suppressed > 0) this.#logger.warn({ count: this.#suppressed, most }, "refused more requests");
    this.#counted = new Map();
    this.#lines = this.#suppressed = 0;
    this.#timer = undefined;
  }
}
