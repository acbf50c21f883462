import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { limitResponses } from "./answer-bound.ts";
import type { Allotment } from "./allotment.ts";
import { disablePreparing } from "./pipeline/prepared-statements.ts";
import { watchReplication } from "./pipeline/unreplicated.ts";

export interface PoolOptions {
  /** The maximum number of connections. */
  max: number;
  /** The number of idle connections that stay open; none by default. */
  min?: number;
  /** Time limits of Postgres for a statement and for a lock, in milliseconds. */
  timeoutsMs?: { statement: number; lock: number; mutation?: number };
  /** Other settings of Postgres. */
  settings?: Record<string, string>;
  /** Whether statements stay prepared on connections; true unless a pooler doesn't support that. */
  prepare?: boolean;
  /** Their application_name in Postgres' views. */
  name?: string;
  /** Opens the connections, if several merchants share them. */
  allotment?: Allotment | undefined;
}

/** Milliseconds after which an idle connection is closed, if merchants share connections. */
const idleTimeoutMillis = 5_000;

/** Milliseconds without a response after which a connection counts as lost. Postgres has its own, shorter limits. */
const minReadTimeoutMs = 15_000;
/** Milliseconds by which that exceeds the limits of Postgres. */
const readMarginMs = 5_000;

const defaultTimeoutsMs = { statement: 5_000, lock: 3_000 };

/**
 * Returns the settings of new connections, in the form of Postgres' command line.
 *
 * @param others settings in addition to the common ones
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

/** Opens a pool for serving requests, or for similar work. */
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
  if (!prepare) disablePreparing(pool);
  pool.on("connect", (client) => {
    watchReplication(client);
    limitResponses(client);
    if (!prepare) disablePreparing(client);
  });
  return pool;
}

/** Opens a pool. It replaces connections that break. */
export function openPool(
  config: pg.PoolConfig,
  allotment?: Allotment,
  Pool: typeof pg.Pool = pg.Pool,
): pg.Pool {
  const pool = new Pool({
    connectionTimeoutMillis: 5_000,
    // Only this detects a connection that the other side has left silently
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

/** Opens another pool with the same options, apart from some changes. */
export function openPoolLike({ options }: pg.Pool, changes: pg.PoolConfig): pg.Pool {
  // Copies of the options lack the password
  const { password } = options;
  return openPool({ ...options, ...(password !== undefined && { password }), min: 0, ...changes });
}

/** Milliseconds between two checks whether a pool is idle. */
const idleCheckMs = 2;

/**
 * Waits until all connections of a pool are idle. Called before work that blocks the event loop, so that requests that have
 * waited for a lock in Postgres don't wait for this work too.
 *
 * @param longestMs the limit, for a pool that is never idle
 */
export async function untilIdle(pool: pg.Pool, longestMs = 100): Promise<void> {
  const until = performance.now() + longestMs;
  do await sleep(idleCheckMs);
  while (pool.totalCount > pool.idleCount && performance.now() < until);
}
