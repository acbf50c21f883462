import type pg from "pg";
import type { Allotment } from "./connection-budget.ts";
import { openPool } from "./pool.ts";
import { urlAsRole } from "./roles.ts";

/** Limits for every statement of background work; and times are in UTC. */
const session = {
  timezone: "UTC",
  statement_timeout: "15s",
  lock_timeout: "3s",
  idle_in_transaction_session_timeout: "30s",
  jit: "off",
};

/**
 * The connections of background work, in its narrow role: one for each job at a time, one that listens, and one for
 * scheduled jobs.
 *
 * @param url the database, with the role that the service logs in as
 * @param settings of Postgres, beside those of all background work
 */
export function createJobPool(
  url: string,
  concurrency: number,
  settings: Record<string, string> = {},
  allotment?: Allotment,
): pg.Pool {
  return createBackgroundPool(url, "service_worker", concurrency + 2, "worker", settings, allotment);
}

/**
 * Connections for work that no request waits for.
 *
 * @param url the database, with the role that the service logs in as
 * @param role the narrow role of the work
 * @param max maximum number of connections
 * @param name their application_name in Postgres' views
 * @param settings further ones of Postgres
 * @param allotment what opens them, where several merchants share a number of connections
 */
export function createBackgroundPool(
  url: string,
  role: string,
  max: number,
  name: string,
  settings: Record<string, string> = {},
  allotment?: Allotment,
): pg.Pool {
  const connectionString = urlAsRole(url, role, { ...session, ...settings });
  return openPool({ connectionString, max, query_timeout: 20_000, application_name: name }, allotment);
}
