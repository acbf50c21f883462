import pg from "pg";
import { openForCommand } from "../database/open.ts";
import { readSettings } from "../process/settings.ts";
import { UserError } from "../errors/user-error.ts";

/** Invalid arguments. */
export class UsageError extends Error {}

/** Runs work on a connection of the owner, see {@link openForCommand}. */
export async function withOwner<T>(work: (connection: pg.Client) => Promise<T>): Promise<T> {
  const database = await openForCommand(readSettings());
  const connection = new pg.Client({ connectionString: database.url });
  try {
    await connection.connect();
    return await work(connection);
  } finally {
    await connection.end().catch(() => {});
    await database.close();
  }
}

/** Runs a command that needs the owner. Exit code 0: done, 1: refused or failed, 2: invalid arguments. */
export async function atTheOwnersTerminal(command: () => Promise<void>, usage: string): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n\n${usage}`);
      process.exitCode = 2;
      return;
    }
    const message = explain(error);
    if (message === null) throw error;
    process.stderr.write(`${message}\n`);
    process.exitCode = 1;
  }
}

/** The message for the person at the terminal; null for faults of ours. */
function explain(error: unknown): string | null {
  if (error instanceof UserError) return error.message;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "42501") {
    return "DATABASE_URL must be an administrator's for this: its role may not manage credentials and keys.";
  }
  // undefined_function, undefined_table, invalid_schema_name
  if (code === "42883" || code === "42P01" || code === "3F000") {
    return "The database has not been set up yet. Run `npm run db:setup` first.";
  }
  if (code === "ECONNREFUSED" || code === "ENOTFOUND") {
    return `The database can't be reached: ${(error as Error).message}`;
  }
  return null;
}
