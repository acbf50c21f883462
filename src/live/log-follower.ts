import type { Pool } from "pg";
import type { Logger } from "pino";
import { readAs } from "../postgres/as-role.ts";
import { Signal } from "../lib/signal.ts";
import { ChangeListener, listenAlways } from "../postgres/change-listener.ts";
import type { Listen, Listener } from "../postgres/change-listener.ts";

/** An event, as far as it decides which streams want it. */
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
  readonly #listen: Listen;
  /** While somebody follows. */
  #open: { listener: Listener; closing: AbortController } | null = null;
  #topics: ReadonlyMap<string, Topic> = new Map();
  /** How far the log has been read. */
  #sequence = "0";
  #newestId: string | null = null;

  /**
   * @param pool connections of the login role
   * @param listen how it listens; while it doesn't, it looks each second
   */
  constructor(pool: Pool, logger: Logger, listen: Listen = listenAlways) {
    this.#listen = listen;
    this.#pool = pool;
    this.#logger = logger;
  }

  /** The newest event that followers know of; null when there was none. */
  get newestId(): string | null {
    return this.#newestId;
  }

  /**
   * Calls back with each event after {@link newestId}, in their order.
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
    const text = "select name, scope, subject_type as type from events.topic where subscribable";
    const topics = await readAs<Topic>(this.#pool, "service_delivery", text);
    return (this.#topics = new Map(topics.map((topic) => [topic.name, topic])));
  }

  /** Stops to listen, until somebody follows again. */
  async close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    open?.closing.abort();
    await open?.listener.close();
  }

  async #begin(): Promise<void> {
    if (this.#open !== null) return;
    const newest = await readLogEnd(this.#pool);
    await this.readTopics();
    this.#sequence = newest?.sequence ?? "0";
    this.#newestId = newest?.id ?? null;
    const grown = new Signal();
    const listener = this.#listen(
      () => new ChangeListener(this.#pool, this.#logger, growth, () => grown.notify()),
    );
    const closing = new AbortController();
    this.#open = { listener, closing };
    void this.#readOn(grown, listener, closing.signal);
  }

  async #readOn(grown: Signal, listener: Listener, closing: AbortSignal): Promise<void> {
    let hasFailed = false;
    while (!closing.aborted) {
      await this.#somethingNew(grown, listener, closing);
      try {
        while (!closing.aborted && (await this.#readSome(closing)));
        hasFailed = false;
      } catch (error) {
        // Once for each failure of the database, however long it lasts
        if (!hasFailed) this.#logger.warn({ err: error }, "the log of events can't be read; trying again");
        hasFailed = true;
      }
    }
  }

  /** Waits for news, or until it is time to look anyway: soon, if the listener no longer hears. */
  async #somethingNew(grown: Signal, listener: Listener, closing: AbortSignal): Promise<void> {
    const until = performance.now() + lookAnywayMs.listening;
    do {
      if (await grown.wait(lookAnywayMs.deaf, closing)) return;
    } while (!closing.aborted && listener.isListening && performance.now() < until);
  }

  /** Reads on, and calls back. Returns whether there may be more. */
  async #readSome(closing: AbortSignal): Promise<boolean> {
    const rows = await readLogAfter(this.#pool, this.#sequence);
    const last = rows.at(-1);
    // Everybody may have left meanwhile, and others come
    if (!last || closing.aborted) return false;
    this.#sequence = last.sequence;
    this.#newestId = last.id;
    const events = rows.map(({ id, topic }) => ({ id, topic, type: this.#topics.get(topic)?.type }));
    for (const notify of this.#followers) notify(events);
    return rows.length === batch;
  }
}

interface Row {
  sequence: string;
  id: string;
  topic: string;
}

async function readLogEnd(pool: Pool): Promise<Row | undefined> {
  const text = "select sequence, id, topic from events.event order by sequence desc limit 1";
  return (await readAs<Row>(pool, "service_delivery", text))[0];
}

function readLogAfter(pool: Pool, sequence: string): Promise<Row[]> {
  const text = "select sequence, id, topic from events.event where sequence > $1 order by sequence limit $2";
  return readAs<Row>(pool, "service_delivery", text, [sequence, batch]);
}
