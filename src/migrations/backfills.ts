import type { QueryResultRow } from "pg";
import { UserError } from "../errors/user-error.ts";
import { pause } from "../lib/retry.ts";
import type { OwnerConnection } from "../postgres/client.ts";

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

/** The most rows of a batch, in which they are locked, and the milliseconds after which it was too large. */
const [defaultMaxRows, defaultTargetMs] = [1_000, 100];
/** Milliseconds until others who work on a backfill are asked again. */
const waitMs = 100;
/** Milliseconds between two lines about progress. */
const reportEveryMs = 2_000;

const columns = `name, relation, rows_seen::float8 as "rowsSeen", rows_filled::float8 as "rowsFilled",
  rows_total::float8 as "rowsTotal", state, failure`;

/** Fills the next batch of any backfill; null when there is nothing to do, or others do it. */
export async function fillNextBatch(
  client: OwnerConnection,
  maxRows = defaultMaxRows,
  targetMs = defaultTargetMs,
): Promise<Progress | null> {
  const { rows } = await client.query<QueryResultRow & Progress>(
    `select ${columns} from api_meta.fill_next_batch($1, $2)`,
    [maxRows, targetMs],
  );
  return rows[0] ?? null;
}

/** All backfills that were ever declared, the newest last. */
export async function readProgress(client: OwnerConnection): Promise<Progress[]> {
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

/**
 * Works until all backfills have ended, also those that others work on.
 *
 * @param onProgress called with a line every two seconds and at the end of each backfill
 * @throws {UserError} when one fails
 */
export async function fillAll(
  client: OwnerConnection,
  onProgress: (line: string) => void,
  maxRows?: number,
): Promise<void> {
  let reportedAt = performance.now();
  for (;;) {
    const done = await fillNextBatch(client, maxRows);
    if (done === null) {
      const open = (await readProgress(client)).filter(({ state }) => state !== "ended");
      if (open.length === 0) return;
      await pause(waitMs);
      continue;
    }
    if (done.state === "fails") throw new UserError(printProgress(done));
    if (done.state !== "ended" && performance.now() - reportedAt < reportEveryMs) continue;
    onProgress(printProgress(done));
    reportedAt = performance.now();
  }
}

/** Does work; where it needs backfills to have ended, works them off and begins it again. */
export async function afterBackfills(
  client: OwnerConnection,
  work: () => Promise<unknown>,
  onProgress: (line: string) => void,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    // api_meta.require_backfilled
    if ((error as { code?: string }).code !== "UE092") throw error;
    await fillAll(client, onProgress);
    await work();
  }
}
