import type pg from "pg";
import { UserError } from "../errors/user-error.ts";
import type { FileMigration } from "./graphile-migrate-private.ts";
import { readCommittedHashes, removeBlankFiles } from "./migration-files.ts";

const explanation =
  "so those here can't bring it up to date, and nothing in it was changed. Recreate such a database: remove the folder of " +
  "the service's own Postgres (DATA_DIRECTORY, .data if not set) and start again; or create an empty database, and run " +
  "`npx erp db setup` with its DATABASE_URL. docs/guides/running.md says more.";

/**
 * The hashes of the migrations that a database has had, in their order; none before the first set-up, and for roles that
 * may not migrate.
 */
export async function readHashes(client: pg.ClientBase): Promise<string[]> {
  // The role doesn't exist before the first set-up
  const { rows: roles } = await client.query<{ may_migrate: boolean | null }>(
    "select pg_has_role(to_regrole('service_owner'), 'set') as may_migrate",
  );
  if (!roles[0]!.may_migrate) return [];
  await client.query("begin; set local role service_owner");
  try {
    const { rows: found } = await client.query<{ known: boolean }>(
      "select to_regclass('graphile_migrate.migrations') is not null as known",
    );
    if (!found[0]!.known) return [];
    const { rows } = await client.query<{ hash: string }>(
      "select hash from graphile_migrate.migrations order by filename",
    );
    return rows.map(({ hash }) => hash);
  } finally {
    await client.query("rollback");
  }
}

/**
 * Refuses a database whose migrations differ from db/committed, such as older ones. Roles that may not migrate pass,
 * because the migration's own message is more helpful.
 *
 * @throws {UserError} with instructions
 */
export const requireSameMigrations = async (client: pg.ClientBase): Promise<void> =>
  requireSameHashes(await readHashes(client));

/** The same for the role that the service logs in as. Migrations that don't record their identity count as others. */
export async function requireServedMigrations(client: pg.ClientBase): Promise<void> {
  const { rows: found } = await client.query<{ known: boolean }>(
    "select to_regproc('api_meta.first_migration') is not null as known",
  );
  if (!found[0]!.known) throw otherMigrations();
  const { rows } = await client.query<{ hash: string }>("select api_meta.first_migration() as hash");
  await requireSameHashes([rows[0]!.hash]);
}

/** @param had the first migrations that a database has had, or all: it may be ahead of this code */
async function requireSameHashes(had: readonly string[]): Promise<void> {
  const here = await readCommittedHashes();
  const first = here.findIndex(({ hash }, i) => i < had.length && hash !== had[i]);
  if (first === 0) throw otherMigrations();
  if (first !== -1) throw otherSince(here[first]!.name);
}

const otherMigrations = () =>
  new UserError(`This database was made by other migrations than those of db/committed, ${explanation}`);

const otherSince = (name: string) =>
  new UserError(
    `This database has had another db/committed/${name} than the one here, which was committed again since, or comes from ` +
      `another branch; ${explanation} To keep its data, go back to the files that it has had, take them back by ` +
      "`npx erp db uncommit`, and come here again.",
  );

/** Returns the text of db/current as any program last ran it; undefined if none ran it since the last commit. */
export async function readCurrentContent(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ content: string }>(
    "select content from graphile_migrate.current where filename = 'current.sql'",
  );
  return rows[0]?.content;
}

/** The same text for databases that have had the same migrations, and the same db/current. */
export async function readMigrationState(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ hash: string }>(
    "select hash from graphile_migrate.migrations order by filename desc limit 1",
  );
  return `${rows[0]?.hash}\n${removeBlankFiles((await readCurrentContent(client)) ?? "")}`;
}

/** Notes db/current as what was run last, at the end of its transaction. */
export async function recordCurrent(client: pg.ClientBase, text: string): Promise<void> {
  await client.query(
    `insert into graphile_migrate.current (content) values ($1)
       on conflict (filename) do update set content = excluded.content, date = excluded.date`,
    [text],
  );
  // Locks aren't held for the disk: what a crash undoes is run again
  await client.query("set local synchronous_commit = off");
}

/** Notes that a committed migration has been run. */
export async function recordCommitted(
  client: pg.ClientBase,
  { hash, previousHash, filename }: Pick<FileMigration, "hash" | "previousHash" | "filename">,
): Promise<void> {
  await client.query(
    "insert into graphile_migrate.migrations (hash, previous_hash, filename) values ($1, $2, $3)",
    [hash, previousHash, filename],
  );
}

/** Notes that a committed migration has been run, and leaves it to a later one to derive what follows from both. */
export async function recordUnfinished(
  client: pg.ClientBase,
  migration: Parameters<typeof recordCommitted>[1],
): Promise<void> {
  await client.query("alter table graphile_migrate.migrations disable trigger user");
  await recordCommitted(client, migration);
  await client.query("alter table graphile_migrate.migrations enable trigger user");
}

/** Returns the number of the database, which another one of the same name doesn't have. */
export async function readDatabaseOid(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ oid: number }>(
    "select oid from pg_database where datname = current_database()",
  );
  return rows[0]!.oid;
}
