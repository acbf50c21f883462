import type { Pool } from "pg";
import type { Logger } from "pino";
import { asRole } from "../postgres/as-role.ts";
import { Unreplicated } from "../postgres/pipeline/unreplicated.ts";
import { LatestOwner } from "../lib/latest-owner.ts";
import { utcDay } from "../lib/utc-day.ts";
import { FieldUse } from "./field-use.ts";
import { OperationUses } from "./operation-use.ts";
import { PendingRows } from "./waiting-rows.ts";
import type { TakenRows } from "./waiting-rows.ts";

/** Maximum milliseconds until counts are written. */
const defaultIntervalMs = 10_000;
/** Share of that time without requests after which counts are written early, while the connection is still open. */
const quietShare = 0.4;
/** The maximum number of distinct counts that are kept while the database can't be reached. Further ones are lost. */
const maxWaiting = 10_000;

interface Count {
  credential_id: string;
  /** In UTC, such as 2026-06-30. */
  day: string;
  version: string;
  /** As Type.field; empty for all requests. */
  deprecated_field: string;
  requests: number;
  last_used_at: Date;
}

/** The query of the rows that the transaction wrote. Planning pg_stat_xact_all_tables would take as long as all else. */
const rowsWritten = `select sum(pg_stat_get_xact_tuples_inserted(oid) + pg_stat_get_xact_tuples_updated(oid)
    + pg_stat_get_xact_tuples_deleted(oid))::float8 as count
  from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r'`;

export interface UsageOptions {
  /** Maximum milliseconds until counts are written. */
  intervalMs?: number | undefined;
  /** Called with the number of rows that were written. */
  onWritten?: ((rows: number) => void) | undefined;
  /** Runs a write when its turn comes. */
  inTurn?: ((write: () => Promise<void>) => void) | undefined;
}

/**
 * Counts the requests of each API credential, by day, version and deprecated field, and regularly adds the sums to the
 * database.
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
  /** When the first count began that hasn't been written. */
  #since = 0;
  readonly #counts = new PendingRows<Count>(
    "record_use",
    maxWaiting,
    ({ credential_id, day, version, deprecated_field }) =>
      `${credential_id} ${day} ${version} ${deprecated_field}`,
    (waiting, { requests, last_used_at }) => {
      waiting.requests += requests;
      if (last_used_at > waiting.last_used_at) waiting.last_used_at = last_used_at;
    },
  );
  /** The API credential of the latest request. */
  readonly #latest = new LatestOwner();
  #writing: Promise<void> = Promise.resolve();
  /** Whether the last write failed for some counts. */
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
    if (this.#counts.size === 0) this.#schedule(this.#intervalMs * quietShare);
    this.#count(credentialId, version, "");
  }

  /** Whether other API credentials than the given one have sent requests recently. */
  readonly usedByOthers = (credentialId: string): boolean => !this.#latest.isAlone(credentialId);

  /** Counts a request that uses deprecated fields, as Type.field. Call {@link note} for it as well. */
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

  /** Starts the timer for the next write. There is none while nothing is counted. */
  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#writeIfDue(), ms).unref();
  }

  #writeIfDue(): void {
    const now = performance.now();
    const quietAt = this.#latest.lastAt + this.#intervalMs * quietShare;
    const leftMs = Math.min(quietAt, this.#since + this.#intervalMs) - now;
    if (leftMs > 0) return void (this.#timer = setTimeout(() => this.#writeIfDue(), leftMs).unref());
    this.#timer = undefined;
    const { inTurn } = this.#options;
    if (inTurn) inTurn(() => this.flush());
    else void this.flush();
  }

  async #write(): Promise<void> {
    const taken = [this.#counts.take(), this.fields.waiting.take(), this.operations.take()];
    const waiting = taken.filter(({ rows }) => rows.length > 0);
    if (waiting.length === 0) return;
    // Running statements are counted when they end, and counts that can't be written are kept
    this.#schedule(this.#intervalMs);
    // After a failure, write separately: counts that can't be written must not block the rest again
    const batches = this.#hasFailed ? waiting.map((one) => [one]) : [waiting];
    this.#hasFailed = false;
    for (const batch of batches) {
      try {
        await this.#store(batch);
      } catch (error) {
        // The write may have been committed: repeating it would count twice
        if (error instanceof Unreplicated) continue;
        if (!this.#hasFailed)
          this.#logger.warn({ err: error }, "can't write the counts of requests; trying again");
        this.#hasFailed = true;
        for (const { putBack: keep } of batch) keep();
      }
    }
  }

  /** Writes rows in one transaction. */
  async #store(waiting: readonly TakenRows[]): Promise<void> {
    const { onWritten } = this.#options;
    const written = await asRole(this.#pool, "service_auth", async (client) => {
      for (const { writeFunction: by, rows } of waiting)
        await client.query(`select auth.${by}($1)`, [JSON.stringify(rows)]);
      return onWritten ? (await client.query<{ count: number }>(rowsWritten)).rows[0]!.count : 0;
    });
    onWritten?.(written);
  }

  #count(credentialId: string, version: string, field: string): void {
    if (this.#timer === undefined) this.#schedule(this.#intervalMs * quietShare);
    const last_used_at = new Date();
    const day = utcDay(last_used_at.getTime());
    const count = { credential_id: credentialId, day, version, deprecated_field: field };
    this.#counts.add([{ ...count, requests: 1, last_used_at }]);
  }
}
