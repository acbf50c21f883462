import { apiError } from "../errors/api-error.ts";
import { NoTurn } from "../lib/fair-queue.ts";
import { WorkThreads } from "../lib/threads.ts";
import type { Edition } from "./edition.ts";
import type { Site } from "./print-page.ts";
import type { RenderAnswer, RenderTask } from "./render-work.ts";
import type { Rendered } from "./routes.ts";

/** The owner of all work: pages are the same for everyone. */
const everyone = "pages";
/** Milliseconds that a page may take, and wait. */
const workMs = 60_000;

/** A thread that renders pages, so that requests to the API never wait for one. It starts when it is needed. */
export class DocumentationThread {
  readonly #threads = new WorkThreads({
    program: new URL("./render-work.ts", import.meta.url),
    maxWaiting: 50,
    maxWaitMs: workMs,
    timeoutMs: workMs,
  });

  /**
   * Renders the page at a path; null when there is none.
   *
   * @throws SERVICE_UNAVAILABLE when too many pages wait
   */
  async render(site: Site, editions: readonly Edition[], path: string): Promise<Rendered | null> {
    const task: RenderTask = { site, path, needed: editions.map(({ id }) => id), given: [] };
    try {
      const lacking = { given: editions };
      const answer = await this.#threads.run<RenderAnswer>(everyone, "renderPage", task, lacking);
      return answer!.page;
    } catch (error) {
      if (!(error instanceof NoTurn)) throw error;
      throw apiError("SERVICE_UNAVAILABLE", "Too many pages are requested. Try again in a little while.");
    }
  }

  close(): Promise<void> {
    return this.#threads.close();
  }
}
