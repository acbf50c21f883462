import { Piscina } from "piscina";
import type { Edition } from "./edition.ts";
import type { Site } from "./page.ts";
import type { Rendered } from "./render.ts";
import type { RenderAnswer, RenderTask } from "./render-work.ts";

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
    ...{ idleTimeout, niceIncrement, maxQueue: limits.waiting },
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 },
  });

  constructor() {
    // The request whose page crashes the thread gets the error
    this.#threads.on("error", () => {});
  }

  /** Whether more pages wait than may. */
  get isBusy(): boolean {
    return this.#threads.queueSize >= limits.waiting;
  }

  /** Renders the page at a path; null when there is none. */
  async render(site: Site, editions: readonly Edition[], path: string): Promise<Rendered | null> {
    const task: RenderTask = { site, path, needed: editions.map(({ id }) => id), given: [] };
    const answer = await this.#run(task);
    const complete = answer === "more" ? await this.#run({ ...task, given: editions }) : answer;
    return complete === "more" ? null : complete.page;
  }

  async close(): Promise<void> {
    await this.#threads.destroy();
  }

  #run(task: RenderTask): Promise<RenderAnswer> {
    const signal = AbortSignal.timeout(limits.workMs);
    return this.#threads.run(task, { name: "renderPage", signal }) as Promise<RenderAnswer>;
  }
}
