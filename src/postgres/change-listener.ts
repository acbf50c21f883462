import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import { retry } from "../lib/retry.ts";

/** Milliseconds between two checks of the connection. */
const checkIntervalMs = 5_000;
/** Milliseconds without an echo after which the connection counts as lost. */
const checkTimeoutMs = 5_000;
/** Milliseconds before the next attempt to connect. */
const retryPauseMs = 500;

/** The changes that a listener is for. */
export interface ChangeSource {
  /** The channel of its notifications. */
  channel: string;
  /** Its name in the log: “not listening for …”. */
  name: string;
  /** The application_name of the connection. */
  applicationName: string;
}

/** A listener that is always open, or only while it is worth a connection. */
export type Listener = Pick<ChangeListener, "use" | "isListening" | "close">;

/** Starts a listener. If connections are scarce, it does so only when there is one to spare. */
export type Listen = (begin: () => ChangeListener) => Listener;

export const listenAlways: Listen = (begin) => begin();

/**
 * Listens on its own connection for notifications of changes from the database.
 *
 * Every few seconds it sends a notification and waits for it to arrive, to detect a dead network or a pooler that drops
 * notifications. It sends on another connection, because a pooler may echo a connection's own notifications.
 */
export class ChangeListener {
  readonly #pool: pg.Pool;
  readonly #logger: Logger;
  readonly #changes: ChangeSource;
  readonly #onChange: () => void;
  readonly #echoChannel = `service_echo_${randomUUID().replaceAll("-", "")}`;
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  #listeningUntilMs = 0;
  /** Whether the last check succeeded. */
  #hasListened = false;
  #echo = createEcho();

  /**
   * @param pool a pool of the database; the listener opens its own connection
   * @param onChange called on each change, and whenever one may have been missed
   */
  constructor(pool: pg.Pool, logger: Logger, changes: ChangeSource, onChange: () => void) {
    this.#pool = pool;
    this.#logger = logger;
    this.#changes = changes;
    this.#onChange = onChange;
    this.#ended = this.#run();
  }

  /** Notes that it is needed. This listener listens in any case. */
  use(): void {}

  /** Whether a change made right now would be noticed. */
  get isListening(): boolean {
    return performance.now() < this.#listeningUntilMs;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    // Each reason is logged once: on a standby, listening always fails
    let logged = "";
    const listen = () =>
      this.#listen(signal).finally(() => {
        this.#listeningUntilMs = 0;
        this.#onChange();
      });
    await retry(listen, {
      signal,
      pauseMs: (error) => {
        const { message } = error as Error;
        if (this.#hasListened || message !== logged)
          this.#logger.warn({ err: error }, `not listening for ${this.#changes.name}; trying again`);
        logged = message;
        this.#hasListened = false;
        return retryPauseMs;
      },
    });
  }

  /** Listens until the connection is lost or the listener is closed. Always ends with an error. */
  async #listen(closing: AbortSignal): Promise<never> {
    // Not a copy of the options: the pool has the password in a property that spreading omits
    const { options } = this.#pool;
    const Client = (options.Client ?? pg.Client) as typeof pg.Client;
    const client = new Client(options);
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
      channel === this.#changes.channel ? this.#onChange() : this.#echo.resolve(),
    );
    try {
      await connectUnless(line.signal, client);
      await client.query(
        `set application_name = '${this.#changes.applicationName}'; listen ${this.#changes.channel}; listen ${this.#echoChannel}`,
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
    const echo = (this.#echo = createEcho());
    const timer = setTimeout(() => echo.reject(new Error("The database doesn't echo.")), checkTimeoutMs);
    try {
      await Promise.all([this.#pool.query("select pg_notify($1, '')", [this.#echoChannel]), echo.promise]);
    } finally {
      clearTimeout(timer);
    }
    // Anything read before the connection was ready may be outdated without a notification
    if (!this.isListening) this.#onChange();
    this.#hasListened = true;
    this.#listeningUntilMs = performance.now() + checkIntervalMs + checkTimeoutMs;
  }
}

/** Returns a promise of an echo. If it fails when nobody waits for it any more, that isn't an error. */
function createEcho(): PromiseWithResolvers<void> {
  const echo = Promise.withResolvers<void>();
  echo.promise.catch(() => {});
  return echo;
}

/** Connects, until aborted: the driver's own promise would never settle after that. */
async function connectUnless(aborted: AbortSignal, client: pg.Client): Promise<void> {
  const lost = Promise.withResolvers<never>();
  aborted.addEventListener("abort", () => lost.reject(aborted.reason));
  await Promise.race([client.connect(), lost.promise]);
}
