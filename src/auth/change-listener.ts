import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import { retry } from "../lib/retry.ts";

const changeChannel = "service_credential_change";
/** What the connection calls itself in pg_stat_activity. */
const listenerName = "service credential listener";
/** Milliseconds between two checks of the line. */
const checkIntervalMs = 5_000;
/** Milliseconds after which a check without an echo counts as a lost line. */
const checkTimeoutMs = 5_000;
/** Milliseconds before the next attempt to connect. */
const retryPauseMs = 500;

/**
 * Listens, on a connection of its own, for the database saying that a credential has changed.
 *
 * Every few seconds something is said to it and it waits for that, so that neither a dead network nor a pooler that
 * swallows notifications goes unnoticed. It is said on another connection: a pooler may well bring back what a
 * connection says to itself.
 */
export class ChangeListener {
  readonly #pool: pg.Pool;
  readonly #logger: Logger;
  readonly #onChange: () => void;
  readonly #echoChannel = `service_echo_${randomUUID().replaceAll("-", "")}`;
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  #listeningUntilMs = 0;
  /** Whether it has heard since it last tried. */
  #hasHeard = false;
  #echo = awaitEcho();

  /**
   * @param pool whose database it is; it listens on a connection of its own
   * @param onChange called on each change, and whenever one may have been missed
   */
  constructor(pool: pg.Pool, logger: Logger, onChange: () => void) {
    this.#pool = pool;
    this.#logger = logger;
    this.#onChange = onChange;
    this.#ended = this.#run();
  }

  /** Whether a change made right now would be heard. */
  get isListening(): boolean {
    return performance.now() < this.#listeningUntilMs;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    // Each reason is told once: on a standby nothing can be listened to for as long as it is one
    let told = "";
    const listen = () =>
      this.#listen(signal).finally(() => {
        this.#listeningUntilMs = 0;
        this.#onChange();
      });
    await retry(listen, {
      signal,
      pauseMs: (error) => {
        const { message } = error as Error;
        if (this.#hasHeard || message !== told)
          this.#logger.warn({ err: error }, "not listening for changes of credentials; trying again");
        told = message;
        this.#hasHeard = false;
        return retryPauseMs;
      },
    });
  }

  /** Listens until the connection is lost or the listener closed. Always ends with an error. */
  async #listen(closing: AbortSignal): Promise<never> {
    // Not a copy of the options: the pool hides the password in a property that spreading leaves out.
    const client = new pg.Client(this.#pool.options);
    const line = new AbortController();
    const hangUp = () => line.abort(new Error("The connection ended."));
    line.signal.addEventListener("abort", () => {
      this.#listeningUntilMs = 0;
      this.#echo.reject(line.signal.reason);
      client.end().catch(() => {});
    });
    client.on("error", (error) => line.abort(error));
    client.on("end", hangUp);
    closing.addEventListener("abort", hangUp);
    client.on("notification", ({ channel }) =>
      channel === changeChannel ? this.#onChange() : this.#echo.resolve(),
    );
    try {
      await connectUnless(line.signal, client);
      await client.query(
        `set application_name = '${listenerName}'; listen ${changeChannel}; listen ${this.#echoChannel}`,
      );
      for (;;) {
        await this.#checkLine();
        await sleep(checkIntervalMs, undefined, { signal: line.signal, ref: false });
      }
    } catch (error) {
      throw line.signal.aborted ? line.signal.reason : error;
    } finally {
      closing.removeEventListener("abort", hangUp);
      hangUp();
    }
  }

  async #checkLine(): Promise<void> {
    const echo = (this.#echo = awaitEcho());
    const timer = setTimeout(() => echo.reject(new Error("The database doesn't echo.")), checkTimeoutMs);
    try {
      await Promise.all([this.#pool.query("select pg_notify($1, '')", [this.#echoChannel]), echo.promise]);
    } finally {
      clearTimeout(timer);
    }
    // What was asked before the line stood may be outdated without our having heard of it.
    if (!this.isListening) this.#onChange();
    this.#hasHeard = true;
    this.#listeningUntilMs = performance.now() + checkIntervalMs + checkTimeoutMs;
  }
}

/** An echo to come. When nobody waits for it, that it fails to come is no fault. */
function awaitEcho(): PromiseWithResolvers<void> {
  const echo = Promise.withResolvers<void>();
  echo.promise.catch(() => {});
  return echo;
}

/** Connects. Doesn't leave it to the driver to notice that the wish has gone: it never answers then. */
async function connectUnless(aborted: AbortSignal, client: pg.Client): Promise<void> {
  const lost = Promise.withResolvers<never>();
  aborted.addEventListener("abort", () => lost.reject(aborted.reason));
  await Promise.race([client.connect(), lost.promise]);
}
