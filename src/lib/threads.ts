import { setFlagsFromString } from "node:v8";
import { Piscina } from "piscina";
import { FairQueue } from "./fair-queue.ts";

/** Milliseconds after which a thread without work ends, and frees its memory. */
const idleTimeout = 60_000;
/** A lower priority than the event loop's, if the system supports that for threads. */
const niceIncrement = 5;
/** Megabytes of a thread's heap. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 24 };

export interface ThreadsOptions {
  /** The module whose functions the threads run. */
  program: URL;
  /** Maximum number of threads. */
  max?: number;
  stackSizeMb?: number;
  /** Maximum pieces of waiting work, in total and per owner, and maximum wait. */
  maxWaiting: number;
  maxWaitingPerOwner?: number;
  maxWaitMs: number;
  /** Milliseconds that a piece of work may take. Then its thread is ended: nothing else would stop it. */
  timeoutMs: number;
}

/**
 * Threads for work that would block the event loop, shared fairly among owners. They start when they are needed, and end after
 * a minute without work.
 */
export class WorkThreads {
  readonly #pool: Piscina<unknown, unknown>;
  // Not the pool's queue: it doesn't count abortable tasks, and their time limit runs while they wait
  readonly #queue: FairQueue;
  readonly #timeoutMs: number;
  #isClosed = false;

  constructor({ program, max = 1, stackSizeMb, maxWaitMs, timeoutMs, ...bounds }: ThreadsOptions) {
    // V8 would give each thread the young generation that `npm start` gives the event loop, 100 MB, whatever its limits are
    for (const end of ["min", "max"]) setFlagsFromString(`--${end}-semi-space-size=0`);
    this.#pool = new Piscina<unknown, unknown>({
      filename: program.href,
      minThreads: 0,
      maxThreads: max,
      idleTimeout,
      niceIncrement,
      resourceLimits: { ...resourceLimits, ...(stackSizeMb !== undefined && { stackSizeMb }) },
    });
    // The caller whose work crashes a thread gets the error
    this.#pool.on("error", () => {});
    this.#queue = new FairQueue({ limit: () => max, maxWaitMs: () => maxWaitMs, ...bounds });
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Runs a function of the program when it is the owner's turn.
   *
   * @param missing data that a thread keeps, and so needs only once: added to the task if the function returns null
   * @throws if too much work is waiting
   */
  run<Result>(owner: string, name: string, task: unknown, missing?: object): Promise<Result> {
    return this.#queue.run(owner, async () => {
      const first = await this.#runOnce<Result>(name, task);
      return first === null && missing ? this.#runOnce(name, { ...(task as object), ...missing }) : first;
    });
  }

  /** Ends the threads. Waiting work fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.destroy();
  }

  async #runOnce<Result>(name: string, task: unknown): Promise<Result> {
    if (this.#isClosed) throw new Error("The threads have been closed.");
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      return (await this.#pool.run(task, { name, signal })) as Result;
    } catch (error) {
      if (!(error instanceof Error && error.name === "AbortError")) throw error;
      throw new Error(`${name} took more than ${this.#timeoutMs} ms in a thread.`, { cause: error });
    }
  }
}
