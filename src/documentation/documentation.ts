import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import type { GraphQLSchema } from "postgraphile/graphql";
import { asRole } from "../postgres/as-role.ts";
import type { ServedVersion } from "../versions/serve-version.ts";
import { timetable } from "../versions/timetable.ts";
import type { Version } from "../versions/versions.ts";
import type { Edition, Topic } from "./edition.ts";
import { describeSchema, readTopics } from "./edition.ts";
import type { Site } from "./print-page.ts";
import type { Rendered } from "./routes.ts";
import { DocumentationThread } from "./thread.ts";

/** Bytes of the pages that are kept. */
const defaultMaxKeptBytes = 16_000_000;

/** A page as it is sent. */
export interface StoredPage extends Rendered {
  /** Weak, because it is the same for each encoding. */
  etag: string;
}

/** The parts that several documentations can share. */
export class SharedDocumentation {
  readonly thread = new DocumentationThread();
  /** Of the versions that they share. */
  readonly editions = new WeakMap<GraphQLSchema, Promise<Edition>>();
  /** Bytes of the pages that each keeps. */
  readonly maxKeptBytes: number;
  #made = 0;

  constructor(maxKeptBytes = defaultMaxKeptBytes) {
    this.maxKeptBytes = maxKeptBytes;
  }

  /** An id for an edition. */
  nextId(): number {
    return this.#made++;
  }

  /** Ends the thread. Pages that wait fail. */
  close(): Promise<void> {
    return this.thread.close();
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
    const rendered = await this.#shared.thread.render(site, editions, path);
    if (rendered === null) return null;
    const page = { ...rendered, etag: `W/"${hash("sha256", rendered.content, "base64url")}"` };
    if (madeOf === this.#keptOf) this.#kept.set(path, page);
    return page;
  }

  #site(editions: readonly Edition[]): Site {
    const { versions, now, explorer } = this.#options;
    const shown = timetable(versions, now()).filter(({ slug }) =>
      editions.some((each) => each.slug === slug),
    );
    return { versions: shown, explorer };
  }

  #present(): Promise<Edition[]> {
    const built = this.#options.served.filter(({ failure }) => failure() === null);
    return Promise.all(built.map((version) => this.#editionOf(version)));
  }

  #editionOf({ version: { slug }, current }: ServedVersion): Promise<Edition> {
    const { schema } = current();
    const { editions } = this.#shared;
    let edition = editions.get(schema);
    if (!edition) {
      editions.set(schema, (edition = this.#make(slug, schema)));
      edition.catch(() => editions.delete(schema));
    }
    return edition;
  }

  async #make(slug: string, schema: GraphQLSchema): Promise<Edition> {
    const id = this.#shared.nextId();
    const topics = await this.#topics();
    return { id, slug, topics, ...(await describeSchema(schema)) };
  }

  /** Editions that are made at the same time share what is read. */
  #topics(): Promise<Topic[]> {
    return (this.#reading ??= asRole(this.#options.pool, "service_auth", readTopics).finally(() => {
      this.#reading = null;
    }));
  }
}
