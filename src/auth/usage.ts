import type { Pool } from "pg";
import type { Logger } from "pino";
import { asAuthRole } from "../database/as-role.ts";
import { FieldUse } from "./field-use.ts";
import { OperationUses } from "./operation-use.ts";

/** Milliseconds after which counts are written at the latest. */
const defaultIntervalMs = 10_000;
/** Part of that time without requests after which they are written at once, as long as there is a connection for it. */
const quietShare = 0.4;
/** Milliseconds without requests of others after which a credential counts as alone. */
const aloneAfterMs = 1_000;
/** Distinct counts that are kept while the database can't be reached; further ones are lost. */
const maxWaiting = 10_000;

interface Count {
  credential_id: string;
  /** In UTC, such as 2026-06-30. */
  day: string;
  version: string;
  /** Type.field; empty: all requests. */
  deprecated_field: string;
  requests: number;
  last_used_at: string;
}

/** Entries that wait to be written. */
interface Notes<Entry> {
  take(): Entry[];
  add(entries: readonly Entry[]): void;
}

/**
 * Counts the requests of each credential, by day, version and deprecated field, and adds the sums to the database
 * regularly.
 */
export class Usage {
  /** Which fields credentials use. */
  readonly fields = new FieldUse();
  /** Which operations they send. */
  readonly operations = new OperationUses();
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** When the first count was made that isn't written. */
  #since = 0;
  #counts = new Map<string, Count>();
  /** The credentials of the latest request, and of the latest one of another. */
  #latest = { credentialId: "", at: -Infinity };
  #latestOfOther = -Infinity;
  #writing: Promise<void> = Promise.resolve();

  constructor(pool: Pool, logger: Logger, intervalMs = defaultIntervalMs) {
    this.#pool = pool;
    this.#logger = logger;
    this.#intervalMs = intervalMs;
  }

  /** Counts a request. */
  note(credentialId: string, version: string): void {
    if (credentialId !== this.#latest.credentialId) this.#latestOfOther = this.#latest.at;
    this.#latest = { credentialId, at: performance.now() };
    this.#add(credentialId, version, "", 1);
    this.#await(this.#intervalMs * quietShare);
  }

  /** Whether others than a credential have sent requests just now. */
  readonly usedByOthers = (credentialId: string): boolean => {
    const at = credentialId === this.#latest.credentialId ? this.#latestOfOther : this.#latest.at;
    return performance.now() - at < aloneAfterMs;
  };

  /** Counts a request that uses deprecated fields, given as Type.field. Call {@link note} for it as well. */
  noteDeprecated(credentialId: string, version: string, fields: Iterable<string>): void {
    for (const field of fields) this.#add(credentialId, version, field, 1);
  }

  /** Writes the counts. When that fails, they are kept for the next time. */
  flush(): Promise<void> {
    return (this.#writing = this.#writing
      .then(() => this.#write())
      .then(() => this.#writeNotes(this.fields, "auth.record_fields", "which fields credentials use"))
      .then(() => this.#writeNotes(this.operations, "auth.record_operations", "which operations they send")));
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.flush();
    clearTimeout(this.#timer);
  }

  /** Nothing is awaited while there is nothing to count. */
  #await(ms: number): void {
    if (this.#timer) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    const now = performance.now();
    const quietAt = this.#latest.at + this.#intervalMs * quietShare;
    const leftMs = Math.min(quietAt, this.#since + this.#intervalMs) - now;
    if (leftMs > 0) return void (this.#timer = setTimeout(() => this.#look(), leftMs).unref());
    this.#timer = undefined;
    void this.flush();
  }

  /** Statements that still run are counted when they end, and what can't be written is kept. */
  #awaitMore(): void {
    this.#await(this.#intervalMs);
  }

  async #write(): Promise<void> {
    const counts = [...this.#counts.values()];
    if (counts.length === 0) return;
    this.#awaitMore();
    this.#counts = new Map();
    try {
      await asAuthRole(this.#pool, (client) =>
        client.query("select auth.record_use($1)", [JSON.stringify(counts)]),
      );
    } catch (error) {
      this.#logger.warn({ err: error }, "can't write the counts of requests; trying again");
      for (const count of counts) {
        const { credential_id, version, deprecated_field, requests, day, last_used_at } = count;
        this.#add(credential_id, version, deprecated_field, requests, day, last_used_at);
      }
    }
  }

  /** Writes what waits by a function of the database. */
  async #writeNotes<Entry>(notes: Notes<Entry>, by: string, what: string): Promise<void> {
    const entries = notes.take();
    if (entries.length === 0) return;
    this.#awaitMore();
    try {
      await asAuthRole(this.#pool, (client) => client.query(`select ${by}($1)`, [JSON.stringify(entries)]));
    } catch (error) {
      this.#logger.warn({ err: error }, `can't write ${what}; trying again`);
      notes.add(entries);
    }
  }

  #add(
    credentialId: string,
    version: string,
    field: string,
    requests: number,
    day?: string,
    moment = new Date().toISOString(),
  ): void {
    day ??= moment.slice(0, 10);
    const key = `${credentialId} ${day} ${version} ${field}`;
    const count = this.#counts.get(key);
    if (count) {
      count.requests += requests;
      if (count.last_used_at < moment) count.last_used_at = moment;
    } else if (this.#counts.size < maxWaiting) {
      this.#counts.set(key, {
        ...{ credential_id: credentialId, day, version, deprecated_field: field },
        ...{ requests, last_used_at: moment },
      });
    }
  }
}
