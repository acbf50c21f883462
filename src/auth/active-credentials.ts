import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { asAuthRole } from "./as-role.ts";
import { ChangeListener } from "./change-listener.ts";

interface Answer {
  scopes: ReadonlySet<string> | null;
  /** When the key ends, after a rotation with an overlap. In milliseconds, as performance.now has them. */
  endsAt: number;
}

/**
 * Which access keys work now, and with which scopes.
 *
 * The database is asked once per key, and the answer remembered until any credential changes: the database says so
 * to every process. While a process can't hear it, it remembers nothing and asks each time. So a deactivated
 * credential stops at once everywhere, and a request normally costs no statement.
 */
export class ActiveCredentials {
  readonly #pool: Pool;
  readonly #listener: ChangeListener;
  readonly #remembered = new LRUCache<string, Answer>({ max: 10_000 });
  /** Grows when answers become outdated, also those that are still under way. */
  #era = 0;

  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool;
    this.#listener = new ChangeListener(pool.options, logger, () => {
      this.#era++;
      this.#remembered.clear();
    });
  }

  /** Scopes that tokens of an access key may have now; null when the key is gone or its credential deactivated. */
  async scopesOf(accessKey: string): Promise<ReadonlySet<string> | null> {
    if (this.#listener.hears) {
      const answer = this.#remembered.get(accessKey);
      if (answer && performance.now() < answer.endsAt) return answer.scopes;
    }
    const era = this.#era;
    const answer = await this.#ask(accessKey);
    if (era === this.#era && this.#listener.hears) this.#remembered.set(accessKey, answer);
    return answer.scopes;
  }

  /** Ends the connection that listens for changes. */
  close(): Promise<void> {
    return this.#listener.close();
  }

  async #ask(accessKey: string): Promise<Answer> {
    const { rows } = await asAuthRole(this.#pool, (client) =>
      client.query<{ scopes: string[]; remaining: number | null }>(
        "select scopes, extract(epoch from remaining)::float8 as remaining from auth.active_scopes($1)",
        [accessKey],
      ),
    );
    const [key] = rows;
    if (!key) return { scopes: null, endsAt: Infinity };
    const endsAt = key.remaining === null ? Infinity : performance.now() + key.remaining * 1000;
    return { scopes: new Set(key.scopes), endsAt };
  }
}
