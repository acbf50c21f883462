import type { ClientBase } from "pg";
import pg from "pg";
import type { PlanNode } from "./explain.ts";
import { planWithIndexes, withRollback, genericPlan } from "./explain.ts";

/** Columns by which a statement searches a table without an index. */
export interface IndexAdvice {
  schema: string;
  table: string;
  columns: readonly string[];
  /** Rows of the table, as Postgres estimates them, and its size. */
  rows: number;
  bytes: number;
  /** Whether an index would help. It wouldn't if policies have to run before comparisons that aren't leakproof. */
  helps: boolean;
  /** The statement that creates the index. */
  ddl: string;
}

/** The result of a trial: the cost that Postgres expects without the index, and with it. */
export interface IndexTrial {
  before: number;
  after: number;
}

/** A comparison of a table's column with something that isn't in the row. */
interface Comparison {
  column: string;
  isEqual: boolean;
}

const name = String.raw`"(?:[^"]|"")+"|[a-z_][\w$]*`;

/** Returns the comparisons in a filter of a node, such as `((a.b = $1) AND ((a.c)::text > $2))`. */
function comparisonsIn({ Filter = "", Alias = "" }: PlanNode): Comparison[] {
  const alias = RegExp.escape(pg.escapeIdentifier(Alias).replace(/^"([a-z_][\w$]*)"$/, "$1"));
  const pattern = new RegExp(
    String.raw`\(?\b${alias}\.(${name})\)?(?:::[\w ]+)? (=|<|>|<=|>=) \(?(ANY|\$\d|(?!${alias}\.)(?:${name})\.)`,
    "g",
  );
  return [...Filter.matchAll(pattern)].map(([, column = "", operator]) => ({
    column: column.replace(/^"(.*)"$/, "$1").replaceAll('""', '"'),
    isEqual: operator === "=",
  }));
}

/** Returns the columns for an index: columns that are compared for equality, and then one that is compared by order. */
function indexColumns(node: PlanNode): string[] {
  const comparisons = comparisonsIn(node);
  const equal = comparisons.filter(({ isEqual }) => isEqual).map(({ column }) => column);
  const ranged = comparisons.filter(({ isEqual }) => !isEqual).map(({ column }) => column);
  return [...new Set([...equal.sort(), ...ranged.slice(0, 1)])];
}

const tableQuery = `
  select greatest(c.reltuples, 0)::float8 as rows, pg_table_size(c.oid)::float8 as bytes,
    exists (
      select from pg_catalog.pg_index i join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
      where i.indrelid = c.oid and i.indisvalid and i.indpred is null and a.attname = $3
    ) as "isIndexed",
    array(
      select a.attname::text from pg_catalog.pg_index i, unnest(i.indkey::smallint[]) with ordinality k (number, place)
      join pg_catalog.pg_attribute a on a.attnum = k.number
      where i.indrelid = c.oid and i.indisprimary and a.attrelid = c.oid order by k.place
    ) as key,
    not c.relrowsecurity or (
      select bool_and(f.proleakproof) from pg_catalog.pg_attribute a
      join pg_catalog.pg_operator o on o.oprname = '=' and o.oprleft = o.oprright
        and o.oprleft = case a.atttypid when 'varchar'::regtype then 'text'::regtype else a.atttypid end
      join pg_catalog.pg_proc f on f.oid = o.oprcode
      where a.attrelid = c.oid and a.attname = any ($4)
    ) as helps
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p')`;

type TableRow = Pick<IndexAdvice, "rows" | "bytes" | "helps"> & { isIndexed: boolean; key: string[] };

/** Finds the indexes that a statement lacks, by the plan that Postgres makes if it has to use indexes. Reads only the catalog. */
export async function indexAdvice(client: ClientBase, statement: string): Promise<IndexAdvice[]> {
  const advice = new Map<string, IndexAdvice>();
  for (const node of (await planWithIndexes(client, statement, "service_api")) ?? []) {
    const { Schema: schema, "Relation Name": table, "Index Cond": byIndex = "" } = node;
    const columns = indexColumns(node);
    // An index finds few enough rows already
    if (!schema || !table || columns.length === 0 || byIndex !== "") continue;
    const { rows } = await client.query<TableRow>(tableQuery, [schema, table, columns[0], columns]);
    const [found] = rows;
    if (!found || (found.isIndexed && found.helps)) continue;
    // With the key, the index also has the order of a page
    const list = [...new Set([...columns, ...found.key])]
      .map((column) => pg.escapeIdentifier(column))
      .join(", ");
    const on = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)} (${list})`;
    const { rows: count, bytes, helps } = found;
    advice.set(on, {
      schema,
      table,
      columns,
      rows: count,
      bytes,
      helps,
      ddl: `create index concurrently on ${on};`,
    });
  }
  return [...advice.values()];
}

/** The largest table on which an index is tried, in bytes: until the trial is rolled back, nobody can write to the table. */
export const maxTriedBytes = 64_000_000;

/**
 * Tries what an index would change. With hypopg, the index is hypothetical. Otherwise it is created in a transaction that
 * is rolled back, which locks a table of at most {@link maxTriedBytes} against writing.
 *
 * @param client a connection of the table's owner
 * @returns null when the table is too large
 */
export async function tryIndex(
  client: ClientBase,
  statement: string,
  { ddl, bytes }: IndexAdvice,
): Promise<IndexTrial | null> {
  const { rows } = await client.query<{ hypopg: string }>(
    `select extnamespace::regnamespace::text as hypopg from pg_catalog.pg_extension where extname = 'hypopg'`,
  );
  const hypopg = rows[0]?.hypopg;
  if (hypopg === undefined && bytes > maxTriedBytes) return null;
  const index = ddl.replace(" concurrently", "").replace(/;$/, "");
  try {
    return await withRollback(client, async () => {
      await client.query("set local lock_timeout = '200ms'; set local statement_timeout = '5s'");
      const { cost: before } = await genericPlan(client, statement);
      if (hypopg === undefined) await client.query(index);
      else await client.query(`select ${hypopg}.hypopg_create_index($1)`, [index]);
      const { cost: after } = await genericPlan(client, statement);
      return { before, after };
    });
  } finally {
    // A rollback doesn't remove the hypothetical index, and the next trial would find it
    if (hypopg !== undefined) await client.query(`select ${hypopg}.hypopg_reset()`);
  }
}
