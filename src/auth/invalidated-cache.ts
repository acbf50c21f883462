import { LRUCache } from "lru-cache";
import { lruLimit } from "../lib/at-most.ts";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { ChangeListener, listenAlways } from "../postgres/change-listener.ts";
import type { Listen, Listener } from "../postgres/change-listener.ts";

/** Cached values of one kind, by key. */
export interface CachedAnswers<Key, Answer> {
  /** Returns the current value, from the cache or the database. */
  of(key: Key): Promise<Answer>;
  /** Reads the value from the database, and caches it. */
  again(key: Key): Promise<Answer>;
}

const changesOfRights = {
  channel: "service_credential_change",
  name: "changes of credentials",
  applicationName: "service credential listener",
};

/** Reads the mark of rights: a value that differs after each change of rights. */
export type ReadMark = () => Promise<string>;

/** The mark of rights, and when reading it began, in milliseconds of `performance.now()`. */
export interface Mark {
  text: string;
  readAt: number;
}

const unread: Mark = { text: "", readAt: -Infinity };

/** Milliseconds for which the mark counts as current: long enough for the reads of one request after the first. */
const markValidMs = 1_000;

/**
 * Caches rights: credentials, the plan, and the keys that verify tokens.
 *
 * A value is read once and kept until rights change; the database notifies every process of that. A process that doesn't
 * listen reads the mark of rights at each request instead. So a change takes effect at once everywhere, and a request
 * normally costs no statement, or a short one.
 */
export class InvalidatedCache {
  readonly #listener: Listener;
  readonly #readMark: ReadMark;
  readonly #handlers: (() => void)[] = [];
  /** Increases when values become outdated, including those that are being read. */
  #generation = 0;
  /** The mark that was read last. */
  #mark: Mark;

  /**
   * @param listen listens for changes
   * @param mark the mark, if it has been read before
   */
  constructor(
    pool: Pool,
    logger: Logger,
    readMark: ReadMark,
    { listen = listenAlways, mark = unread }: { listen?: Listen; mark?: Mark | undefined } = {},
  ) {
    this.#readMark = readMark;
    this.#mark = mark;
    this.#listener = listen(() => new ChangeListener(pool, logger, changesOfRights, () => this.invalidate()));
  }

  /**
   * Forgets all values. Notifications do so in all processes, shortly after a change is committed. The process that made
   * the change calls it, so that its next request already has the new rights.
   */
  invalidate(): void {
    this.#generation++;
    for (const forget of this.#handlers) forget();
  }

  /** Whether notifications arrive, so that a change would be noticed now. */
  get isListening(): boolean {
    return this.#listener.isListening;
  }

  /** Whether values are current: notifications arrive, or the database was checked a moment ago. */
  get #isCurrent(): boolean {
    return this.isListening || performance.now() - this.#mark.readAt < markValidMs;
  }

  /** Checks whether anything has changed. Values that are read afterwards may be cached. */
  async checkForChanges(): Promise<void> {
    const readAt = performance.now();
    const text = await this.#readMark();
    if (text !== this.#mark.text) this.invalidate();
    this.#mark = { text, readAt };
  }

  /** Registers a function that is called on each change, and whenever one may have been missed. */
  onOutdated(forget: () => void): void {
    this.#handlers.push(forget);
  }

  /**
   * Creates a cache for values of one kind.
   *
   * @param read reads a value from the database
   * @param max the maximum number of cached values
   * @param lifetimeMs returns for how many milliseconds a value is valid, if that is known beforehand
   * @param isFirst whether every request reads it first, so that it checks for changes on behalf of later reads
   */
  remember<Key extends string, Answer>(
    read: (key: Key) => Promise<Answer>,
    max: number,
    lifetimeMs: (answer: Answer) => number = () => Infinity,
    isFirst = false,
  ): CachedAnswers<Key, Answer> {
    const cache = new LRUCache<Key, { answer: Answer }>(lruLimit(max));
    const pending = new Map<Key, Promise<Answer>>();
    this.onOutdated(() => {
      cache.clear();
      pending.clear();
    });
    const readAgain = async (key: Key) => {
      const generation = this.#generation;
      const answer = await read(key);
      const ttl = lifetimeMs(answer);
      if (generation === this.#generation && ttl >= 1) {
        cache.set(key, { answer }, Number.isFinite(ttl) ? { ttl } : {});
      }
      return answer;
    };
    return {
      of: async (key) => {
        this.#listener.use();
        if (!this.isListening && (isFirst || !this.#isCurrent)) await this.checkForChanges();
        const known = cache.get(key);
        if (known) return known.answer;
        // After a change nothing is cached: each key is read once, even if many requests need it
        const before = pending.get(key);
        if (before) return before;
        const answer = readAgain(key).finally(() => {
          if (pending.get(key) === answer) pending.delete(key);
        });
        pending.set(key, answer);
        return answer;
      },
      again: readAgain,
    };
  }

  /** Ends the connection that listens for changes. */
  close(): Promise<void> {
    return this.#listener.close();
  }
}
