import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { boundAnswers } from "./answer-bound.ts";
import type { Allotment } from "./connection-budget.ts";
import { prepareNothingOn } from "./pipeline/prepared-statements.ts";
import { watchReplication } from "./pipeline/unreplicated.ts";

export interface PoolOptions {
  /** Maximum number of connections. */
  max: number;
  /** Idle connections that stay open; none by default. */
  min?: number;
  /** Time limits of Postgres for a statement and for a lock, in milliseconds. */
  timeoutsMs?: { statement: number; lock: number; mutation?: number };
  /** Further settings of Postgres. */
  settings?: Record<string, string>;
  /** Whether statements stay prepared on connections; true unless a pooler doesn't support that. */
  prepare?: boolean;
  /** Their application_name in Postgres' views. */
  name?: string;
  /** What opens them, where several merchants share a number of connections. */
  allotment?: Allotment | undefined;
}

/** Milliseconds without use after which a connection is closed that needn't stay open. */
const idleTimeoutMillis = 5_000;

/** Milliseconds without an answer after which a connection counts as lost. Postgres has its own, shorter limits. */
const minReadTimeoutMs = 15_000;
/** Milliseconds that this exceeds the limits of Postgres. */
const readMarginMs = 5_000;

const defaultTimeoutsMs = { statement: 5_000, lock: 3_000 };

/**
 * The settings of new connections, in the form of Postgres' command line.
 *
 * @param others further settings beside those of all connections
 */
export function startOptions(timeoutsMs = defaultTimeoutsMs, others: Record<string, string> = {}): string {
  const session = {
    timezone: "UTC",
    statement_timeout: timeoutsMs.statement,
    lock_timeout: timeoutsMs.lock,
    idle_in_transaction_session_timeout: "30s",
    jit: "off",
    ...others,
  };
  return Object.entries(session)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(" ");
}

/** Connections for serving requests, or similar ones. */
export function createPool(
  connectionString: string,
  { max, min = 0, timeoutsMs = defaultTimeoutsMs, prepare = true, ...others }: PoolOptions,
): pg.Pool {
  const { settings, name = "service", allotment } = others;
  const config = {
    connectionString,
    max,
    min,
    query_timeout: Math.max(minReadTimeoutMs, timeoutsMs.statement, timeoutsMs.mutation ?? 0) + readMarginMs,
    options: startOptions(timeoutsMs, settings),
    application_name: name,
    ...(allotment && { idleTimeoutMillis }),
  };
  const pool = openPool(config, allotment);
  if (!prepare) prepareNothingOn(pool);
  pool.on("connect", (client) => {
    watchReplication(client);
    boundAnswers(client);
    if (!prepare) prepareNothingOn(client);
  });
  return pool;
}

/** Opens a pool. It replaces connections that break. */
export function openPool(config: pg.PoolConfig, allotment?: Allotment): pg.Pool {
  const pool = new pg.Pool({
    connectionTimeoutMillis: 5_000,
    // Only these detect a connection that the other side has silently left
    keepAlive: true,
    ...config,
    ...(allotment && { Client: allotment.Client }),
  });
  allotment?.add(pool);
  // Without listeners, the error of a connection that breaks while idle would end the process
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** Further connections like those of a pool. */
export function openPoolLike({ options }: pg.Pool, changes: pg.PoolConfig): pg.Pool {
  // Copies of the options lack the password
  const { password } = options;
  return openPool({ ...options, ...(password !== undefined && { password }), min: 0, ...changes });
}

/** Milliseconds between two looks whether a pool is idle. */
const idleCheckMs = 2;

/**
 * Waits until all connections of a pool are back, before something that holds up the event loop: requests that have waited
 * for a lock of Postgres don't wait for that too.
 *
 * @param longestMs for how long, while there are ever new requests
 */
export async function untilIdle(pool: pg.Pool, longestMs = 100): Promise<void> {
  const until = performance.now() + longestMs;
  do await sleep(idleCheckMs);
  while (pool.totalCount > pool.idleCount && performance.now() < until);
}
