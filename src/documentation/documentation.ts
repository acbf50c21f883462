import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import type { GraphQLSchema } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import { NoTurn } from "../lib/fair-queue.ts";
import { WorkThreads } from "../lib/threads.ts";
import { asRole } from "../postgres/as-role.ts";
import type { ServedVersion } from "../versions/serve-version.ts";
import { timetable } from "../versions/timetable.ts";
import type { Version } from "../versions/versions.ts";
import type { PackedEdition } from "./edition.ts";
import { describeSchema, packed, readTopics } from "./edition.ts";
import type { Site } from "./print-page.ts";
import type { Rendered, RenderTask } from "./routes.ts";

/** A page as it is sent. */
export interface StoredPage extends Rendered {
  /** Weak, because it is the same for each encoding. */
  etag: string;
}

/** Finds the page at a path; null when there is none. */
export type FindPage = (path: string) => Promise<StoredPage | null>;

/** A service that pages are about. */
export interface DocumentedService {
  served: readonly ServedVersion[];
  versions: readonly Version[];
  pool: Pool;
  /** The time in milliseconds since 1970. */
  now: () => number;
  explorer: boolean;
}

/** The owner of all work of the thread: pages are the same for everyone. */
const everyone = "pages";
/** Milliseconds that a page may take, and wait. */
const workMs = 60_000;
/** Bytes of the pages that are kept. */
const maxKeptBytes = 16_000_000;

/**
 * The pages about the versions as they are built at the moment, of one service or several. A thread renders them when they
 * are asked for, so that requests to the API never wait for one.
 */
export class Documentation {
  readonly #editions = new WeakMap<GraphQLSchema, Promise<PackedEdition>>();
  /** By what the pages were made from, and their paths. */
  readonly #kept = new LRUCache<string, StoredPage>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ content }, key) => 2 * (content.length + key.length) + 200,
  });
  readonly #threads = new WorkThreads({
    program: new URL("./routes.ts", import.meta.url),
    maxWaiting: 50,
    maxWaitMs: workMs,
    timeoutMs: workMs,
  });

  /**
   * The page at a path, without a query; null when there is none.
   *
   * @throws SERVICE_UNAVAILABLE when too many pages wait
   */
  async page(service: DocumentedService, path: string): Promise<StoredPage | null> {
    const built = service.served.filter(({ failure }) => failure() === null);
    const editions = await Promise.all(built.map((version) => this.#editionOf(version, service.pool)));
    const dates = timetable(service.versions, service.now());
    const versions = dates.filter(({ slug }) => editions.some((each) => each.slug === slug));
    const site: Site = { versions, explorer: service.explorer };
    const key = hash("sha256", JSON.stringify([site, editions.map(({ id }) => id)])) + path;
    const before = this.#kept.get(key);
    if (before) return before;
    const rendered = await this.render(site, editions, path);
    if (rendered === null) return null;
    const page = { ...rendered, etag: `W/"${hash("sha256", rendered.content, "base64url")}"` };
    // Redirects have whatever address a visitor made up
    if (page.type !== "redirect") this.#kept.set(key, page);
    return page;
  }

  /** Renders the page at a path, which isn't kept. */
  async render(...task: RenderTask): Promise<Rendered | null> {
    try {
      return await this.#threads.run<Rendered | null>(everyone, "renderPage", task);
    } catch (error) {
      if (!(error instanceof NoTurn)) throw error;
      throw apiError("SERVICE_UNAVAILABLE", "Too many pages are requested. Try again in a little while.");
    }
  }

  /** Ends the thread. Pages that wait fail. */
  close(): Promise<void> {
    return this.#threads.close();
  }

  #editionOf({ version: { slug }, current }: ServedVersion, pool: Pool): Promise<PackedEdition> {
    const { schema } = current();
    let edition = this.#editions.get(schema);
    if (!edition) {
      const making = Promise.all([asRole(pool, "service_auth", readTopics), describeSchema(schema)]);
      edition = making.then(([topics, described]) => packed({ slug, topics, ...described }));
      this.#editions.set(schema, edition);
      edition.catch(() => this.#editions.delete(schema));
    }
    return edition;
  }
}
