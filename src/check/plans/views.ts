import pg from "pg";
import type { ClientBase } from "pg";
import type { Subject } from "../source.ts";

export interface Column {
  name: string;
  type: string;
  /** As Postgres groups types: A of arrays, B booleans, E enums, R ranges, S texts … */
  category: string;
}

/** A view of the head, with what its comment offers. */
export interface View {
  /** With its schema. */
  name: string;
  columns: readonly Column[];
  key: readonly string[];
  /** Columns that its filter offers, and that have many values. */
  filtered: readonly Column[];
  /** The columns of each relation that leads back here from another view. */
  relations: readonly (readonly string[])[];
  /** Rows of the largest of its tables, of the database at hand. */
  rows: number;
}

interface ViewRow {
  name: string;
  columns: Column[];
  key: string;
  filters: string[];
  few: string[];
  relations: string[];
  tables: string[];
}

const query = `
  select format('%I.%I', v.schema, v.name) as name,
    (select jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(t.oid, null), 'category', t.typcategory)
      order by a.attnum)
    from pg_catalog.pg_attribute a join pg_catalog.pg_type d on d.oid = a.atttypid
    join pg_catalog.pg_type t on t.oid = case d.typtype when 'd' then d.typbasetype else d.oid end
    where a.attrelid = v.view and a.attnum > 0 and not a.attisdropped) as columns,
    (select k from api_meta.view_tag(v.view, 'primaryKey') k limit 1) as key,
    array(select f from api_meta.view_tag(v.view, 'filters') f
      union select a.attname::text from pg_catalog.pg_attribute a
      where a.attrelid = v.view and a.attnum > 0
        and pg_catalog.col_description(v.view, a.attnum) ~ '(?n)^@indexed$') as filters,
    array(select pg_catalog.split_part(e, ' ', 1) from api_meta.view_tag(v.view, 'columnEnum') e
      union select h from api_meta.view_tag(v.view, 'hidden') l, pg_catalog.regexp_split_to_table(l, ' *, *') h) as few,
    array(select f from api_meta.view_tag(v.view, 'foreignKey') f where f like '%@foreign%') as relations,
    array(select distinct s.table_id::regclass::text from api_meta.view_column_source s where s.view = v.view) as tables
  from api_meta.api_view v
  where v.schema = 'api_unstable' and exists (select from api_meta.view_tag(v.view, 'primaryKey'))
  order by v.name`;

const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);

/** A large table: reading all of it is noticed. */
export const largeRows = 10_000;

/** Views that what is being written names, and those of large tables. */
export async function viewsToPlan({ client, recorded, scripts }: Subject): Promise<View[]> {
  const { rows } = await client.query<ViewRow>(query);
  const sizes = await sizesIn(recorded);
  const views = rows.map((row) => viewOf(row, sizes));
  const text = scripts.flatMap(({ statements }) => statements.map((one) => one.text)).join("\n");
  const isNamed = ({ name }: View) => new RegExp(`(?<![\\w.])${RegExp.escape(name)}(?![\\w])`).test(text);
  return views.filter((view) => view.rows >= largeRows || isNamed(view));
}

function viewOf(
  { name, columns, key, filters, few, relations, tables }: ViewRow,
  sizes: Map<string, number>,
) {
  const offered = new Set(filters.flatMap(words));
  const isContainer = ({ type, category }: Column) => category === "A" || /^jsonb?$/.test(type);
  const hasMany = (column: Column) => !/[BE]/.test(column.category) && !few.includes(column.name);
  return {
    name,
    columns,
    key: words(key),
    filtered: columns.filter(
      (column) => hasMany(column) && (offered.has(column.name) || (offered.has("*") && !isContainer(column))),
    ),
    relations: relations.map((tag) => words(/^\(([^)]*)\)/.exec(tag)?.[1] ?? "")),
    rows: Math.max(0, ...tables.map((table) => sizes.get(table) ?? 0)),
  };
}

async function sizesIn(client: ClientBase): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; rows: number }>(
    "select c.oid::regclass::text as name, c.reltuples::float8 as rows from pg_catalog.pg_class c where c.relkind in ('r', 'p', 'm')",
  );
  return new Map(rows.map(({ name, rows: count }) => [name, count]));
}

/** A column of the rows `v`, in SQL. */
export const inSql = (name: string): string => `v.${pg.escapeIdentifier(name)}`;
