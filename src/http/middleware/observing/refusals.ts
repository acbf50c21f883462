import type { Logger } from "pino";
import { Counter } from "prom-client";
import type { Registry } from "prom-client";
import { networkOf } from "../../../lib/network-of.ts";
import type { Request, Middleware } from "../../pipeline.ts";

/** Log lines per period: for one reason and address, and in total. The rest is summarized. */
const maxLines = { ofOne: 5, ofAll: 100 };
/** Reasons and addresses that are counted separately per period. */
const maxCounted = 1_000;
const defaultSpanMs = 60_000;

/** Refusals because of a client's mistake, which don't concern operators. */
const mistakes = new Set(["BAD_USER_INPUT", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED"]);

/**
 * Records refused requests: counts them by reason, and logs failed authentications, refused operations and throttled
 * requests. The number of log lines is limited, so that no client can fill the log.
 */
export class Refusals {
  readonly #counter: Counter;
  readonly #logger: Logger;
  readonly #spanMs: number;
  #counted = new Map<string, { lines: number; silent: number }>();
  #lines = 0;
  #silent = 0;
  #end: NodeJS.Timeout | undefined;

  constructor(registry: Registry, logger: Logger, spanMs = defaultSpanMs) {
    this.#logger = logger;
    this.#spanMs = spanMs;
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
    if (mistakes.has(reason)) return;
    this.#end ??= setTimeout(() => this.#sumUp(), this.#spanMs).unref();
    const address = networkOf(ip);
    const key = `${reason} ${address}`;
    let counted = this.#counted.get(key);
    if (!counted && this.#counted.size < maxCounted)
      this.#counted.set(key, (counted = { lines: 0, silent: 0 }));
    if (counted && counted.lines < maxLines.ofOne && this.#lines < maxLines.ofAll) {
      counted.lines++;
      this.#lines++;
      this.#logger.warn({ ...details, reason, address }, "refused a request");
    } else {
      this.#silent++;
      if (counted) counted.silent++;
    }
  }

  close(): void {
    clearTimeout(this.#end);
    this.#sumUp();
  }

  #sumUp(): void {
    const most = [...this.#counted]
      .filter(([, { silent }]) => silent > 0)
      .sort(([, one], [, other]) => other.silent - one.silent)
      .slice(0, 10)
      .map(([key, { silent }]) => {
        const [reason, address] = key.split(" ");
        return { reason, address, count: silent };
      });
    if (this.#silent > 0) this.#logger.warn({ count: this.#silent, most }, "refused more requests");
    this.#counted = new Map();
    this.#lines = this.#silent = 0;
    this.#end = undefined;
  }
}
