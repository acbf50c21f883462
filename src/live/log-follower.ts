import type { Pool } from "pg";
import type { Logger } from "pino";
import { readAs } from "../postgres/as-role.ts";
import { Signal } from "../lib/signal.ts";
import { ChangeListener, listenAlways } from "../postgres/change-listener.ts";
import type { Listen, Listener } from "../postgres/change-listener.ts";

/** The properties of an event that decide which streams it concerns. */
export interface LoggedEvent {
  id: string;
  topic: string;
  /** The GraphQL type of its subject. */
  type: string | undefined;
}

/** A topic of the log. */
export interface Topic {
  name: string;
  /** The scope for reading its subject. */
  scope: string;
  /** The GraphQL type of its subject. */
  type: string;
}

export type OnEvents = (events: readonly LoggedEvent[]) => void;

const logChanges = {
  channel: "service_events",
  name: "events",
  applicationName: "service events listener",
};
/** The most events that are read at a time. */
const batchSize = 1_000;
/** Milliseconds between two reads of the log without a notification, while the listener works and while it doesn't. */
const pollIntervalMs = { listening: 10_000, notListening: 1_000 };

/**
 * Follows the log of events while this process has followers. It takes one connection that listens, and one statement
 * each time the log has grown, for any number of followers.
 */
export class LogFollower {
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #followers = new Set<OnEvents>();
  #following: Promise<void> = Promise.resolve();
  readonly #listen: Listen;
  /** Set while there are followers. */
  #open: { listener: Listener; closing: AbortController } | null = null;
  #topics: ReadonlyMap<string, Topic> = new Map();
  /** The sequence number up to which the log has been read. */
  #sequence = "0";
  #newestId: string | null = null;

  /**
   * @param pool connections of the login role
   * @param listen starts the listener; while that doesn't listen, the log is read every second
   */
  constructor(pool: Pool, logger: Logger, listen: Listen = listenAlways) {
    this.#listen = listen;
    this.#pool = pool;
    this.#logger = logger;
  }

  /** The id of the newest event that was read; null if there was none. */
  get newestId(): string | null {
    return this.#newestId;
  }

  /**
   * Calls back with each event after {@link newestId}, in order.
   *
   * @returns a function that stops following
   * @throws when the log can't be read at the beginning
   */
  async follow(onEvents: OnEvents): Promise<() => void> {
    const before = this.#following;
    // One after the other, so that the first one has read the log before the next one begins
    const following = before.catch(() => {}).then(() => this.#begin());
    this.#following = following;
    await following;
    this.#followers.add(onEvents);
    return () => {
      this.#followers.delete(onEvents);
      if (this.#followers.size === 0) void this.close();
    };
  }

  /** Reads all topics, by name. Migrations may change them, so they are read for each stream. */
  async readTopics(): Promise<ReadonlyMap<string, Topic>> {
    const text = "select name, scope, subject_type as type from events.topic where subscribable";
    const topics = await readAs<Topic>(this.#pool, "service_delivery", text);
    return (this.#topics = new Map(topics.map((topic) => [topic.name, topic])));
  }

  /** Stops listening until there are followers again. */
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
      () => new ChangeListener(this.#pool, this.#logger, logChanges, () => grown.notify()),
    );
    const closing = new AbortController();
    this.#open = { listener, closing };
    void this.#readUntilClosed(grown, listener, closing.signal);
  }

  async #readUntilClosed(grown: Signal, listener: Listener, closing: AbortSignal): Promise<void> {
    let hasFailed = false;
    while (!closing.aborted) {
      await this.#waitForEvents(grown, listener, closing);
      try {
        while (!closing.aborted && (await this.#readBatch(closing)));
        hasFailed = false;
      } catch (error) {
        // Logged once per outage of the database, however long it lasts
        if (!hasFailed) this.#logger.warn({ err: error }, "the log of events can't be read; trying again");
        hasFailed = true;
      }
    }
  }

  /** Waits for a notification, or until the log has to be read without one: soon, if the listener doesn't work. */
  async #waitForEvents(grown: Signal, listener: Listener, closing: AbortSignal): Promise<void> {
    const until = performance.now() + pollIntervalMs.listening;
    do {
      if (await grown.wait(pollIntervalMs.notListening, closing)) return;
    } while (!closing.aborted && listener.isListening && performance.now() < until);
  }

  /** Reads the next events, and calls back. @returns whether there may be more */
  async #readBatch(closing: AbortSignal): Promise<boolean> {
    const rows = await readLogAfter(this.#pool, this.#sequence);
    const last = rows.at(-1);
    // All followers may have left meanwhile, and others may have come
    if (!last || closing.aborted) return false;
    this.#sequence = last.sequence;
    this.#newestId = last.id;
    const events = rows.map(({ id, topic }) => ({ id, topic, type: this.#topics.get(topic)?.type }));
    for (const notify of this.#followers) notify(events);
    return rows.length === batchSize;
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
  return readAs<Row>(pool, "service_delivery", text, [sequence, batchSize]);
}
