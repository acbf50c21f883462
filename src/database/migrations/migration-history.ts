import type pg from "pg";
import { UserError } from "../../errors/user-error.ts";
import { firstCommittedHash } from "./migration-files.ts";

const explanation =
  "so they can't bring it up to date, and nothing in it was changed. Such a database is made anew: remove the folder of " +
  "the service's own Postgres (DATA_DIRECTORY, .data if not set) and start again; or create an empty database, and run " +
  "`npm run db:setup` with its DATABASE_URL. docs/operating.md says more under “A database of other migrations”.";

/**
 * Refuses a database that other migrations made than those of db/committed, such as the ones before these. For roles that
 * may migrate: of others, what migrates knows better what to say.
 *
 * @throws {UserError} saying what to do
 */
export async function requireSameMigrations(client: pg.ClientBase): Promise<void> {
  // Before the first set-up there is no such role
  const { rows: roles } = await client.query<{ may_migrate: boolean | null }>(
    "select pg_has_role(to_regrole('service_owner'), 'set') as may_migrate",
  );
  if (!roles[0]!.may_migrate) return;
  await client.query("begin; set local role service_owner");
  try {
    const { rows: found } = await client.query<{ known: boolean }>(
      "select to_regclass('graphile_migrate.migrations') is not null as known",
    );
    if (!found[0]!.known) return;
    const { rows } = await client.query<{ hash: string }>(
      "select hash from graphile_migrate.migrations order by filename limit 1",
    );
    if (rows[0] !== undefined) await compare(rows[0].hash);
  } finally {
    await client.query("rollback");
  }
}

/** The same for the role that the service logs in as. Migrations that can't tell which they are were others. */
export async function requireServedMigrations(client: pg.ClientBase): Promise<void> {
  const { rows: found } = await client.query<{ known: boolean }>(
    "select to_regproc('api_meta.first_migration') is not null as known",
  );
  if (!found[0]!.known) throw otherMigrations();
  const { rows } = await client.query<{ hash: string }>("select api_meta.first_migration() as hash");
  await compare(rows[0]!.hash);
}

async function compare(hash: string): Promise<void> {
  if (hash !== (await firstCommittedHash())) throw otherMigrations();
}

const otherMigrations = () =>
  new UserError(`This database was made by other migrations than those of db/committed, ${explanation}`);
