import pg from "pg";
import { prepareNothingOn } from "./pipeline/prepared-statements.ts";

export interface PoolOptions {
  /** Connections at most. */
  max: number;
  /** Connections that stay open when they are idle; none unless set. */
  min?: number;
  /** How long Postgres works on a statement and waits for a lock, in milliseconds. */
  timeoutsMs?: { statement: number; lock: number; mutation?: number };
  /** The role of every statement, where it isn't set for each transaction. */
  role?: string;
  /** Whether statements stay prepared on connections; true unless a pooler doesn't know them. */
  prepare?: boolean;
  /** What Postgres calls them in its views. */
  name?: string;
}

/** Milliseconds after which a connection counts as lost when Postgres, which has its own limits, hasn't answered. */
const minReadTimeoutMs = 15_000;
/** How much later than the limits of Postgres that is. */
const readMarginMs = 5_000;

const defaultTimeoutsMs = { statement: 5_000, lock: 3_000 };

/**
 * The settings that connections begin with, as Postgres' command line has them.
 *
 * @param others settings beside those that all connections have
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

/** The connections that requests are served on, or others like them. */
export function createPool(
  connectionString: string,
  { max, min = 0, timeoutsMs = defaultTimeoutsMs, role, prepare = true, name = "service" }: PoolOptions,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max,
    min,
    connectionTimeoutMillis: 5_000,
    // A connection that the other side has silently left is noticed by these alone
    keepAlive: true,
    query_timeout: Math.max(minReadTimeoutMs, timeoutsMs.statement, timeoutsMs.mutation ?? 0) + readMarginMs,
    options: startOptions(timeoutsMs, role === undefined ? {} : { role }),
    application_name: name,
  });
  // A connection that breaks while idle is replaced. Without listeners it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => {});
    if (!prepare) prepareNothingOn(client);
  });
  return pool;
}
