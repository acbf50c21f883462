import pg from "pg";
import { UserError } from "../errors/user-error.ts";
import { retry } from "../lib/retry.ts";

/** Milliseconds between two checks whether Postgres has recovered from a crash. */
const recoveryCheckMs = 250;

/**
 * Takes the lock that only one process that uses the cluster can have. Postgres releases it when the process ends,
 * however it ends. Waits while Postgres is recovering.
 *
 * @throws {UserError} when another process has the lock
 */
export async function lockCluster(
  url: string,
  home: string,
  isRunning: () => Promise<boolean>,
): Promise<pg.Client> {
  const client = await connectWhenReady(url, isRunning);
  const { rows } = await client.query<{ held: boolean }>(
    "select pg_try_advisory_lock(hashtext('the process that uses this cluster')) as held",
  );
  if (rows[0]!.held) return client;
  await client.end();
  throw new UserError(`Another process is using the database in ${home}. Stop it first.`);
}

function connectWhenReady(url: string, isRunning: () => Promise<boolean>): Promise<pg.Client> {
  const connect = async () => {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    await client.connect();
    return client;
  };
  return retry(connect, {
    async pauseMs(error) {
      // cannot_connect_now
      if ((error as { code?: string }).code !== "57P03" || !(await isRunning())) throw error;
      return recoveryCheckMs;
    },
  });
}
