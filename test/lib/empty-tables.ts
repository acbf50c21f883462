import type { ClientBase, Pool } from "pg";
import { errorCodeOf } from "../../src/errors/postgres-errors.ts";
import { until } from "./until.ts";

/**
 * Returns SQL that deletes all rows of tables, and of tables that reference them, without triggers or constraints. It fails
 * at once while others write to one of them or lock its rows, and has others wait for its end.
 */
const emptyTablesSql = (tables: string[]) => `do $$
  declare
    emptied regclass[];
    each_one regclass;
  begin
    set local session_replication_role = replica;
    with recursive reached as (
      select unnest('{${tables.join()}}'::regclass[]) as id
      union
      select c.conrelid from pg_constraint c join reached on c.confrelid = reached.id where c.contype = 'f'
    )
    select array_agg(id) into emptied from reached;
    foreach each_one in array emptied loop
      execute format('lock table %s in exclusive mode nowait', each_one);
    end loop;
    foreach each_one in array emptied loop
      execute format('delete from %s', each_one);
    end loop;
  end $$`;

/**
 * Deletes all rows of some tables, and of tables that reference them. Background work of the test may use them meanwhile:
 * this never waits with a lock of its own, so there is no deadlock, whatever that work has locked in whichever order.
 * `truncate … cascade` would wait so, and creates new files for each table and index, which takes a tenth of a second
 * before each test.
 *
 * @param admin a superuser's connection, which is kept for the next call
 */
export async function emptyTables(admin: ClientBase | Pool, ...tables: string[]): Promise<void> {
  await until(async () => {
    try {
      await admin.query(emptyTablesSql(tables));
      return true;
    } catch (error) {
      // lock_not_available
      if (errorCodeOf(error) !== "55P03") throw error;
      return false;
    }
  });
}
