import pg from "pg";
import { getDatabaseName, withClient } from "../postgres/client.ts";

/** Statistics of an operation's statement in pg_stat_statements. */
export interface StatementStatistics {
  /** Id of the operation, from the comment. */
  operation: string;
  calls: number;
  /** Milliseconds that all calls, and the slowest one, took in Postgres. */
  ms: number;
  slowestMs: number;
  rows: number;
  /** Blocks that weren't in Postgres' own memory. */
  blocksRead: number;
  text: string;
}

/** The module that has to be loaded when Postgres starts. */
export const statisticsModule = "pg_stat_statements";

/** Returns the URL of a database that every server has: pg_stat_statements shows the statements of all databases. */
const postgresDatabaseUrl = (url: string) => Object.assign(new URL(url), { pathname: "/postgres" }).href;

/** Creates the extension in the database `postgres`, if the server has loaded it and the role may. Can be repeated. */
export async function enableStatistics(adminUrl: string): Promise<void> {
  try {
    await withClient(postgresDatabaseUrl(adminUrl), async (client) => {
      const { rows } = await client.query<{ modules: string }>(
        "select current_setting('shared_preload_libraries') as modules",
      );
      if (rows[0]!.modules.includes(statisticsModule))
        await client.query(`create extension if not exists ${statisticsModule}`);
    });
  } catch {
    // The service works without it; `erp db slow` says what is missing
  }
}

const query = `
  select substring(s.query from 'operation=''([0-9a-f]{16})''') as operation, s.calls::float8, s.total_exec_time as ms,
    s.max_exec_time as "slowestMs", s.rows::float8, s.shared_blks_read::float8 as "blocksRead", s.query as text
  from pg_stat_statements s join pg_catalog.pg_database d on d.oid = s.dbid
  where d.datname = $1 and s.query ~ '/[*]operation=''[0-9a-f]{16}'''
  order by s.total_exec_time desc`;

/**
 * Reads the statements of operations, the costliest first, as pg_stat_statements has counted them since its last reset.
 *
 * @returns null if the extension isn't there, or the role may not see the statements of others
 */
export async function readStatistics(adminUrl: string): Promise<StatementStatistics[] | null> {
  const database = getDatabaseName(adminUrl);
  for (const url of [adminUrl, postgresDatabaseUrl(adminUrl)]) {
    try {
      return await withClient(url, async (client) => {
        const { rows: may } = await client.query<{ may: boolean }>(
          "select pg_has_role(current_user, 'pg_read_all_stats', 'usage') as may",
        );
        if (!may[0]!.may) return null;
        return (await client.query<StatementStatistics>(query, [database])).rows;
      });
    } catch (error) {
      // undefined_table; object_not_in_prerequisite_state: not loaded; a database that doesn't exist or refuses us
      const { code, cause } = error as { code?: string; cause?: unknown };
      if (!["42P01", "55000"].includes(code ?? "") && !(cause instanceof pg.DatabaseError)) throw error;
    }
  }
  return null;
}
