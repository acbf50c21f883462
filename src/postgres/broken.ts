import type { Pool, PoolClient } from "pg";

/**
 * Whether an error means that the connection must be closed. That is any error except Postgres' response to a statement, and
 * the error of a read-only server: after a failover, a new connection may reach the new primary.
 */
export function isConnectionBroken(failure: unknown): boolean {
  if (failure === undefined) return false;
  if (!(failure instanceof Error && "severity" in failure && failure.severity === "ERROR")) return true;
  return "code" in failure && failure.code === "25006"; // read_only_sql_transaction
}

/** Runs work on a connection of a pool, which is closed if it breaks. */
export async function withConnection<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
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
