import { readFile } from "node:fs/promises";
import type { ClientBase } from "pg";
import { relationName } from "./ddl/known.ts";
import { parseScript } from "./script.ts";

/** The columns of tables that have rows, by the table's name with its schema. */
export type OldColumns = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads the columns that committed migrations create, from db/schema.sql. */
export async function readCommittedColumns(): Promise<OldColumns> {
  const text = await readFile(new URL("../../db/schema.sql", import.meta.url), "utf8");
  const creations = text.match(/^create (?:unlogged )?table [^;]+?^\)[^;]*;$/gm) ?? [];
  const { statements } = await parseScript("db/schema.sql", creations.join("\n"));
  return new Map(
    statements.flatMap(({ nodes: [node] }) => {
      if (!("CreateStmt" in node)) return [];
      const { relation, tableElts = [] } = node.CreateStmt;
      const columns = tableElts.flatMap((one) => ("ColumnDef" in one ? [one.ColumnDef.colname!] : []));
      return [[relationName(relation!), new Set(columns)]];
    }),
  );
}

/** Reads the columns of a database. */
export async function readColumns(client: ClientBase): Promise<OldColumns> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select format('%s.%s', n.nspname, c.relname) as name, array_agg(a.attname::text) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relkind in ('r', 'p') and n.nspname !~ '^(pg_|information_schema$)'
     group by 1`,
  );
  return new Map(rows.map(({ name, columns }) => [name, new Set(columns)]));
}
