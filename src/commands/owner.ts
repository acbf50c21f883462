import pg from "pg";
import { openForCommand } from "../migrations/open-database.ts";
import { readSettings } from "../process/settings.ts";
import { UserError } from "../errors/user-error.ts";

/**
 * Runs work on a connection of the owner, see {@link openForCommand}.
 *
 * @throws {UserError} when the database can't be used for it
 */
export async function withOwner<T>(work: (connection: pg.Client, url: string) => Promise<T>): Promise<T> {
  try {
    const database = await openForCommand(readSettings());
    const connection = new pg.Client({ connectionString: database.url });
    try {
      await connection.connect();
      return await work(connection, database.url);
    } finally {
      await connection.end().catch(() => {});
      await database.close();
    }
  } catch (error) {
    const message = explain(error);
    throw message === null ? error : new UserError(message, { cause: error });
  }
}

/** The message for the person at the terminal; null for other errors. */
function explain(error: unknown): string | null {
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
