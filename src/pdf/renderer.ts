import type { Piscina } from "piscina";
import { apiError } from "../errors/api-error.ts";
import { openThreads } from "../lib/threads.ts";
import { FairQueue, NoTurn } from "../lib/fair-queue.ts";

/** The owner of all documents, where nothing else is said. */
const everyone = "documents";
/**
 * Milliseconds for one document, with the start of its thread. It ends what would never end. On a busy machine threads, of
 * low priority, take many times as long as usual, and one that is ended begins by loading everything again.
 */
const timeoutMs = 60_000;

export interface RendererOptions {
  /** Most threads. They start when they are needed. */
  threads?: number;
  /** Documents that may wait for a thread. */
  queue?: number;
  /** The same of one client. */
  queueOfOne?: number;
  /** A module whose `renderPdf` makes a PDF of a config. For tests. */
  program?: URL;
}

/**
 * Renders documents in threads, so that a long one doesn't hold up other requests. Anyone with the address can open a
 * document, so waiting ones are limited.
 */
export class Renderer {
  readonly #threads: Piscina<unknown, unknown>;
  // Not the pool's queue: it doesn't count abortable tasks, and their time limit runs while they wait
  readonly #queue: FairQueue;
  #isClosed = false;

  constructor({
    threads = 2,
    queue = 50,
    queueOfOne = queue,
    program = new URL("./render-pdf.ts", import.meta.url),
  }: RendererOptions = {}) {
    this.#threads = openThreads({ program, name: "renderPdf", max: threads });
    const maxWaitMs = () => Math.ceil((queue + threads) / threads) * timeoutMs;
    this.#queue = new FairQueue({
      limit: () => threads,
      maxWaiting: queue,
      maxWaitingPerOwner: queueOfOne,
      maxWaitMs,
    });
  }

  /**
   * Renders a document as PDF.
   *
   * @param config the config in the database
   * @param client whose turn it takes, where several clients share the threads
   * @throws when the config has another form, the document takes too long, or too many are waiting
   */
  async render(config: unknown, client = everyone): Promise<Uint8Array> {
    try {
      return await this.#queue.run(client, async () => {
        if (this.#isClosed) throw new Error("The renderer has been closed.");
        const signal = AbortSignal.timeout(timeoutMs);
        return (await this.#threads.run(config, { signal })) as Uint8Array;
      });
    } catch (error) {
      if (error instanceof NoTurn) {
        const message = "Too many documents are being rendered. Send the request again in a little while.";
        throw apiError("SERVICE_UNAVAILABLE", message);
      }
      // The pool then ends the thread: nothing else would stop it
      if (error instanceof Error && error.name === "AbortError")
        throw new Error(`A document took more than ${timeoutMs} ms to render.`, { cause: error });
      throw error;
    }
  }

  /** Ends the threads. Waiting documents fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#threads.destroy();
  }
}
