import type { Pool, PoolClient } from "pg";

/**
 * Whether to throw a connection away: after any error that isn't Postgres' answer to a statement, and if the server
 * takes no writes, because after a failover a new connection may reach the one that does.
 */
export function isConnectionBroken(failure: unknown): boolean {
  if (failure === undefined) return false;
  if (!(failure instanceof Error && "severity" in failure && failure.severity === "ERROR")) return true;
  return "code" in failure && failure.code === "25006"; // read_only_sql_transaction
}

/** Runs work on a connection of a pool, which is thrown away if it breaks. */
export async function onConnection<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failure: unknown;
  try {
    return await work(client);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    client.release(isConnectionBroken(failure));
  }
}
