import { apiError } from "../errors/api-error.ts";
import { TurnRefused } from "../lib/fair-queue.ts";
import { WorkThreads } from "../lib/threads.ts";

/** The default owner of documents in the queue. */
const defaultOwner = "documents";
/**
 * Milliseconds for one document, including the start of its thread. Against endless work. On a busy machine, the
 * low-priority threads are many times slower, and a new thread must first load all modules.
 */
const timeoutMs = 60_000;

export interface RendererOptions {
  /** Most threads. They start when they are needed. */
  threads?: number;
  /** Documents that may wait for a thread. */
  queue?: number;
  /** Documents of one client that may wait. */
  queuePerClient?: number;
  /** A module whose `renderPdf` renders a config as PDF. For tests. */
  program?: URL;
}

/**
 * Renders documents in threads, so that a long one doesn't hold up other requests. Anyone with the address can open a
 * document, so waiting ones are limited.
 */
export class Renderer {
  readonly #threads: WorkThreads;

  constructor({
    threads = 2,
    queue = 50,
    queuePerClient: queueOfOne = queue,
    program = new URL("./render-pdf.ts", import.meta.url),
  }: RendererOptions = {}) {
    this.#threads = new WorkThreads({
      program,
      max: threads,
      maxWaiting: queue,
      maxWaitingPerOwner: queueOfOne,
      maxWaitMs: 5 * timeoutMs,
      timeoutMs,
    });
  }

  /**
   * Renders a document as PDF.
   *
   * @param config the config in the database
   * @param client the owner in the fair queue for the threads
   * @throws if the config has another format, the document takes too long, or too many are waiting
   */
  async render(config: unknown, client = defaultOwner): Promise<Uint8Array> {
    try {
      return await this.#threads.run(client, "renderPdf", config);
    } catch (error) {
      if (!(error instanceof TurnRefused)) throw error;
      const message = "Too many documents are being rendered. Send the request again in a little while.";
      throw apiError("SERVICE_UNAVAILABLE", message);
    }
  }

  /** Ends the threads. Waiting documents fail. */
  close(): Promise<void> {
    return this.#threads.close();
  }
}
