import { apiError } from "../errors/api-error.ts";
import { openThreads } from "../lib/threads.ts";
import { FairQueue, NoTurn } from "../lib/fair-queue.ts";
import type { Edition } from "./edition.ts";
import type { Site } from "./page.ts";
import type { Rendered } from "./render.ts";
import type { RenderAnswer, RenderTask } from "./render-work.ts";

/** The owner of all work: pages are the same for everyone. */
const everyone = "pages";
/** Pages that may wait, and milliseconds that one may take. */
const limits = { waiting: 50, workMs: 60_000 };
/** A thread that renders pages, so that requests to the API never wait for one. It starts when it is needed. */
export class DocumentationThread {
  readonly #threads = openThreads({ program: new URL("./render-work.ts", import.meta.url) });
  // Not the pool's queue, see Renderer
  readonly #queue = new FairQueue({
    limit: () => 1,
    maxWaiting: limits.waiting,
    maxWaitMs: () => limits.workMs,
  });

  /**
   * Renders the page at a path; null when there is none.
   *
   * @throws SERVICE_UNAVAILABLE when too many pages wait
   */
  async render(site: Site, editions: readonly Edition[], path: string): Promise<Rendered | null> {
    const task: RenderTask = { site, path, needed: editions.map(({ id }) => id), given: [] };
    try {
      const answer = await this.#queue.run(everyone, async () => {
        const first = await this.#run(task);
        return first === "more" ? this.#run({ ...task, given: editions }) : first;
      });
      return answer === "more" ? null : answer.page;
    } catch (error) {
      if (!(error instanceof NoTurn)) throw error;
      throw apiError("SERVICE_UNAVAILABLE", "Too many pages are requested. Try again in a little while.");
    }
  }

  async close(): Promise<void> {
    await this.#threads.destroy();
  }

  #run(task: RenderTask): Promise<RenderAnswer> {
    const signal = AbortSignal.timeout(limits.workMs);
    return this.#threads.run(task, { name: "renderPage", signal }) as Promise<RenderAnswer>;
  }
}
