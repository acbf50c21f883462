import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { ChangeListener, listenAlways } from "../postgres/change-listener.ts";
import type { Listen, Listener } from "../postgres/change-listener.ts";

/** Cached answers to questions of one kind. */
export interface CachedAnswers<Key, Answer> {
  /** The current answer: from the cache, or from the database. */
  of(key: Key): Promise<Answer>;
  /** The answer of the database now, which is cached from then on. */
  again(key: Key): Promise<Answer>;
}

const changesOfRights = {
  channel: "service_credential_change",
  name: "changes of credentials",
  applicationName: "service credential listener",
};

/** Reads a value that is another one after each change of rights. */
export type ReadMark = () => Promise<string>;

/** This value, and when reading it began, in milliseconds of `performance.now()`. */
export interface Mark {
  text: string;
  readAt: number;
}

const unread: Mark = { text: "", readAt: -Infinity };

/** Milliseconds for which the mark counts as read, for what a request asks after the merchant's plan. */
const markHoldsMs = 1_000;

/**
 * Caches rights: credentials, the plan, and the keys that verify tokens.
 *
 * The database is asked once, and the answer is kept until something of the kind changes, of which the database
 * notifies every process. A process that doesn't listen reads a mark instead, at each request. So a change takes effect at
 * once everywhere, and a request normally costs no statement, or a short one.
 */
export class InvalidatedCache {
  readonly #listener: Listener;
  readonly #readMark: ReadMark;
  readonly #forgetting: (() => void)[] = [];
  /** Grows when answers become outdated, including those that are being read. */
  #era = 0;
  /** The mark as it was read last, and when that began. */
  #mark: Mark;

  /**
   * @param listen how it listens for changes
   * @param mark as it was read before
   */
  constructor(
    pool: Pool,
    logger: Logger,
    readMark: ReadMark,
    { listen = listenAlways, mark = unread }: { listen?: Listen; mark?: Mark | undefined } = {},
  ) {
    this.#readMark = readMark;
    this.#mark = mark;
    this.#listener = listen(() => new ChangeListener(pool, logger, changesOfRights, () => this.outdate()));
  }

  /**
   * Forgets all values. Notifications do so in all processes, shortly after a change is committed. The process that made
   * the change calls it, so that its next request already has the new rights.
   */
  outdate(): void {
    this.#era++;
    for (const forget of this.#forgetting) forget();
  }

  /** Whether a change made right now would be heard. */
  get isListening(): boolean {
    return this.#listener.isListening;
  }

  /** Whether values are current: notifications arrive, or the database was checked a moment ago. */
  get #isCurrent(): boolean {
    return this.isListening || performance.now() - this.#mark.readAt < markHoldsMs;
  }

  /** Looks whether anything has changed. What is asked afterwards may be cached. */
  async look(): Promise<void> {
    const readAt = performance.now();
    const text = await this.#readMark();
    if (text !== this.#mark.text) this.outdate();
    this.#mark = { text, readAt };
  }

  /** For other caches: called on each change, and whenever one may have been missed. */
  onOutdated(forget: () => void): void {
    this.#forgetting.push(forget);
  }

  /**
   * Caches answers of one kind.
   *
   * @param ask asks the database
   * @param max how many answers are cached
   * @param lifetimeMs milliseconds for which an answer is valid, if that is known beforehand
   * @param isFirst whether every request asks it first, so that it looks for changes for those behind it
   */
  remember<Key extends string, Answer>(
    ask: (key: Key) => Promise<Answer>,
    max: number,
    lifetimeMs: (answer: Answer) => number = () => Infinity,
    isFirst = false,
  ): CachedAnswers<Key, Answer> {
    const kept = new LRUCache<Key, { answer: Answer }>(atMost(max));
    const asked = new Map<Key, Promise<Answer>>();
    this.onOutdated(() => {
      kept.clear();
      asked.clear();
    });
    const askAnew = async (key: Key) => {
      const era = this.#era;
      const answer = await ask(key);
      const ttl = lifetimeMs(answer);
      if (era === this.#era && ttl >= 1) {
        kept.set(key, { answer }, Number.isFinite(ttl) ? { ttl } : {});
      }
      return answer;
    };
    return {
      of: async (key) => {
        this.#listener.use();
        if (!this.isListening && (isFirst || !this.#isCurrent)) await this.look();
        const known = kept.get(key);
        if (known) return known.answer;
        // After a change nothing is cached: each key is read once, however many requests need it
        const before = asked.get(key);
        if (before) return before;
        const answer = askAnew(key).finally(() => {
          if (asked.get(key) === answer) asked.delete(key);
        });
        asked.set(key, answer);
        return answer;
      },
      again: askAnew,
    };
  }

  /** Ends the connection that listens for changes. */
  close(): Promise<void> {
    return this.#listener.close();
  }
}
