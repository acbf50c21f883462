import type { Pool, PoolClient } from "pg";

/**
 * Runs statements in a transaction of the narrow role for authentication, the only one that may call the functions
 * of the `auth` schema about credentials.
 */
export async function asAuthRole<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query("begin; set local role service_auth");
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    failure = error as Error;
    await client.query("rollback").catch(() => {});
    throw error;
  } finally {
    client.release(isConnectionBroken(failure));
  }
}

/** Whether to throw the connection away: after any error that isn't Postgres' answer to a statement. */
function isConnectionBroken(failure: Error | undefined): boolean {
  return failure !== undefined && !("severity" in failure && failure.severity === "ERROR");
}
