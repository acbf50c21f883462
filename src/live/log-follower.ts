import type { Pool } from "pg";
import type { Logger } from "pino";
import { asRole } from "../postgres/as-role.ts";
import { ChangeListener } from "../postgres/change-listener.ts";
import type { ListeningPlaces } from "../postgres/occasional-listener.ts";

/** What decides who wants to know of an event. */
export interface LoggedEvent {
  id: string;
  topic: string;
  /** The GraphQL type of its subject. */
  type: string | undefined;
}

/** A topic of the log. */
export interface Topic {
  name: string;
  /** Scope that reads its subject. */
  scope: string;
  /** The GraphQL type of its subject. */
  type: string;
}

export type OnEvents = (events: readonly LoggedEvent[]) => void;

const growth = {
  channel: "service_events",
  name: "events",
  applicationName: "service events listener",
};
/** Most events that are read at a time. */
const batch = 1_000;
/** Milliseconds between two looks into the log, while notifications come and while they don't. */
const lookAnywayMs = { listening: 10_000, deaf: 1_000 };

/**
 * Follows the log of events while anybody in this process wants to know: one connection that listens, and one statement
 * for each time that the log has grown, however many follow.
 */
export class LogFollower {
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #followers = new Set<OnEvents>();
  #following: Promise<void> = Promise.resolve();
  readonly #places: ListeningPlaces | null;
  #listener: Pick<ChangeListener, "isListening" | "close"> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #topics: ReadonlyMap<string, Topic> = new Map();
  /** How far the log has been read; null before the first look. */
  #sequence: string | null = null;
  #newestId: string | null = null;
  #isReading = false;
  #isOutdated = false;
  #lastLook = 0;
  #hasFailed = false;

  /**
   * @param pool connections of the login role
   * @param places where only some may listen; without a place it looks each second
   */
  constructor(pool: Pool, logger: Logger, places: ListeningPlaces | null = null) {
    this.#places = places;
    this.#pool = pool;
    this.#logger = logger;
  }

  /** The newest event that has been told of; null when there was none. */
  get newestId(): string | null {
    return this.#newestId;
  }

  /**
   * Tells of each event after {@link newestId}, in their order.
   *
   * @returns ends that
   * @throws when the log can't be read at first
   */
  async follow(onEvents: OnEvents): Promise<() => void> {
    const before = this.#following;
    // One after the other, so that the first one's look is done before the next one begins
    const following = before.catch(() => {}).then(() => this.#begin());
    this.#following = following;
    await following;
    this.#followers.add(onEvents);
    return () => {
      this.#followers.delete(onEvents);
      if (this.#followers.size === 0) void this.close();
    };
  }

  /** All topics, by their names. Migrations may change them, so they are read for each stream. */
  async readTopics(): Promise<ReadonlyMap<string, Topic>> {
    const topics = await asRole(this.#pool, "service_delivery", async (client) => {
      const { rows } = await client.query<Topic>(
        "select name, scope, subject_type as type from events.topic where subscribable",
      );
      return rows;
    });
    return (this.#topics = new Map(topics.map((topic) => [topic.name, topic])));
  }

  /** Stops to listen, until somebody follows again. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const listener = this.#listener;
    this.#listener = null;
    this.#sequence = null;
    await listener?.close();
  }

  async #begin(): Promise<void> {
    if (this.#listener !== null) return;
    const newest = await readLogEnd(this.#pool);
    await this.readTopics();
    this.#sequence = newest?.sequence ?? "0";
    this.#newestId = newest?.id ?? null;
    this.#lastLook = performance.now();
    const listen = () => new ChangeListener(this.#pool, this.#logger, growth, () => void this.#look());
    this.#listener = this.#places ? this.#places.fill(listen) : listen();
    this.#timer = setInterval(() => {
      const pauseMs = this.#listener!.isListening ? lookAnywayMs.listening : lookAnywayMs.deaf;
      if (performance.now() - this.#lastLook > pauseMs) void this.#look();
    }, lookAnywayMs.deaf).unref();
  }

  async #look(): Promise<void> {
    this.#isOutdated = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#isOutdated && this.#sequence !== null) await this.#readOn(this.#sequence);
      this.#hasFailed = false;
    } catch (error) {
      // Once for each failure of the database, however long it lasts
      if (!this.#hasFailed)
        this.#logger.warn({ err: error }, "the log of events can't be read; trying again");
      this.#hasFailed = true;
    } finally {
      this.#isReading = false;
    }
  }

  async #readOn(sequence: string): Promise<void> {
    this.#lastLook = performance.now();
    this.#isOutdated = false;
    const rows = await readLogAfter(this.#pool, sequence);
    // Everybody may have left meanwhile, and others come
    if (rows.length === 0 || this.#sequence !== sequence) return;
    const last = rows.at(-1)!;
    this.#sequence = last.sequence;
    this.#newestId = last.id;
    if (rows.length === batch) this.#isOutdated = true;
    const events = rows.map(({ id, topic }) => ({ id, topic, type: this.#topics.get(topic)?.type }));
    for (const tell of this.#followers) tell(events);
  }
}

interface Row {
  sequence: string;
  id: string;
  topic: string;
}

async function readLogEnd(pool: Pool): Promise<Row | undefined> {
  return asRole(pool, "service_delivery", async (client) => {
    const { rows } = await client.query<Row>(
      "select sequence, id, topic from events.event order by sequence desc limit 1",
    );
    return rows[0];
  });
}

async function readLogAfter(pool: Pool, sequence: string): Promise<Row[]> {
  return asRole(pool, "service_delivery", async (client) => {
    const { rows } = await client.query<Row>(
      "select sequence, id, topic from events.event where sequence > $1 order by sequence limit $2",
      [sequence, batch],
    );
    return rows;
  });
}
