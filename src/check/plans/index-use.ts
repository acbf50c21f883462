import pg from "pg";
import type { ClientBase } from "pg";
import type { Found } from "../finding.ts";
import type { Source, Subject } from "../check-source.ts";
import { isByIndex, isSorted, planOf } from "../../plans/explain.ts";

interface Column {
  name: string;
  type: string;
  /** As Postgres groups types: A of arrays, B booleans, E enums, R ranges, S texts … */
  category: string;
}

/** A view of the head, with what its comment offers. */
interface View {
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
const largeRows = 10_000;

/** Views that what is being written names, and those of large tables. */
async function viewsToPlan({ client, recorded, scripts }: Subject): Promise<View[]> {
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
const inSql = (name: string): string => `v.${pg.escapeIdentifier(name)}`;

/** What a filter compares a column by: its operators, and the condition in SQL. */
function conditionsOf({ name, type, category }: Column): [operators: string, condition: string][] {
  const column = inSql(name);
  if (category === "A" || type === "jsonb") return [["contains", `${column} @> $1::${type}`]];
  if (type === "json") return [];
  if (category === "R") return [["overlaps", `${column} && $1::${type}`]];
  const equals: [string, string] = ["equals", `${column} = $1::${type}`];
  return category === "S"
    ? [equals, ["startsWith", `${column} >= $1::text collate "C" and ${column} < $2::text collate "C"`]]
    : [equals];
}

/**
 * Whether a condition is answered: yes, no, or only where there are no policies.
 *
 * @param operators the types that it compares by equality or order; none of other comparisons
 */
async function answerTo(
  client: ClientBase,
  view: View,
  condition: string,
  operators: readonly string[],
): Promise<"yes" | "no" | "leaky" | null> {
  const query = `select from ${view.name} v where ${condition}`;
  const plan = await planOf(client, query, "service_api");
  if (plan === null) return null;
  if (isByIndex(plan)) return "yes";
  const ofOwner = await planOf(client, query);
  if (!ofOwner || !isByIndex(ofOwner)) return "no";
  // Else Postgres has only found the index of a policy better
  return (await isLeakproof(client, operators)) ? "yes" : "leaky";
}

async function isLeakproof(client: ClientBase, operators: readonly string[]): Promise<boolean> {
  const { rows } = await client.query<{ all: boolean }>(
    `select coalesce(bool_and(p.proleakproof), false) as all
     from unnest($1::text[]) t left join pg_catalog.pg_operator o on o.oprname = '=' and o.oprleft = o.oprright
       and o.oprleft = to_regtype(replace(t, 'character varying', 'text'))
     left join pg_catalog.pg_proc p on p.oid = o.oprcode`,
    [operators],
  );
  return rows[0]!.all;
}

type Fault = Omit<Found, "severity">;

async function faultsOfFilters(client: ClientBase, view: View): Promise<Fault[]> {
  const unanswered: string[] = [];
  const leaky: string[] = [];
  for (const column of view.filtered) {
    if (view.key.length === 1 && view.key[0] === column.name) continue;
    for (const [operator, condition] of conditionsOf(column)) {
      const isOrdered = operator === "equals" || operator === "startsWith";
      const answer = await answerTo(client, view, condition, isOrdered ? [column.type] : []);
      if (answer === "no") unanswered.push(`${operator} of ${column.name}`);
      if (answer === "leaky") leaky.push(`${operator} of ${column.name}`);
    }
  }
  const found = { rule: "filter-without-index", object: view.name };
  const faults: Fault[] = [];
  if (unanswered.length > 0)
    faults.push({
      ...found,
      what: unanswered.join(", "),
      why: "No index finds the rows of these filters: Postgres reads the whole table for a page of them.",
      wayOut:
        'create an index that begins with the column, for startsWith with collate "C"; or leave the column out of @filters.',
    });
  if (leaky.length > 0)
    faults.push({
      ...found,
      what: leaky.join(", "),
      why: "There is an index, but the comparison isn't leakproof, and so Postgres hides the rows first that policies hide: it reads the whole table for a page of these filters.",
      wayOut: "leave the column out of @filters, or let the view show it as text, uuid, integer or date.",
    });
  return faults;
}

async function faultsOfOrder(client: ClientBase, view: View): Promise<Fault[]> {
  const order = view.key.map(inSql).join(", ");
  const plan = await planOf(client, `select from ${view.name} v order by ${order} limit 51`, "service_api");
  if (plan === null || !isSorted(plan)) return [];
  return [
    {
      rule: "order-without-index",
      object: view.name,
      what: `in the order of ${view.key.join(", ")}`,
      why: "No index has the order of the list: Postgres reads and sorts all rows for each page.",
      wayOut: "make a unique index on the columns of @primaryKey, in their order; or make the view simpler.",
    },
  ];
}

async function faultsOfRelations(client: ClientBase, view: View): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const columns of view.relations) {
    const types = columns.map((name) => view.columns.find((column) => column.name === name)?.type);
    if (columns.length === 0 || types.includes(undefined)) continue;
    const condition = columns.map((name, index) => `${inSql(name)} = $${index + 1}::${types[index]}`);
    const answer = await answerTo(client, view, condition.join(" and "), types as string[]);
    if (answer === "yes" || answer === null) continue;
    faults.push({
      rule: "relation-without-index",
      object: view.name,
      what: `by ${columns.join(", ")}`,
      why: "No index finds the rows of this relation: Postgres reads the whole table for each row that they belong to.",
      wayOut: "create an index that begins with the columns, on a large table concurrently.",
    });
  }
  return faults;
}

/** Filters, orders and relations of the head that no index answers, according to the plans of Postgres. */
export const indexUse: Source = {
  name: "index use",
  async find(subject) {
    const found: Found[] = [];
    for (const view of await viewsToPlan(subject)) {
      for (const look of [faultsOfFilters, faultsOfOrder, faultsOfRelations]) {
        const severity = view.rows >= largeRows || look === faultsOfRelations ? "warning" : "note";
        const faults = await look(subject.client, view);
        found.push(...faults.map((fault) => ({ ...fault, severity }) as const));
      }
    }
    return found;
  },
};
