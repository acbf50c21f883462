import pg from "pg";
import { UserError } from "../errors/user-error.ts";

/** A connection with the owner's role, for commands, never for clients of the API. */
export type OwnerConnection = Pick<pg.Pool | pg.ClientBase, "query">;

/**
 * Runs work on a new connection, which is closed afterwards.
 *
 * @param options settings, in the form of Postgres' command line
 * @throws {UserError} when nothing answers, or the server refuses
 */
export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  options?: string,
): Promise<T> {
  const client = await connect(url, options);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Connects, or explains why that failed.
 *
 * @param options settings in the form of Postgres' command line
 * @throws {UserError} when nothing answers, or the server refuses
 */
export async function connect(url: string, options?: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    ...(options === undefined ? {} : { options }),
  });
  client.on("error", () => {});
  try {
    await client.connect();
    return client;
  } catch (cause) {
    const reason = (cause as Error).message || String((cause as NodeJS.ErrnoException).code);
    if (isPoolerRefusal(cause)) {
      throw new UserError(
        `PgBouncer at ${formatAddress(url)} refuses the startup parameters of the service's connections (${reason}). ` +
          "Add `ignore_startup_parameters = options,extra_float_digits` to its configuration.",
        { cause },
      );
    }
    throw new UserError(`Postgres at ${formatAddress(url)} can't be used: ${reason}. Check DATABASE_URL.`, {
      cause,
    });
  }
}

/** Whether PgBouncer refuses the startup parameters of a connection. */
export function isPoolerRefusal(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("unsupported startup parameter");
}

/** Returns the name of the database in a URL. */
export const getDatabaseName = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1));

/** Returns the address of a database without user and password, for messages. */
export function formatAddress(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port || 5432}${pathname}`;
}
