import type { QueryResult, QueryResultRow } from "pg";
import { UserError } from "../errors/user-error.ts";
import { pause } from "../lib/retry.ts";

/** How far a backfill is (api_meta.backfill_progress). */
export interface Progress {
  name: string;
  relation: string;
  rowsSeen: number;
  rowsFilled: number;
  /** An estimate; null when nobody knows. */
  rowsTotal: number | null;
  state: "waits" | "works" | "fails" | "ended";
  failure: string | null;
}

/** Whatever runs statements. */
export interface Querying {
  query<R extends QueryResultRow>(text: string, values?: unknown[]): Promise<Pick<QueryResult<R>, "rows">>;
}

export interface BatchLimits {
  maxRows: number;
  /** Milliseconds after which a batch was too large. */
  targetMs: number;
}

/** Bounds of a batch, in which rows are locked for so long. */
export const batchLimits: BatchLimits = { maxRows: 1_000, targetMs: 100 };
/** Milliseconds until others who work on a backfill are asked again. */
const waitMs = 100;
/** Milliseconds between two lines about progress. */
const tellEveryMs = 2_000;

const columns = `name, relation, rows_seen::float8 as "rowsSeen", rows_filled::float8 as "rowsFilled",
  rows_total::float8 as "rowsTotal", state, failure`;

/** Fills the next batch of any backfill; null when there is nothing to do, or others do it. */
export async function fillNextBatch(
  client: Querying,
  limits: BatchLimits = batchLimits,
): Promise<Progress | null> {
  const { rows } = await client.query<QueryResultRow & Progress>(
    `select ${columns} from api_meta.fill_next_batch($1, $2)`,
    [limits.maxRows, limits.targetMs],
  );
  return rows[0] ?? null;
}

/** All backfills that were ever declared, the newest last. */
export async function readProgress(client: Querying): Promise<Progress[]> {
  const { rows } = await client.query<QueryResultRow & Progress>(
    `select ${columns} from api_meta.backfill_progress order by declared_at, name`,
  );
  return rows;
}

/** A line about a backfill. */
export function printProgress({
  name,
  relation,
  rowsSeen,
  rowsFilled,
  rowsTotal,
  state,
  failure,
}: Progress): string {
  const share = rowsTotal ? `, ${Math.floor((100 * rowsSeen) / rowsTotal)} %` : "";
  const about = rowsTotal === null || state === "ended" ? "" : ` of about ${rowsTotal}`;
  const counts = `${rowsSeen}${about} rows of ${relation} seen, ${rowsFilled} filled`;
  return `backfill ${name} ${state}${state === "ended" ? "" : share}: ${counts}${failure === null ? "" : `. ${failure}`}`;
}

export interface FillOptions {
  limits?: BatchLimits;
  /** Told how far it is, every two seconds and at the end of each backfill. */
  onProgress?: (line: string) => void;
  stopping?: AbortSignal;
}

/**
 * Works until all backfills have ended, also those that others work on.
 *
 * @throws {UserError} when one fails
 */
export async function fillAll(
  client: Querying,
  { limits = batchLimits, onProgress = () => {}, stopping }: FillOptions = {},
): Promise<void> {
  let toldAt = performance.now();
  while (stopping?.aborted !== true) {
    const done = await fillNextBatch(client, limits);
    if (done === null) {
      const open = (await readProgress(client)).filter(({ state }) => state !== "ended");
      if (open.length === 0) return;
      await pause(waitMs, stopping);
      continue;
    }
    if (done.state === "fails") throw new UserError(printProgress(done));
    if (done.state !== "ended" && performance.now() - toldAt < tellEveryMs) continue;
    onProgress(printProgress(done));
    toldAt = performance.now();
  }
}

/** Does work; where it needs backfills to have ended, works them off and begins it again. */
export async function afterBackfills(
  client: Querying,
  work: () => Promise<unknown>,
  onProgress: (line: string) => void,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    // api_meta.require_backfilled
    if ((error as { code?: string }).code !== "UE092") throw error;
    await fillAll(client, { onProgress });
    await work();
  }
}
