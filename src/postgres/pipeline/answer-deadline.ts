import type { ClientBase } from "pg";
import { queryTimeoutMs } from "../pg-private.ts";

/** What waits for an answer of Postgres. */
interface Waiting {
  handleError(error: Error): void;
}

/**
 * Fails what waits too long for an answer on a connection, after its `query_timeout`.
 *
 * `pg` does that by a timer for each query. Timers whose callback refers to the query keep it, its rows and so the text of the
 * answer, also once they are cleared, until young garbage has been collected twice, so that all of it becomes old garbage
 * (measured with Node 24): with pages of 47 kB, collecting that took a third of Node's time. Here each connection has one timer,
 * which is set again for each query.
 */
class AnswerDeadline {
  readonly #ms: number;
  #timer: NodeJS.Timeout | null = null;
  #waiting: Waiting | null = null;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Something waits from now on, instead of what waited before. */
  begin(waiting: Waiting): void {
    this.#waiting = waiting;
    if (this.#ms === 0) return;
    if (this.#timer) this.#timer.refresh();
    // A connection that waits keeps the process alive by itself
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

const deadlines = new WeakMap<ClientBase, AnswerDeadline>();

export function deadlineOf(client: ClientBase): AnswerDeadline {
  let deadline = deadlines.get(client);
  if (!deadline) deadlines.set(client, (deadline = new AnswerDeadline(queryTimeoutMs(client))));
  return deadline;
}
