import pg from "pg";
import { asRole } from "../database/roles.ts";

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
export function createWorkerPool(url: string, concurrency: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: asRole(url, "service_worker", session),
    max: concurrency + 2,
    connectionTimeoutMillis: 5_000,
    // A connection that the other side has silently left is noticed by these alone
    keepAlive: true,
    query_timeout: 20_000,
    application_name: "worker",
  });
  // A connection that breaks is replaced. Without listeners it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}
