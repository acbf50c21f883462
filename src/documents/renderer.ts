import { Worker } from "node:worker_threads";
import { apiError } from "../errors/api-error.ts";
import type { Rendered } from "./render-thread.ts";

export interface RendererOptions {
  /** Threads at most. They start when they are needed, and stay. */
  threads?: number;
  /** Documents that may wait for a thread. */
  queue?: number;
  /** Milliseconds that one document may take. */
  patience?: number;
  /** What the threads run. For tests. */
  program?: URL;
}

interface Job {
  config: unknown;
  resolve(pdf: Uint8Array): void;
  reject(error: Error): void;
}

/**
 * Renders documents in threads of their own, so that a long one keeps no other request waiting. The address of a
 * document is open to whoever has it, so there is a limit to what can be under way.
 */
export class Renderer {
  readonly #limits: Required<RendererOptions>;
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();
  readonly #waiting: Job[] = [];

  constructor(options: RendererOptions = {}) {
    const program = new URL("./render-thread.ts", import.meta.url);
    this.#limits = { threads: 2, queue: 50, patience: 10_000, program, ...options };
  }

  /**
   * Renders a document as PDF.
   *
   * @param config what it is rendered from, as in the database
   * @throws when the config has another form, the document takes too long, or too many are waiting
   */
  render(config: unknown): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    if (this.#waiting.length >= this.#limits.queue) {
      const message = "Too many documents are being rendered. Send the request again in a little while.";
      reject(apiError("SERVICE_UNAVAILABLE", message));
    } else {
      this.#waiting.push({ config, resolve, reject });
      this.#proceed();
    }
    return promise;
  }

  /** Ends the threads. What waits fails. */
  async close(): Promise<void> {
    for (const { reject } of this.#waiting.splice(0)) reject(new Error("The renderer has been closed."));
    await Promise.all([...this.#all].map((worker) => worker.terminate()));
  }

  #proceed(): void {
    if (this.#waiting.length === 0) return;
    const worker = this.#idle.pop() ?? (this.#all.size < this.#limits.threads ? this.#start() : undefined);
    if (worker !== undefined) this.#run(worker, this.#waiting.shift()!);
  }

  #start(): Worker {
    const worker = new Worker(this.#limits.program, { resourceLimits: { maxOldGenerationSizeMb: 256 } });
    this.#all.add(worker);
    // An idle thread must not keep the process from ending
    worker.unref();
    worker.on("error", () => {});
    worker.on("exit", () => {
      this.#all.delete(worker);
      const index = this.#idle.indexOf(worker);
      if (index >= 0) this.#idle.splice(index, 1);
      this.#proceed();
    });
    return worker;
  }

  #run(worker: Worker, { config, resolve, reject }: Job): void {
    const settle = () => {
      clearTimeout(patience);
      worker.off("message", onMessage).off("error", reject).off("exit", onExit);
    };
    const onMessage = (rendered: Rendered) => {
      settle();
      if ("pdf" in rendered) resolve(rendered.pdf);
      else reject(rendered.error);
      this.#idle.push(worker);
      this.#proceed();
    };
    const onExit = () => {
      settle();
      reject(new Error("The thread ended while it rendered a document."));
    };
    const patience = setTimeout(() => {
      reject(new Error(`A document took more than ${this.#limits.patience} ms to render.`));
      // There is no other way to stop it; the next document gets a new thread
      void worker.terminate();
    }, this.#limits.patience);
    worker.on("message", onMessage).on("error", reject).on("exit", onExit);
    worker.postMessage(config);
  }
}
