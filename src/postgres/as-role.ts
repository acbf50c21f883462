import type { Pool, PoolClient } from "pg";
import { withConnection } from "./broken.ts";
import { runPipelined } from "./pipeline/pipelined-query.ts";
import { forgetUnreplicated, isUnreplicated, Unreplicated } from "./pipeline/unreplicated.ts";

/** Roles with the rights for one task each, see db/roles.sql. */
export type NarrowRole =
  | "service_auth"
  | "service_document"
  | "service_limiter"
  | "service_administration"
  | "service_delivery"
  | "service_worker";

/** Runs statements in a transaction of a narrow role. @throws {Unreplicated} if it committed, but a failover may lose it */
export function asRole<T>(
  pool: Pool,
  role: NarrowRole,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return withConnection(pool, async (client) => {
    try {
      forgetUnreplicated(client);
      await client.query(`begin; set local role ${role}`);
      const result = await work(client);
      await client.query("commit");
      if (isUnreplicated(client)) throw new Unreplicated();
      return result;
    } catch (error) {
      await client.query("rollback").catch(() => {});
      throw error;
    }
  });
}

/**
 * Runs one statement as a narrow role, with one message: `asRole` needs three, and a new connection waits for each.
 *
 * @param name the name of a statement that stays prepared
 */
export async function readAs<Row>(
  pool: Pool,
  role: NarrowRole,
  text: string,
  values: readonly unknown[] = [],
  name?: string,
): Promise<Row[]> {
  const read = (client: PoolClient) => runPipelined(client, { role }, { text, values, name });
  return (await withConnection(pool, read)).rows as Row[];
}
