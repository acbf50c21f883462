import { Piscina } from "piscina";
import { apiError } from "../errors/api-error.ts";
import { Turns } from "../lib/turns.ts";
import type { NoTurn } from "../lib/turns.ts";
import type { Edition } from "./edition.ts";
import type { Site } from "./page.ts";
import type { Rendered } from "./render.ts";
import type { RenderAnswer, RenderTask } from "./render-work.ts";

/** The queue of all pages: they are the same for everyone. */
const queueName = "pages";
/** Pages that may wait, and milliseconds that one may take. */
const limits = { waiting: 50, workMs: 60_000 };
/** Milliseconds after which a thread without work ends, and gives its memory back. */
const idleTimeout = 60_000;
/** A lower priority than the event loop's, if the system supports that for threads. */
const niceIncrement = 5;

/** A thread that renders pages, so that requests to the API never wait for one. It starts when it is needed. */
export class DocumentationThread {
  readonly #threads = new Piscina({
    ...{ filename: new URL("./render-work.ts", import.meta.url).href, minThreads: 0, maxThreads: 1 },
    ...{ idleTimeout, niceIncrement },
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 },
  });

  // Not the pool's queue, see Renderer
  readonly #turns = new Turns({
    ...{ total: () => 1, perClient: () => 1, maxWaiting: limits.waiting, maxWaitMs: () => limits.workMs },
  });

  constructor() {
    // The request whose page crashes the thread gets the error
    this.#threads.on("error", () => {});
  }

  /**
   * Renders the page at a path; null when there is none.
   *
   * @throws SERVICE_UNAVAILABLE when too many pages wait
   */
  async render(site: Site, editions: readonly Edition[], path: string): Promise<Rendered | null> {
    await this.#takeTurn();
    try {
      const task: RenderTask = { site, path, needed: editions.map(({ id }) => id), given: [] };
      const answer = await this.#run(task);
      const complete = answer === "more" ? await this.#run({ ...task, given: editions }) : answer;
      return complete === "more" ? null : complete.page;
    } finally {
      this.#turns.end(queueName);
    }
  }

  async close(): Promise<void> {
    await this.#threads.destroy();
  }

  async #takeTurn(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<NoTurn | null>();
    this.#turns.take(queueName, resolve);
    if ((await promise) === null) return;
    throw apiError("SERVICE_UNAVAILABLE", "Too many pages are requested. Try again in a little while.");
  }

  #run(task: RenderTask): Promise<RenderAnswer> {
    const signal = AbortSignal.timeout(limits.workMs);
    return this.#threads.run(task, { name: "renderPage", signal }) as Promise<RenderAnswer>;
  }
}
