import type { Pool, PoolClient } from "pg";
import { isConnectionBroken } from "./broken.ts";
import { runPipelined } from "./pipeline/pipelined-query.ts";
import { forgetUnreplicated, isUnreplicated, Unreplicated } from "./pipeline/unreplicated.ts";

/** Roles for one task each, see db/roles.sql. */
export type NarrowRole =
  | "service_auth"
  | "service_document"
  | "service_administration"
  | "service_delivery"
  | "service_worker";

/** Runs statements in a transaction of a narrow role. @throws {Unreplicated} also when a failover may lose what is done */
export async function asRole<T>(
  pool: Pool,
  role: NarrowRole,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    forgetUnreplicated(client);
    await client.query(`begin; set local role ${role}`);
    const result = await work(client);
    await client.query("commit");
    if (isUnreplicated(client)) throw new Unreplicated();
    return result;
  } catch (error) {
    failure = error as Error;
    await client.query("rollback").catch(() => {});
    throw error;
  } finally {
    client.release(isConnectionBroken(failure));
  }
}

/** Reads by one statement as a narrow role, by one message: the other way takes three, and a new connection waits for each. */
export async function readAs<Row>(
  pool: Pool,
  role: NarrowRole,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = await pool.connect();
  let failure: unknown;
  try {
    return (await runPipelined(client, { role }, { text, values })).rows as Row[];
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    client.release(isConnectionBroken(failure));
  }
}

/** The same as {@link asRole} for authentication, the only role that may call the functions of `auth` about credentials. */
export function asAuthRole<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return asRole(pool, "service_auth", work);
}
