import type { Pool } from "pg";
import type { Logger } from "pino";
import { asRole } from "../postgres/as-role.ts";
import { Unreplicated } from "../postgres/pipeline/unreplicated.ts";
import { LatestOwner } from "../lib/latest-owner.ts";
import { utcDay } from "../lib/utc-day.ts";
import { FieldUse } from "./field-use.ts";
import { OperationUses } from "./operation-use.ts";
import { WaitingRows } from "./waiting-rows.ts";
import type { TakenRows } from "./waiting-rows.ts";

/** Milliseconds after which counts are written at the latest. */
const defaultIntervalMs = 10_000;
/** Part of that time without requests after which they are written at once, as long as there is a connection for it. */
const quietShare = 0.4;
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
  last_used_at: Date;
}

/** How many rows the transaction has written. pg_stat_xact_all_tables would take as long to plan as all else here. */
const rowsWritten = `select sum(pg_stat_get_xact_tuples_inserted(oid) + pg_stat_get_xact_tuples_updated(oid)
    + pg_stat_get_xact_tuples_deleted(oid))::float8 as count
  from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r'`;

export interface UsageOptions {
  /** Milliseconds after which counts are written at the latest. */
  intervalMs?: number | undefined;
  /** Called with the number of rows that were written. */
  onWritten?: ((rows: number) => void) | undefined;
  /** Runs a writing when there is room for it. */
  inTurn?: ((write: () => Promise<void>) => void) | undefined;
}

/**
 * Counts the requests of each credential, by day, version and deprecated field, and adds the sums to the database
 * regularly.
 */
export class Usage {
  /** Fields that credentials use. */
  readonly fields = new FieldUse();
  /** Operations that credentials send. */
  readonly operations = new OperationUses();
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #intervalMs: number;
  readonly #options: UsageOptions;
  #timer: NodeJS.Timeout | undefined;
  /** When the first count was made that isn't written. */
  #since = 0;
  readonly #counts = new WaitingRows<Count>(
    "record_use",
    maxWaiting,
    ({ credential_id, day, version, deprecated_field }) =>
      `${credential_id} ${day} ${version} ${deprecated_field}`,
    (waiting, { requests, last_used_at }) => {
      waiting.requests += requests;
      if (last_used_at > waiting.last_used_at) waiting.last_used_at = last_used_at;
    },
  );
  /** The credential of the latest request. */
  readonly #latest = new LatestOwner();
  #writing: Promise<void> = Promise.resolve();
  /** Whether some could not be written the last time. */
  #hasFailed = false;

  constructor(pool: Pool, logger: Logger, options: UsageOptions = {}) {
    this.#options = options;
    this.#pool = pool;
    this.#logger = logger;
    this.#intervalMs = options.intervalMs ?? defaultIntervalMs;
  }

  /** Counts a request. */
  note(credentialId: string, version: string): void {
    this.#latest.note(credentialId);
    if (this.#counts.size === 0) this.#await(this.#intervalMs * quietShare);
    this.#count(credentialId, version, "");
  }

  /** Whether others than a credential have sent requests just now. */
  readonly usedByOthers = (credentialId: string): boolean => !this.#latest.isAlone(credentialId);

  /** Counts a request that uses deprecated fields, given as Type.field. Call {@link note} for it as well. */
  noteDeprecated(credentialId: string, version: string, fields: Iterable<string>): void {
    for (const field of fields) this.#count(credentialId, version, field);
  }

  /** Writes the counts. When that fails, they are kept for the next time. */
  flush(): Promise<void> {
    return (this.#writing = this.#writing.then(() => this.#write()));
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.flush();
    clearTimeout(this.#timer);
  }

  /** Nothing is awaited while there is nothing to count. */
  #await(ms: number): void {
    clearTimeout(this.#timer);
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    const now = performance.now();
    const quietAt = this.#latest.at + this.#intervalMs * quietShare;
    const leftMs = Math.min(quietAt, this.#since + this.#intervalMs) - now;
    if (leftMs > 0) return void (this.#timer = setTimeout(() => this.#look(), leftMs).unref());
    this.#timer = undefined;
    const { inTurn } = this.#options;
    if (inTurn) inTurn(() => this.flush());
    else void this.flush();
  }

  async #write(): Promise<void> {
    const taken = [this.#counts.take(), this.fields.waiting.take(), this.operations.take()];
    const waiting = taken.filter(({ rows }) => rows.length > 0);
    if (waiting.length === 0) return;
    // Statements that still run are counted when they end, and what can't be written is kept
    this.#await(this.#intervalMs);
    // What can't be written holds up the rest once
    const together = this.#hasFailed ? waiting.map((one) => [one]) : [waiting];
    this.#hasFailed = false;
    for (const some of together) {
      try {
        await this.#store(some);
      } catch (error) {
        // Written again, it would count twice
        if (error instanceof Unreplicated) continue;
        if (!this.#hasFailed)
          this.#logger.warn({ err: error }, "can't write the counts of requests; trying again");
        this.#hasFailed = true;
        for (const { keep } of some) keep();
      }
    }
  }

  /** Writes some in one transaction. */
  async #store(waiting: readonly TakenRows[]): Promise<void> {
    const { onWritten } = this.#options;
    const written = await asRole(this.#pool, "service_auth", async (client) => {
      for (const { by, rows } of waiting) await client.query(`select auth.${by}($1)`, [JSON.stringify(rows)]);
      return onWritten ? (await client.query<{ count: number }>(rowsWritten)).rows[0]!.count : 0;
    });
    onWritten?.(written);
  }

  #count(credentialId: string, version: string, field: string): void {
    if (this.#timer === undefined) this.#await(this.#intervalMs * quietShare);
    const last_used_at = new Date();
    const day = utcDay(last_used_at.getTime());
    const count = { credential_id: credentialId, day, version, deprecated_field: field };
    this.#counts.add([{ ...count, requests: 1, last_used_at }]);
  }
}
