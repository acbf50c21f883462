import type { ClientBase, Pool } from "pg";

/** Returns SQL that deletes all rows of tables, and of tables that reference them, without triggers or constraints. */
const emptyTablesSql = (tables: string[]) => `do $$
  declare
    emptied regclass;
  begin
    set local session_replication_role = replica;
    for emptied in
      with recursive reached as (
        select unnest('{${tables.join()}}'::regclass[]) as id
        union
        select c.conrelid from pg_constraint c join reached on c.confrelid = reached.id where c.contype = 'f'
      )
      select id from reached
    loop
      execute format('delete from %s', emptied);
    end loop;
  end $$`;

/**
 * Deletes all rows of some tables, and of tables that reference them. `truncate … cascade` does the same, but creates new
 * files for each table and index, which takes a tenth of a second before each test.
 *
 * @param admin a superuser's connection, which is kept for the next call
 */
export async function emptyTables(admin: ClientBase | Pool, ...tables: string[]): Promise<void> {
  await admin.query(emptyTablesSql(tables));
}
