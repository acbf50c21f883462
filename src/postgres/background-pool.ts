import pg from "pg";
import type { Allotment } from "./allotment.ts";
import { openPool } from "./pool.ts";
import { urlAsRole } from "./roles.ts";

/** Settings for background work: limits of statements, and times in UTC. */
const session = {
  timezone: "UTC",
  statement_timeout: "15s",
  lock_timeout: "3s",
  idle_in_transaction_session_timeout: "30s",
  jit: "off",
};

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (isBroken?: Error | boolean) => void,
) => void;

/**
 * A pool that releases a connection once, even if it is asked to twice. It also accepts the release of none. graphile-worker
 * does both during a stop: see docs/internals/upstream.md.
 */
class JobPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<pg.PoolClient> | void {
    if (!connected) return super.connect();
    // With some errors there is nothing to release, such as after a wait that was too long
    super.connect((error, client, release?: Parameters<Connected>[2]) => {
      let isReleased = false;
      connected(error, client, (isBroken) => {
        if (!isReleased) release?.(isBroken);
        isReleased = true;
      });
    });
  }
}

/**
 * Opens the pool for jobs, in their narrow role: one connection for each job at a time, one that listens, and one for
 * scheduled jobs.
 *
 * @param url the database, with the role that the service logs in as
 * @param settings settings of Postgres, in addition to those of all background work
 */
export function createJobPool(
  url: string,
  concurrency: number,
  settings: Record<string, string> = {},
  allotment?: Allotment,
): pg.Pool {
  return createBackgroundPool(url, "service_worker", concurrency + 2, "worker", settings, allotment, JobPool);
}

/**
 * Opens a pool for work that no request waits for.
 *
 * @param url the database, with the role that the service logs in as
 * @param role the narrow role of the work
 * @param max the maximum number of connections
 * @param name their application_name in Postgres' views
 * @param settings other settings of Postgres
 * @param allotment opens the connections, if several merchants share them
 * @param Pool their class
 */
export function createBackgroundPool(
  url: string,
  role: string,
  max: number,
  name: string,
  settings: Record<string, string> = {},
  allotment?: Allotment,
  Pool: typeof pg.Pool = pg.Pool,
): pg.Pool {
  const connectionString = urlAsRole(url, role, { ...session, ...settings });
  return openPool({ connectionString, max, query_timeout: 20_000, application_name: name }, allotment, Pool);
}
