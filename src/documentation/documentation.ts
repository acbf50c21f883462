import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import type { GraphQLSchema } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import { TurnRefused } from "../lib/fair-queue.ts";
import { WorkThreads } from "../lib/threads.ts";
import { asRole } from "../postgres/as-role.ts";
import type { ServedVersion } from "../versions/serve-version.ts";
import { timetable } from "../versions/timetable.ts";
import type { Version } from "../versions/versions.ts";
import type { PackedEdition } from "./edition.ts";
import { describeSchema, packEdition, readTopics } from "./edition.ts";
import type { Site } from "./print-page.ts";
import type { Rendered, RenderTask } from "./routes.ts";

/** A rendered page with its ETag. */
export interface StoredPage extends Rendered {
  /** A weak ETag, because it is the same for each encoding. */
  etag: string;
}

/** Finds the page at a path; null when there is none. */
export type FindPage = (path: string) => Promise<StoredPage | null>;

/** A service that has documentation. */
export interface DocumentedService {
  served: readonly ServedVersion[];
  versions: readonly Version[];
  pool: Pool;
  /** The time in milliseconds since 1970. */
  now: () => number;
  explorer: boolean;
}

/** The owner of all work in the thread's queue: pages are the same for everyone. */
const threadOwner = "pages";
/** Milliseconds that a page may take, and that it may wait. */
const workMs = 60_000;
/** The most bytes of cached pages. */
const maxCachedBytes = 16_000_000;

/**
 * The documentation of the current versions of one or several services. A worker thread renders pages on request, so that
 * requests to the API never wait for one.
 */
export class Documentation {
  readonly #editions = new WeakMap<GraphQLSchema, Promise<PackedEdition>>();
  /** Cached pages, by a hash of their data and their path. */
  readonly #cache = new LRUCache<string, StoredPage>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ content }, key) => 2 * (content.length + key.length) + 200,
  });
  readonly #threads = new WorkThreads({
    program: new URL("./routes.ts", import.meta.url),
    maxWaiting: 50,
    maxWaitMs: workMs,
    timeoutMs: workMs,
  });

  /**
   * Returns the page at a path without a query string; null when there is none.
   *
   * @throws SERVICE_UNAVAILABLE when too many pages wait
   */
  async page(service: DocumentedService, path: string): Promise<StoredPage | null> {
    const built = service.served.filter(({ failure }) => failure() === null);
    const editions = await Promise.all(built.map((version) => this.#getEdition(version, service.pool)));
    const dates = timetable(service.versions, service.now());
    const versions = dates.filter(({ slug }) => editions.some((each) => each.slug === slug));
    const site: Site = { versions, explorer: service.explorer };
    const key = hash("sha256", JSON.stringify([site, editions.map(({ id }) => id)])) + path;
    const cached = this.#cache.get(key);
    if (cached) return cached;
    const rendered = await this.render(site, editions, path);
    if (rendered === null) return null;
    const page = { ...rendered, etag: `W/"${hash("sha256", rendered.content, "base64url")}"` };
    // The address of a redirect can be anything that a visitor sends
    if (page.type !== "redirect") this.#cache.set(key, page);
    return page;
  }

  /** Renders the page at a path, without caching it. */
  async render(...task: RenderTask): Promise<Rendered | null> {
    try {
      return await this.#threads.run<Rendered | null>(threadOwner, "renderPage", task);
    } catch (error) {
      if (!(error instanceof TurnRefused)) throw error;
      throw apiError("SERVICE_UNAVAILABLE", "Too many pages are requested. Try again in a little while.");
    }
  }

  /** Ends the thread. Waiting pages fail. */
  close(): Promise<void> {
    return this.#threads.close();
  }

  #getEdition({ version: { slug }, current }: ServedVersion, pool: Pool): Promise<PackedEdition> {
    const { schema } = current();
    let edition = this.#editions.get(schema);
    if (!edition) {
      const parts = Promise.all([asRole(pool, "service_auth", readTopics), describeSchema(schema)]);
      edition = parts.then(([topics, described]) => packEdition({ slug, topics, ...described }));
      this.#editions.set(schema, edition);
      edition.catch(() => this.#editions.delete(schema));
    }
    return edition;
  }
}
