import type { ClientBase } from "pg";
import { queryTimeoutMs } from "../pg-private.ts";

/** A query that waits for Postgres' response. */
interface Waiting {
  handleError(error: Error): void;
}

/**
 * Fails a query that waits longer for a response than the connection's `query_timeout`.
 *
 * `pg` has a timer for each query, whose callback refers to the query, its rows and the text of the response. Even when cleared,
 * timers keep these until young garbage has been collected twice, so all of it becomes old garbage (measured with Node 24).
 * With pages of 47 kB, collecting that took a third of Node's time. Here each connection has one timer, which is restarted
 * for each query.
 */
class ResponseDeadline {
  readonly #ms: number;
  #timer: NodeJS.Timeout | null = null;
  #waiting: Waiting | null = null;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Starts waiting for a query, instead of the one before. */
  begin(waiting: Waiting): void {
    this.#waiting = waiting;
    if (this.#ms === 0) return;
    if (this.#timer) this.#timer.refresh();
    // The connection itself keeps the process alive while it waits
    else
      this.#timer = setTimeout(
        () => this.#waiting?.handleError(new Error("Query read timeout")),
        this.#ms,
      ).unref();
  }

  end(waiting: Waiting): void {
    if (this.#waiting === waiting) this.#waiting = null;
  }
}

const deadlines = new WeakMap<ClientBase, ResponseDeadline>();

export function getDeadline(client: ClientBase): ResponseDeadline {
  let deadline = deadlines.get(client);
  if (!deadline) deadlines.set(client, (deadline = new ResponseDeadline(queryTimeoutMs(client))));
  return deadline;
}
