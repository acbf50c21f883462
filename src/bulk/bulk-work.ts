import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { createBackgroundPool } from "../postgres/background-pool.ts";
import type { Allotment } from "../postgres/allotment.ts";
import { maxPageSize } from "../graphql/page-size.ts";
import { keepTrying, pause } from "../lib/retry.ts";
import { settlesWithin } from "../lib/within.ts";
import { createPool } from "../postgres/pool.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { exportRows } from "./export-rows.ts";
import { importRows } from "./import-rows.ts";
import type { BulkTools, Outcome, ClaimedExport, WorkTools } from "./bulk-operation.ts";
import type { BulkLimits } from "./bulk-limits.ts";

/**
 * Milliseconds of a lease, after which another process may take over an operation. After a process was killed, its
 * operation waits this long. Longer than a chunk may take.
 */
const defaultLeaseMs = 20_000;
/** Milliseconds between polls for work. */
const defaultPollMs = 1_000;
/** Milliseconds that Postgres may take for a page of an export. */
const readTimeoutsMs = { statement: 60_000, lock: 3_000 };
/** Milliseconds that a stop waits for the current chunk, and for closing connections. */
const [stopTimeoutMs, closingTimeoutMs] = [4_000, 1_000];

export interface BulkOptions extends Pick<BulkTools, "reader" | "spend" | "usedByOthers"> {
  /** Database URL with the service's login role. */
  url: string;
  /** Database URL with the role for clients' operations, to read lists. */
  apiUrl: string;
  /** Settings of the Postgres sessions of `url`. */
  session?: Record<string, string>;
  /** Most concurrent operations of this process. */
  concurrency: number;
  limits: BulkLimits;
  logger: Logger;
  tracing: Tracing | null;
  /** Opens connections if several services share a limited number. */
  allotment?: Allotment;
  /** For tests. */
  leaseMs?: number;
  pollMs?: number;
  pageSize?: number;
}

/** The running work on bulk operations. */
export interface BulkWork {
  /** Finishes the current chunks and leaves the rest to other processes. */
  stop(): Promise<void>;
}

/** Starts to work on bulk operations. While the database can't be reached, it keeps trying. */
export function startBulk(options: BulkOptions): BulkWork {
  const stop = new AbortController();
  const tools = openTools(options, stop.signal);
  const workers = Array.from({ length: options.concurrency }, () => work(tools, options));
  return {
    async stop() {
      stop.abort();
      await settlesWithin(stopTimeoutMs, Promise.all(workers));
      await close(tools);
    },
  };
}

/**
 * Works on one bulk operation, if there is one.
 *
 * @param stopping when aborted, the operation is left to other processes
 * @returns whether there was one
 */
export async function workOnNext(options: BulkOptions, stopping: AbortSignal): Promise<boolean> {
  const tools = openTools(options, stopping);
  try {
    const taken = await claimOperation(tools.pool, options.limits.atOnce, tools.leaseMs);
    if (taken) await workOn(taken, tools, options);
    return taken !== null;
  } finally {
    await close(tools);
  }
}

function openTools(options: BulkOptions, stopping: AbortSignal): BulkTools {
  const { url, apiUrl, concurrency, limits, session, allotment, reader } = options;
  return {
    ...options,
    // Each operation uses one connection to write and one to read ahead
    pool: createBackgroundPool(url, "service_worker", 2 * concurrency, "bulk", session, allotment),
    readPool: createPool(apiUrl, {
      max: concurrency,
      timeoutsMs: readTimeoutsMs,
      name: "bulk exports",
      allotment,
    }),
    leaseMs: options.leaseMs ?? defaultLeaseMs,
    stopping,
    schema: () => reader().schema,
    maxStoredBytes: limits.maxStoredBytes,
    pageSize: options.pageSize ?? maxPageSize,
  };
}

const close = ({ pool, readPool }: BulkTools) =>
  settlesWithin(closingTimeoutMs, Promise.all([pool.end(), readPool.end()]));

async function work(tools: BulkTools, options: BulkOptions): Promise<void> {
  const { pool, leaseMs, stopping } = tools;
  const { logger, pollMs = defaultPollMs, limits } = options;
  const next = async () => {
    const taken = await claimOperation(pool, limits.atOnce, leaseMs);
    if (taken) await workOn(taken, tools, options);
    else await pause(pollMs, stopping);
  };
  // A failed operation is taken again when its lease has ended
  const message = "bulk operations: the work on one failed; trying again";
  while (!stopping.aborted) await keepTrying(next, { logger, message, signal: stopping });
}

/** Takes the next operation of either kind. For imports, the fields of exports are null. */
async function claimOperation(pool: Pool, atOnce: number, leaseMs: number): Promise<ClaimedExport | null> {
  const claim = randomUUID();
  const { rows } = await pool.query<Omit<ClaimedExport, "claim">>("select * from bulk.take($1, $2, $3)", [
    claim,
    atOnce,
    leaseMs,
  ]);
  return rows[0] ? { ...rows[0], claim } : null;
}

async function workOn(
  taken: ClaimedExport,
  tools: BulkTools,
  { logger, tracing }: BulkOptions,
): Promise<void> {
  const { id, claim, kind, resource, credential_id: credentialId } = taken;
  const { pool } = tools;
  logger.info({ bulkOperation: { id, kind, resource, chunk: taken.next_chunk } }, "a bulk operation begins");
  const trace = tracing?.beginBulk(taken.traceparent, { id, kind, resource, credentialId }) ?? null;
  const outcome = await runTraced(taken, { ...tools, trace });
  if (outcome === "left") {
    await pool.query("select bulk.release($1, $2)", [id, claim]);
    return;
  }
  await pool.query("select bulk.finish($1, $2, $3, $4)", [
    id,
    claim,
    outcome?.code ?? null,
    outcome?.message ?? null,
  ]);
  logger.info(
    { bulkOperation: { id, kind, resource }, failure: outcome?.code },
    "a bulk operation has ended",
  );
}

async function runTraced(taken: ClaimedExport, tools: WorkTools): Promise<Outcome> {
  const { trace } = tools;
  try {
    const outcome = await (taken.kind === "export" ? exportRows(taken, tools) : importRows(taken, tools));
    trace?.end(outcome === "left" ? null : (outcome?.code ?? null));
    return outcome;
  } catch (error) {
    trace?.end("INTERNAL_SERVER_ERROR");
    throw error;
  }
}
