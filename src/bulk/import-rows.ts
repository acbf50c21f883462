import { errorCodeOf } from "../errors/postgres-errors.ts";
import { pause, retry } from "../lib/retry.ts";
import { unpack } from "./chunks.ts";
import type { Failure, Outcome, ClaimedOperation, WorkTools } from "./bulk-operation.ts";
import { withTrace } from "./traced.ts";
import { findUpsert } from "./upserts.ts";
import type { ReadRows } from "./upserts.ts";

/** Most attempts for a chunk that conflicts with other writes. */
const attempts = 8;

/**
 * Imports the rows of a file, starting at the first chunk that isn't done. While Postgres works on a chunk, the next one is
 * read.
 */
export async function importRows(operation: ClaimedOperation, tools: WorkTools): Promise<Outcome> {
  const read = (number: number) => {
    const reading = readChunk(operation, number, tools);
    reading.catch(() => {});
    return reading;
  };
  let next = read(operation.next_chunk);
  for (let number = operation.next_chunk; ; number++) {
    const rows = await next;
    if (rows === null) return null;
    next = read(number + 1);
    if (tools.stopping.aborted) return "left";
    const began = performance.now();
    tools.trace?.beginChunk(number);
    const outcome = await importChunk(operation, number, rows, tools);
    if (outcome === "gone") return "left";
    if (outcome !== "done") return describeFailure(outcome, operation.resource);
    tools.trace?.endChunk(rows.lines.length + rows.faults.length);
    const workedMs = performance.now() - began;
    await pauseAfter(workedMs, tools.usedByOthers(operation.credential_id), tools.stopping);
  }
}

/** Longest pause. The lease isn't renewed meanwhile. */
const maxRestMs = 2_000;

/**
 * Pauses as long as Postgres has just worked, if other clients have sent requests recently. Background work thus takes at
 * most half a core of Postgres from their requests.
 */
export async function pauseAfter(workedMs: number, isShared: boolean, stopping: AbortSignal): Promise<void> {
  if (isShared) await pause(Math.min(workedMs, maxRestMs), stopping);
}

async function readChunk(
  { id, claim, resource }: ClaimedOperation,
  number: number,
  { pool, schema }: WorkTools,
): Promise<ReadRows | null> {
  const { rows } = await pool.query<{ content: Buffer | null }>(
    "select bulk.read_chunk($1, $2, $3) as content",
    [id, claim, number],
  );
  const { content } = rows[0]!;
  return content && findUpsert(schema(), resource)!.read(await unpack(content));
}

type ChunkOutcome = "done" | "gone" | "FORBIDDEN" | "SCOPE_MISSING";

async function importChunk(
  { id, claim, resource }: ClaimedOperation,
  number: number,
  { json, lines, faults }: ReadRows,
  { pool, schema, leaseMs, trace }: WorkTools,
): Promise<ChunkOutcome> {
  const { version, operation } = findUpsert(schema(), resource)!;
  const text = "select bulk.import_chunk($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) as outcome";
  const call = [id, claim, number, version, operation, resource];
  const values = [...call, json, lines, JSON.stringify(faults), leaseMs, trace?.traceparent];
  const once = () => withTrace(trace, text, () => pool.query<{ outcome: ChunkOutcome }>(text, values));
  const { rows } = await retry(once, {
    pauseMs(error, failures) {
      if (conflictCodes.has(errorCodeOf(error) ?? "") && failures < attempts)
        return 20 * 2 ** failures * (0.5 + Math.random());
      throw error;
    },
  });
  return rows[0]!.outcome;
}

/** Error codes of conflicts with other writes: a serialization failure, a deadlock, or a lock that is held too long. */
const conflictCodes = new Set(["40001", "40P01", "55P03"]);

function describeFailure(outcome: "FORBIDDEN" | "SCOPE_MISSING", resource: string): Failure {
  const message =
    outcome === "FORBIDDEN"
      ? "The merchant's plan allows no mutations any more."
      : `The API credential may not write ${resource} any more.`;
  return { code: outcome, message };
}
