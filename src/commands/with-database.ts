import type pg from "pg";
import { withClient } from "../postgres/client.ts";
import { runningClusterUrl, startCluster } from "../cluster/cluster.ts";
import { requireData } from "../cluster/folder.ts";
import { openAsAdmin } from "../migrations/open-database.ts";
import { urlAsRole } from "../postgres/roles.ts";
import { UserError } from "../errors/user-error.ts";
import { readSettings } from "../process/settings.ts";
import type { Settings } from "../process/settings.ts";

const notSetUp = "The database has not been set up for this yet. Run `npx erp db setup` first.";

/** Messages for the person at the terminal, by Postgres' codes; other errors are ours. */
const reasons: Record<string, string> = {
  // insufficient_privilege
  "42501": "DATABASE_URL must be an administrator's for this.",
  // undefined_function, undefined_table, invalid_schema_name
  "42883": notSetUp,
  "42P01": notSetUp,
  "3F000": notSetUp,
};

/** Runs work with the URL of the database's administrator, see {@link openAsAdmin}. */
export async function asAdmin<T>(work: (adminUrl: string) => Promise<T>): Promise<T> {
  const { url, close } = await openAsAdmin(readSettings());
  try {
    return await work(url);
  } finally {
    await close();
  }
}

/** Runs work on a connection of the database's owner, see {@link asRole}. */
export const asOwner = <T>(work: (connection: pg.Client, url: string) => Promise<T>): Promise<T> =>
  asRole("service_owner", work);

/**
 * Runs work on a connection with a role of the database.
 *
 * @throws {UserError} when the database can't be used for it
 */
export async function asRole<T>(
  role: string,
  work: (connection: pg.Client, url: string) => Promise<T>,
): Promise<T> {
  try {
    return await asAdmin((adminUrl) => {
      const url = urlAsRole(adminUrl, role);
      return withClient(url, (connection) => work(connection, url));
    });
  } catch (error) {
    const { cause } = error as Error;
    const { code } = (error instanceof UserError && cause ? cause : error) as { code?: string };
    // A connection with a role that isn't there: invalid_parameter_value
    const reason = error instanceof UserError && code === "22023" ? notSetUp : reasons[code ?? ""];
    throw reason === undefined ? error : new UserError(reason, { cause: error });
  }
}

/** Runs work with what PostGraphile reads a database by. It takes long to load, so commands come here when they need it. */
export async function withPgService<T>(
  connectionString: string,
  work: (service: GraphileConfig.PgServiceConfiguration) => Promise<T>,
): Promise<T> {
  const { withPgService: run } = await import("../postgres/pg-service.ts");
  return run(connectionString, work);
}

/** Runs work with a database of the service's own Postgres, which is started for it if it doesn't run, but not migrated. */
export async function withOwnPostgres<T>(
  { dataDirectory: directory, runAs }: Settings,
  database: string,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const running = await runningClusterUrl(directory, database);
  if (running !== null) return work(running);
  await requireData(directory);
  const cluster = await startCluster({ directory, runAs });
  try {
    return await work(cluster.adminUrl(database));
  } finally {
    await cluster.stop();
  }
}
