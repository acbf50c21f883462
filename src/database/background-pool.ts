import pg from "pg";
import { urlAsRole } from "../database/roles.ts";

/** Limits that hold for every statement of background work; and times are in UTC. */
const session = {
  timezone: "UTC",
  statement_timeout: "15s",
  lock_timeout: "3s",
  idle_in_transaction_session_timeout: "30s",
  jit: "off",
};

/**
 * The connections of background work, as its narrow role: one for each job at a time, one that listens, and one for
 * what is due by the clock.
 *
 * @param url the database, as the role that the service logs in with
 */
export function createJobPool(url: string, concurrency: number): pg.Pool {
  return createBackgroundPool(url, "service_worker", concurrency + 2, "worker");
}

/**
 * Connections of work that nobody waits for.
 *
 * @param url the database, as the role that the service logs in with
 * @param role the narrow role that it is done as
 * @param max how many connections there are at most
 * @param name what Postgres calls them in its views
 */
export function createBackgroundPool(url: string, role: string, max: number, name: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: urlAsRole(url, role, session),
    max,
    connectionTimeoutMillis: 5_000,
    // A connection that the other side has silently left is noticed by these alone
    keepAlive: true,
    query_timeout: 20_000,
    application_name: name,
  });
  // A connection that breaks is replaced. Without listeners it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}
