import pg from "pg";
import { UserError } from "../user-error.ts";

/**
 * Does work on a connection of its own, which ends with it.
 *
 * @throws {UserError} when nothing answers, or it refuses
 */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Connects, or says in plain words why that failed.
 *
 * @throws {UserError} when nothing answers, or it refuses
 */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    return client;
  } catch (cause) {
    const { hostname, port, pathname } = new URL(url);
    const reason = (cause as Error).message || String((cause as NodeJS.ErrnoException).code);
    throw new UserError(
      `Postgres at ${hostname}:${port || 5432}${pathname} can't be used: ${reason}. Look at DATABASE_URL.`,
      { cause },
    );
  }
}
