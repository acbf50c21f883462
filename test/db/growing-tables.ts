import type pg from "pg";

/** Rows that each growing table gets. */
export const added = 1_500;

interface Column {
  name: string;
  type: string;
  /** Whether it refers to a table that doesn't grow. */
  is_kept: boolean;
  is_generated: boolean;
}

interface Table {
  name: string;
  columns: Column[];
  /** Columns of each unique index. */
  keys: string[][];
  /** Whether one of them is checked later, so that Postgres can't leave out rows. */
  is_deferrable: boolean;
}

const described = `
  select c.oid::regclass::text as name,
    (select jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, null),
       'is_generated', a.attgenerated <> '', 'is_kept', exists (select from pg_constraint f where f.conrelid = c.oid
         and f.contype = 'f' and a.attnum = any (f.conkey) and f.confrelid = any ($1::regclass[]))))
     from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
    (select coalesce(jsonb_agg((select jsonb_agg(a.attname order by a.attnum) from pg_attribute a
       where a.attrelid = c.oid and a.attnum = any (i.indkey::smallint[]))), '[]')
     from pg_index i where i.indrelid = c.oid and i.indisunique) as keys,
    exists (select from pg_index i where i.indrelid = c.oid and not i.indimmediate) as is_deferrable
  from pg_class c join api_meta.own_schema s on s.oid = c.relnamespace
  where c.relkind = 'r' and c.oid <> all ($1::regclass[])`;

const isFresh = ({ type, is_kept }: Column): boolean => type === "uuid" && !is_kept;

/** The columns that must differ from row to row, beside ids. */
function counted({ columns, keys }: Table): Set<string> {
  const counted = new Set<string>();
  for (const key of keys) {
    const parts = columns.filter(({ name }) => key.includes(name));
    if (parts.some((column) => isFresh(column) || counted.has(column.name))) continue;
    const part =
      parts.find(({ type }) => ["bigint", "integer", "bytea"].includes(type)) ??
      parts.findLast(({ type, is_kept }) => type === "text" && !is_kept);
    if (part) counted.add(part.name);
  }
  return counted;
}

const another = (isCounted: boolean, column: Column): string => {
  const value = `t.${column.name}`;
  if (isFresh(column)) return `case when ${value} is not null then uuidv7() end`;
  if (!isCounted) return value;
  if (column.type === "text") return `${value} || '-' || n`;
  if (column.type === "bytea") return `sha256(${value} || n::text::bytea)`;
  return `${value} + 1000000 + n`;
};

/** Copies rows of tables until each has many, with other ids, which belong to nothing: only their number matters. */
export async function grow(admin: pg.ClientBase, others: readonly string[]): Promise<Map<string, number>> {
  const { rows: tables } = await admin.query<Table>(described, [others]);
  const sizes = new Map<string, number>();
  await admin.query("set session_replication_role = replica");
  for (const table of tables) {
    const differing = counted(table);
    const columns = table.columns.filter(({ is_generated }) => !is_generated);
    const values = columns.map((column) => another(differing.has(column.name), column));
    await admin.query(`
      insert into ${table.name} (${columns.map(({ name }) => name).join(", ")}) overriding system value
      select ${values.join(", ")}
      from (select row_number() over () as nth, count(*) over () as count, r.* from ${table.name} r) t,
        generate_series(1, ${added}) n
      where n % t.count = t.nth - 1 ${table.is_deferrable ? "" : "on conflict do nothing"}`);
    const { rows } = await admin.query<{ count: number }>(
      `select count(*)::integer as count from ${table.name}`,
    );
    sizes.set(table.name, rows[0]!.count);
  }
  await admin.query("reset session_replication_role");
  return sizes;
}
