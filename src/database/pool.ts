import pg from "pg";
import { prepareNothingOn } from "./flights/statements.ts";

export interface PoolOptions {
  /** Connections at most. */
  max: number;
  /** How long Postgres works on a statement and waits for a lock, in milliseconds. */
  timeouts?: { statement: number; lock: number };
  /** The role of every statement, where it isn't set for each transaction. */
  role?: string;
  /** Whether statements stay prepared on connections; true unless a pooler doesn't know them. */
  prepare?: boolean;
  /** What Postgres calls them in its views. */
  name?: string;
}

/** The connections that requests are served on, or others like them. */
export function createPool(
  connectionString: string,
  { max, timeouts = { statement: 5_000, lock: 3_000 }, role, prepare = true, name = "service" }: PoolOptions,
): pg.Pool {
  const session = {
    timezone: "UTC",
    statement_timeout: timeouts.statement,
    lock_timeout: timeouts.lock,
    idle_in_transaction_session_timeout: "30s",
    jit: "off",
    ...(role !== undefined && { role }),
  };
  const options = Object.entries(session)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(" ");
  const pool = new pg.Pool({
    connectionString,
    max,
    connectionTimeoutMillis: 5_000,
    // A connection that the other side has silently left is noticed by these alone
    keepAlive: true,
    query_timeout: 20_000,
    options,
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
