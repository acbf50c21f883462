import { apiError } from "../errors/api-error.ts";
import { openThreads } from "../lib/threads.ts";
import { Turns } from "../lib/turns.ts";
import type { NoTurn } from "../lib/turns.ts";
import type { Edition } from "./edition.ts";
import type { Site } from "./print-page.ts";
import type { Rendered } from "./routes.ts";
import type { RenderAnswer, RenderTask } from "./render-work.ts";

/** The queue of all pages: they are the same for everyone. */
const queueName = "pages";
/** Pages that may wait, and milliseconds that one may take. */
const limits = { waiting: 50, workMs: 60_000 };
/** A thread that renders pages, so that requests to the API never wait for one. It starts when it is needed. */
export class DocumentationThread {
  readonly #threads = openThreads({ program: new URL("./render-work.ts", import.meta.url) });
  // Not the pool's queue, see Renderer
  readonly #turns = new Turns({
    ...{ total: () => 1, perClient: () => 1, maxWaiting: limits.waiting, maxWaitMs: () => limits.workMs },
  });

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
