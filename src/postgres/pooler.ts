import { randomUUID } from "node:crypto";
import type { ClientBase, DatabaseError } from "pg";
import { within } from "../lib/within.ts";
import { backendOf } from "./pg-private.ts";

/** How to mend a pooler that loses statements. */
export const poolerAdvice =
  "Use PgBouncer 1.21 or newer with max_prepared_statements, or set PREPARED_STATEMENTS=false.";

/** In between, another transaction may get the server of the first. */
const tries = 3;
/** Milliseconds that a transaction waits for a server, where there may be one only. */
const waitMs = 300;

/** Whether a pooler is in between: the process of Postgres isn't the one that the connection was given. */
export const isPooled = (client: ClientBase, pid: number): boolean => backendOf(client).processID !== pid;

/** Runs work on a connection of its own. */
type WithConnection = <T>(work: (client: ClientBase) => Promise<T>) => Promise<T>;

/**
 * Whether a pooler runs transactions of one connection on several servers, and leaves its prepared statements on the
 * first: it prepares one, a second connection takes that server, and the statement has to work on the next.
 */
export async function losesStatements(withConnection: WithConnection): Promise<boolean> {
  // A name of an earlier check would be found where that has left it
  const statement = {
    name: `pooler ${randomUUID()}`,
    text: "select pg_backend_pid() as pid",
  };
  const pidOf = async (client: ClientBase) => (await client.query<{ pid: number }>(statement)).rows[0]!.pid;
  const tryBeside = async (second: ClientBase, first: ClientBase): Promise<void> => {
    await second.query("begin; select");
    const again = pidOf(first);
    await within(waitMs, again);
    await second.query("rollback");
    await again;
  };
  return withConnection(async (first) => {
    try {
      if (!isPooled(first, await pidOf(first))) return false;
      await withConnection(async (second) => {
        for (let n = 0; n < tries; n++) await tryBeside(second, first);
      });
      return false;
    } catch (error) {
      if ((error as Partial<DatabaseError>).code === "26000") return true; // invalid_sql_statement_name
      throw error;
    }
  });
}
