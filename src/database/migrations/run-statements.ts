import type { EventEmitter } from "node:events";
import type { ClientBase } from "pg";

/** How many statements of a text had been run when one failed, by the error. */
const counts = new WeakMap<Error, number>();

/** Runs a text of statements. Of an error, {@link statementsBefore} tells how far it came. */
export async function runStatements(client: ClientBase, text: string): Promise<void> {
  const { connection } = client as unknown as { connection: EventEmitter };
  let done = 0;
  const count = () => void done++;
  connection.on("commandComplete", count);
  try {
    await client.query(text);
  } catch (error) {
    counts.set(error as Error, done);
    throw error;
  } finally {
    connection.off("commandComplete", count);
  }
}

/** How many statements had been run before the one that failed; undefined when none of them did. */
export const statementsBefore = (error: Error): number | undefined => counts.get(error);
