import pg from "pg";
import { UserError } from "../user-error.ts";
import { requireMigrated } from "./migrations.ts";

const oldest = 18;

/**
 * Looks at a database before the service is built on it.
 *
 * @returns what is not as it should be, but doesn't stop the service
 * @throws {UserError} when the service can't run on it
 */
export async function checkDatabase(url: string): Promise<string[]> {
  const client = await connect(url);
  try {
    await requireVersion(client);
    await requireMigrated(client);
    return await excessRights(client);
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

/** @throws {UserError} when Postgres is older than what the migrations need */
export async function requireVersion(client: Pick<pg.ClientBase, "query">): Promise<void> {
  const { rows } = await client.query(
    "select current_setting('server_version') as version, current_setting('server_version_num')::int as number",
  );
  if (rows[0].number < oldest * 10_000) {
    throw new UserError(
      `This service needs Postgres ${oldest} or newer; the one at DATABASE_URL is ${rows[0].version}.`,
    );
  }
}

async function excessRights(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query(
    `select current_user as role, rolsuper as super, pg_has_role(current_user, 'service_owner', 'set') as owner,
       pg_has_role(current_user, 'service_api', 'set') and pg_has_role(current_user, 'service_auth', 'set') as able
     from pg_roles where rolname = current_user`,
  );
  const { role, super: isSuperuser, owner, able } = rows[0];
  if (!able) {
    throw new UserError(
      `The role ${role} may not become service_api and service_auth. Use the URL that \`npm run db:setup\` printed.`,
    );
  }
  if (!isSuperuser && !owner) return [];
  return [
    `The role ${role} may do far more in the database than serving needs. Use the URL that \`npm run db:setup\` prints.`,
  ];
}
