import type { Direction, Inbox, Task } from "./inbox.ts";

const longestPauseMs = 5 * 60_000;

/**
 * Works off the news of one direction, one after the other. What fails is tried again after growing pauses, without an
 * end: nothing is lost while the other side is away. The process may be killed at any moment.
 */
export class Worker {
  readonly #inbox: Inbox;
  readonly #direction: Direction;
  readonly #handle: (task: Task) => Promise<void>;
  readonly #pauseMs: number;
  #wake = () => {};

  /** @param pauseMs the first pause after a failure */
  constructor(inbox: Inbox, direction: Direction, handle: (task: Task) => Promise<void>, pauseMs: number) {
    this.#inbox = inbox;
    this.#direction = direction;
    this.#handle = handle;
    this.#pauseMs = pauseMs;
  }

  /** Looks for work at once. */
  wake(): void {
    this.#wake();
  }

  async run(): Promise<never> {
    for (;;) {
      const task = this.#inbox.next(this.#direction);
      if (task) await this.#work(task);
      else await this.#sleep();
    }
  }

  async #work(task: Task): Promise<void> {
    try {
      await this.#handle(task);
      this.#inbox.done(task);
      console.log(`done: ${task.subject}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const pauseMs = Math.min(this.#pauseMs * 2 ** Math.min(task.attempts, 20), longestPauseMs);
      this.#inbox.failed(task, reason, pauseMs);
      console.error(`again in ${pauseMs} ms: ${task.subject}: ${reason}`);
    }
  }

  #sleep(): Promise<void> {
    const dueAt = this.#inbox.nextDueAt(this.#direction);
    const ms = dueAt === null ? longestPauseMs : Math.max(dueAt - Date.now(), 1);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
