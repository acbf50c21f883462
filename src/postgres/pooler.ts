import { randomUUID } from "node:crypto";
import type { ClientBase, DatabaseError } from "pg";
import { settlesWithin } from "../lib/within.ts";
import { getBackend } from "./pg-private.ts";

/** The remedy for a pooler that loses prepared statements. */
export const poolerAdvice =
  "Use PgBouncer 1.21 or newer with max_prepared_statements, or set PREPARED_STATEMENTS=false.";

/** The number of attempts. Another transaction may take the first one's server in between. */
const attempts = 3;
/** Milliseconds that a transaction waits for a server, in case there is only one. */
const waitMs = 300;

/** Whether a connection goes through a pooler: its backend process isn't the one that was announced. */
export const isPooled = (client: ClientBase, pid: number): boolean => getBackend(client).processID !== pid;

/** Runs work on a connection of its own. */
type WithConnection = <T>(work: (client: ClientBase) => Promise<T>) => Promise<T>;

/**
 * Whether a pooler runs one connection's transactions on several servers, but keeps its prepared statements only on the
 * first. The test prepares a statement, lets a second connection take that server, and runs the statement on another one.
 */
export async function losesStatements(withConnection: WithConnection): Promise<boolean> {
  // A new name: the one of an earlier check may still exist on a server
  const statement = {
    name: `pooler ${randomUUID()}`,
    text: "select pg_backend_pid() as pid",
  };
  const getPid = async (client: ClientBase) => (await client.query<{ pid: number }>(statement)).rows[0]!.pid;
  const tryOnOtherServer = async (second: ClientBase, first: ClientBase): Promise<void> => {
    await second.query("begin; select");
    const again = getPid(first);
    await settlesWithin(waitMs, again);
    await second.query("rollback");
    await again;
  };
  return withConnection(async (first) => {
    try {
      if (!isPooled(first, await getPid(first))) return false;
      await withConnection(async (second) => {
        for (let n = 0; n < attempts; n++) await tryOnOtherServer(second, first);
      });
      return false;
    } catch (error) {
      if ((error as Partial<DatabaseError>).code === "26000") return true; // invalid_sql_statement_name
      throw error;
    }
  });
}
