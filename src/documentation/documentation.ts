import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import type { GraphQLSchema } from "postgraphile/graphql";
import { asAuthRole } from "../postgres/as-role.ts";
import type { ServedVersion } from "../versions/serve-version.ts";
import { timetable } from "../versions/timetable.ts";
import type { Version } from "../versions/versions.ts";
import type { Edition, Topic } from "./edition.ts";
import { describeSchema, readTopics } from "./edition.ts";
import type { Site } from "./page.ts";
import type { Rendered } from "./render.ts";
import { DocumentationThread } from "./thread.ts";

/** Bytes of the pages that are kept: of the only merchant, and of each of several. */
const maxKeptBytes = { alone: 16_000_000, ofMany: 1_000_000 };

/** Ids of editions are those of the thread, which several documentations may share. */
let made = 0;

/** A page as it is sent. */
export interface StoredPage extends Rendered {
  /** Weak, because it is the same for each encoding. */
  etag: string;
}

/** What the documentations of several merchants share. */
export class SharedDocumentation {
  readonly thread = new DocumentationThread();
  /** Of the versions that they share. */
  readonly editions = new WeakMap<GraphQLSchema, Promise<Edition>>();
}

export interface DocumentationOptions {
  served: readonly ServedVersion[];
  versions: readonly Version[];
  pool: Pool;
  /** The time in milliseconds since 1970. */
  now: () => number;
  explorer: boolean;
  /** Where several merchants have one each; it isn't closed with any of them. */
  shared?: SharedDocumentation | undefined;
}

/** The documentation of the versions as they are built at the moment. Pages are rendered when they are asked for. */
export class Documentation {
  readonly #options: DocumentationOptions;
  readonly #thread: DocumentationThread;
  readonly #editions: WeakMap<GraphQLSchema, Promise<Edition>>;
  #reading: Promise<Topic[]> | null = null;
  /** What the kept pages were made from. */
  #keptOf = "";
  readonly #kept: LRUCache<string, StoredPage>;

  constructor(options: DocumentationOptions) {
    this.#options = options;
    ({ thread: this.#thread, editions: this.#editions } = options.shared ?? new SharedDocumentation());
    this.#kept = new LRUCache({
      maxSize: options.shared ? maxKeptBytes.ofMany : maxKeptBytes.alone,
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
    const rendered = await this.#thread.render(site, editions, path);
    if (rendered === null) return null;
    const page = { ...rendered, etag: `W/"${hash("sha256", rendered.content, "base64url")}"` };
    if (madeOf === this.#keptOf) this.#kept.set(path, page);
    return page;
  }

  /** Ends its own thread. Pages that wait fail. */
  async close(): Promise<void> {
    if (!this.#options.shared) await this.#thread.close();
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
    let edition = this.#editions.get(schema);
    if (!edition) {
      this.#editions.set(schema, (edition = this.#make(slug, schema)));
      edition.catch(() => this.#editions.delete(schema));
    }
    return edition;
  }

  async #make(slug: string, schema: GraphQLSchema): Promise<Edition> {
    const id = made++;
    const topics = await this.#topics();
    return { id, slug, topics, ...(await describeSchema(schema)) };
  }

  /** Editions that are made at the same time share what is read. */
  #topics(): Promise<Topic[]> {
    return (this.#reading ??= asAuthRole(this.#options.pool, readTopics).finally(() => {
      this.#reading = null;
    }));
  }
}
