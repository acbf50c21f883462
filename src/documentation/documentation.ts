import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import type { GraphQLSchema } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import { FairQueue, NoTurn } from "../lib/fair-queue.ts";
import { openThreads } from "../lib/threads.ts";
import { asAuthRole } from "../postgres/as-role.ts";
import type { ServedVersion } from "../versions/serve-version.ts";
import { timetable } from "../versions/timetable.ts";
import type { Version } from "../versions/versions.ts";
import type { PackedEdition, Topic } from "./edition.ts";
import { describeSchema, packed, readTopics } from "./edition.ts";
import type { Site } from "./print-page.ts";
import type { Rendered, RenderTask } from "./routes.ts";

/** Bytes of the pages that are kept. */
const defaultMaxKeptBytes = 16_000_000;

/** A page as it is sent. */
export interface StoredPage extends Rendered {
  /** Weak, because it is the same for each encoding. */
  etag: string;
}

/** The owner of all work of the thread: pages are the same for everyone. */
const everyone = "pages";
/** Pages that may wait, and milliseconds that one may take. */
const limits = { waiting: 50, workMs: 60_000 };

/**
 * The parts that several documentations can share: editions, and a thread that renders pages, so that requests to the API
 * never wait for one. It starts when it is needed.
 */
export class SharedDocumentation {
  /** Of the versions that they share. */
  readonly editions = new WeakMap<GraphQLSchema, Promise<PackedEdition>>();
  /** Bytes of the pages that each keeps. */
  readonly maxKeptBytes: number;
  readonly #threads = openThreads({ program: new URL("./routes.ts", import.meta.url), name: "renderPage" });
  // Not the pool's queue, see Renderer
  readonly #queue = new FairQueue({
    limit: () => 1,
    maxWaiting: limits.waiting,
    maxWaitMs: () => limits.workMs,
  });

  constructor(maxKeptBytes = defaultMaxKeptBytes) {
    this.maxKeptBytes = maxKeptBytes;
  }

  /**
   * Renders the page at a path; null when there is none.
   *
   * @throws SERVICE_UNAVAILABLE when too many pages wait
   */
  async render(...task: RenderTask): Promise<Rendered | null> {
    try {
      return await this.#queue.run(everyone, () => {
        const signal = AbortSignal.timeout(limits.workMs);
        return this.#threads.run(task, { signal }) as Promise<Rendered | null>;
      });
    } catch (error) {
      if (!(error instanceof NoTurn)) throw error;
      throw apiError("SERVICE_UNAVAILABLE", "Too many pages are requested. Try again in a little while.");
    }
  }

  /** Ends the thread. Pages that wait fail. */
  async close(): Promise<void> {
    await this.#threads.destroy();
  }
}

export interface DocumentationOptions {
  served: readonly ServedVersion[];
  versions: readonly Version[];
  pool: Pool;
  /** The time in milliseconds since 1970. */
  now: () => number;
  explorer: boolean;
}

/** The documentation of the versions as they are built at the moment. Pages are rendered when they are asked for. */
export class Documentation {
  readonly #options: DocumentationOptions;
  readonly #shared: SharedDocumentation;
  #reading: Promise<Topic[]> | null = null;
  /** The site and editions that the kept pages were made from. */
  #keptOf = "";
  readonly #kept: LRUCache<string, StoredPage>;

  constructor(options: DocumentationOptions, shared: SharedDocumentation) {
    this.#options = options;
    this.#shared = shared;
    this.#kept = new LRUCache({
      maxSize: shared.maxKeptBytes,
      sizeCalculation: ({ content }, path) => 2 * content.length + path.length + 200,
    });
  }

  /**
   * The page at a path, without a query; null when there is none.
   *
   * @throws SERVICE_UNAVAILABLE when too many pages wait
   */
  async page(path: string): Promise<StoredPage | null> {
    const editions = await this.#present();
    const site = this.#site(editions);
    const madeOf = JSON.stringify([site, editions.map(({ id }) => id)]);
    if (madeOf !== this.#keptOf) {
      this.#kept.clear();
      this.#keptOf = madeOf;
    }
    const before = this.#kept.get(path);
    if (before) return before;
    const rendered = await this.#shared.render(site, editions, path);
    if (rendered === null) return null;
    const page = { ...rendered, etag: `W/"${hash("sha256", rendered.content, "base64url")}"` };
    if (madeOf === this.#keptOf) this.#kept.set(path, page);
    return page;
  }

  #site(editions: readonly PackedEdition[]): Site {
    const { versions, now, explorer } = this.#options;
    const shown = timetable(versions, now()).filter(({ slug }) =>
      editions.some((each) => each.slug === slug),
    );
    return { versions: shown, explorer };
  }

  #present(): Promise<PackedEdition[]> {
    const built = this.#options.served.filter(({ failure }) => failure() === null);
    return Promise.all(built.map((version) => this.#editionOf(version)));
  }

  #editionOf({ version: { slug }, current }: ServedVersion): Promise<PackedEdition> {
    const { schema } = current();
    const { editions } = this.#shared;
    let edition = editions.get(schema);
    if (!edition) {
      editions.set(schema, (edition = this.#make(slug, schema)));
      edition.catch(() => editions.delete(schema));
    }
    return edition;
  }

  async #make(slug: string, schema: GraphQLSchema): Promise<PackedEdition> {
    const topics = await this.#topics();
    return packed({ slug, topics, ...(await describeSchema(schema)) });
  }

  /** Editions that are made at the same time share what is read. */
  #topics(): Promise<Topic[]> {
    return (this.#reading ??= asAuthRole(this.#options.pool, readTopics).finally(() => {
      this.#reading = null;
    }));
  }
}
