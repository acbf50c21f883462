import pg from "pg";
import { retry } from "../lib/retry.ts";
import { UserError } from "../errors/user-error.ts";
import { withClient } from "../postgres/client.ts";
import { derivedName } from "./templates.ts";
import { dropOwn, readMark, renameMarked } from "./own-databases.ts";

/** How often it is tried to rename a database that clients open again, and the pause in milliseconds. */
const attempts = 40;
const pauseMs = 25;

/** Returns the name of a database after its replacement. */
export const nameReplaced = (name: string): string => derivedName(name, "_before_reset");

/**
 * Puts a database in the place of another one of the same server. That one is kept under another name, until the next
 * time. Its connections are closed.
 *
 * @param admin a connection to a third database
 * @throws {UserError} when something else has that other name
 */
export async function replaceDatabase(admin: pg.Client, name: string, replacement: string): Promise<void> {
  const aside = nameReplaced(name);
  const quoted = pg.escapeIdentifier;
  const mark = `Kept by db:reset, instead of ${name}`;
  if (!(await dropOwn(admin, aside, mark)))
    throw new UserError(`There is a database ${aside} that db:reset hasn't made: rename it, or drop it.`);
  const former = await readMark(admin, name);
  await disconnect(admin, replacement);
  await admin.query(`alter database ${quoted(name)} allow_connections false`);
  try {
    await disconnect(admin, name);
    await whenFree(() => renameMarked(admin, name, aside, mark));
    try {
      await whenFree(() => admin.query(`alter database ${quoted(replacement)} rename to ${quoted(name)}`));
    } catch (error) {
      await renameMarked(admin, aside, name, former);
      throw error;
    }
  } finally {
    for (const each of [aside, name])
      await admin.query(`alter database ${quoted(each)} allow_connections true`).catch(() => {});
  }
}

async function disconnect(admin: pg.Client, name: string): Promise<void> {
  await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
}

function whenFree<T>(work: () => Promise<T>): Promise<T> {
  return retry(work, {
    pauseMs(error, failures) {
      // object_in_use: connections take a moment to end
      if ((error as pg.DatabaseError).code !== "55006" || failures >= attempts) throw error;
      return pauseMs;
    },
  });
}

/**
 * Replaces all rows of a schema with rows of another database. It bypasses triggers and foreign keys, so it needs a
 * superuser. Tables and columns that only one of them has are skipped.
 */
export async function copyRows(fromUrl: string, toUrl: string, schema: string): Promise<void> {
  await withClient(fromUrl, (from) =>
    withClient(toUrl, async (to) => {
      const [source, target] = [await readColumns(from, schema), await readColumns(to, schema)];
      await to.query("begin; set local session_replication_role = replica");
      for (const [table, columns] of target) {
        const known = source.get(table);
        if (known === undefined) continue;
        const names = columns.filter((column) => known.includes(column)).join(", ");
        const { rows } = await from.query<{ rows: string }>(
          `select coalesce(jsonb_agg(t), '[]')::text as rows from (select ${names} from ${table}) t`,
        );
        await to.query(`delete from ${table}`);
        await to.query(
          `insert into ${table} (${names}) overriding system value
           select ${names} from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
          [rows[0]!.rows],
        );
      }
      await to.query("commit");
    }),
  );
}

/** The tables of a schema, with the columns that can be written, as they are quoted. */
async function readColumns(client: pg.Client, schema: string): Promise<Map<string, string[]>> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select c.oid::regclass::text as name, array_agg(quote_ident(a.attname) order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = to_regnamespace($1) and c.relkind = 'r' and a.attgenerated = '' group by c.oid`,
    [schema],
  );
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}
