import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { createBackgroundPool } from "../postgres/background-pool.ts";
import type { Allotment } from "../postgres/allotment.ts";
import { maxPageSize } from "../graphql/page-size.ts";
import { keepTrying, pause } from "../lib/retry.ts";
import { within } from "../lib/within.ts";
import { createPool } from "../postgres/pool.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { exportRows } from "./export-rows.ts";
import { importRows } from "./import-rows.ts";
import type { BulkTools, Outcome, TakenExport, WorkTools } from "./bulk-operation.ts";
import type { BulkLimits } from "./bulk-limits.ts";

/**
 * Milliseconds for which an operation is left alone that nothing is heard of: how long it rests after a process was
 * killed. Longer than a chunk may take.
 */
const defaultLeaseMs = 20_000;
/** Milliseconds between two looks for work. */
const defaultPollMs = 1_000;
/** How long Postgres may work on a page of an export. */
const readTimeoutsMs = { statement: 60_000, lock: 3_000 };
/** Milliseconds that a stop waits for a chunk, and for closing connections. */
const [stopTimeoutMs, closingTimeoutMs] = [4_000, 1_000];

export interface BulkOptions extends Pick<BulkTools, "reader" | "spend" | "usedByOthers"> {
  /** URL of the database, with the role that the service logs in as. */
  url: string;
  /** The same with the role for clients' operations, to read lists. */
  apiUrl: string;
  /** Settings of Postgres for it. */
  session?: Record<string, string>;
  /** Operations that this process works on at a time. */
  concurrency: number;
  limits: BulkLimits;
  logger: Logger;
  tracing: Tracing | null;
  /** Opens connections where several services share a number of them. */
  allotment?: Allotment;
  /** For tests. */
  leaseMs?: number;
  pollMs?: number;
  pageSize?: number;
}

/** The running work on bulk operations. */
export interface BulkWork {
  /** Lets the running chunks end, and leaves the rest to others. */
  stop(): Promise<void>;
}

/** Begins to work on bulk operations. While the database can't be reached, it keeps trying. */
export function startBulk(options: BulkOptions): BulkWork {
  const stop = new AbortController();
  const tools = openTools(options, stop.signal);
  const workers = Array.from({ length: options.concurrency }, () => work(tools, options));
  return {
    async stop() {
      stop.abort();
      await within(stopTimeoutMs, Promise.all(workers));
      await close(tools);
    },
  };
}

/**
 * Works on one bulk operation, if there is one.
 *
 * @param stopping when aborted, it is left to others
 * @returns whether there was one
 */
export async function workOnNext(options: BulkOptions, stopping: AbortSignal): Promise<boolean> {
  const tools = openTools(options, stopping);
  try {
    const taken = await take(tools.pool, options.limits.atOnce, tools.leaseMs);
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
    // For each operation one that writes, and one that reads ahead
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
  within(closingTimeoutMs, Promise.all([pool.end(), readPool.end()]));

async function work(tools: BulkTools, options: BulkOptions): Promise<void> {
  const { pool, leaseMs, stopping } = tools;
  const { logger, pollMs = defaultPollMs, limits } = options;
  const next = async () => {
    const taken = await take(pool, limits.atOnce, leaseMs);
    if (taken) await workOn(taken, tools, options);
    else await pause(pollMs, stopping);
  };
  // One that has failed is taken again when its lease has ended
  const message = "bulk operations: something failed";
  while (!stopping.aborted) await keepTrying(next, { logger, message, signal: stopping });
}

/** An operation of either kind: what only exports have is null of others. */
async function take(pool: Pool, atOnce: number, leaseMs: number): Promise<TakenExport | null> {
  const claim = randomUUID();
  const { rows } = await pool.query<Omit<TakenExport, "claim">>("select * from bulk.take($1, $2, $3)", [
    claim,
    atOnce,
    leaseMs,
  ]);
  return rows[0] ? { ...rows[0], claim } : null;
}

async function workOn(taken: TakenExport, tools: BulkTools, { logger, tracing }: BulkOptions): Promise<void> {
  const { id, claim, kind, resource, credential_id: credentialId } = taken;
  const { pool } = tools;
  logger.info({ bulkOperation: { id, kind, resource, chunk: taken.next_chunk } }, "a bulk operation begins");
  const trace = tracing?.bulk(taken.traceparent, { id, kind, resource, credentialId }) ?? null;
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

async function runTraced(taken: TakenExport, tools: WorkTools): Promise<Outcome> {
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
