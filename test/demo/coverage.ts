import type pg from "pg";

/** A list of an API view: by a foreign key of another view, or through a link view. */
export interface ApiList {
  view: string;
  field: string;
  /** Number of rows of the longest list of this kind. */
  longest: number;
}

/** The lists of all API views, from the smart tags in their comments, with their greatest lengths. */
export async function apiLists(client: pg.Client): Promise<ApiList[]> {
  const { rows } = await client.query<{ view: string; field: string; from: string; column: string }>(`
    with tag as (
      select c.relname as view, line
      from pg_class c, string_to_table(obj_description(c.oid, 'pg_class'), E'\\n') as line
      where c.relnamespace = 'api_unstable'::regnamespace and c.relkind = 'v'
    )
    select m[2] as view, m[3] as field, view as "from", m[1] as column
    from tag, regexp_match(line, '^@foreignKey \\((\\w+)\\) references (\\w+) .*@foreignFieldName (\\w+)') as m
    -- A relation by the whole key is no list
    where m is not null and not exists (select from tag k where k.view = tag.view and k.line = '@primaryKey ' || m[1])
    union all
    select view, m[1], m[2], m[3]
    from tag, regexp_match(line, '^@refVia (\\w+) via:\\(id\\)->(\\w+)\\((\\w+)\\);') as m where m is not null`);
  const found: ApiList[] = [];
  for (const { view, field, from, column } of rows) {
    const counts = await client.query(
      `select coalesce(max(n), 0)::int as longest
       from (select count(*) as n from api_unstable.${from} where ${column} is not null group by ${column}) v`,
    );
    found.push({ view, field, longest: counts.rows[0].longest });
  }
  return found;
}

/** Nullable columns of API views, with how often they are null. */
export async function optionalColumns(
  client: pg.Client,
): Promise<{ column: string; nulls: number; values: number }[]> {
  const { rows: views } = await client.query<{ view: string; columns: string[] }>(`
    select c.relname as view, array_agg(v.attname::text) as columns
    from pg_class c
    join pg_attribute v on v.attrelid = c.oid and v.attnum > 0
    join pg_rewrite r on r.ev_class = c.oid
    join lateral (
      select distinct t.relname, a.attname, a.attnotnull
      from pg_depend d join pg_class t on t.oid = d.refobjid and t.relkind = 'r'
      join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
      where d.objid = r.oid and d.classid = 'pg_rewrite'::regclass
    ) base on base.attname = v.attname
    where c.relnamespace = 'api_unstable'::regnamespace and c.relkind = 'v' and not base.attnotnull
      -- what readers are followed by is no field
      and v.attname <> all (array(select api_meta.view_tag(c.oid, 'followed')))
    group by c.relname`);
  const found = [];
  for (const { view, columns } of views) {
    const { rows } = await client.query(
      `select count(*)::int as total, ${columns.map((name) => `count(${name})::int as "${name}"`).join(", ")}
       from api_unstable.${view}`,
    );
    for (const name of columns) {
      const values: number = rows[0][name];
      found.push({ column: `${view}.${name}`, nulls: rows[0].total - values, values });
    }
  }
  return found;
}

/** Values that a constraint `column in (…)` allows and no row has. */
export async function missingValues(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ table: string; column: string; values: string[] }>(`
    select k.conrelid::regclass::text as "table", a.attname as "column",
      (select array_agg(m[1]) from regexp_matches(pg_get_constraintdef(k.oid), '''([^'']+)''', 'g') as m) as values
    from pg_constraint k
    join pg_namespace n on n.oid = k.connamespace and n.nspname in ('erp', 'ledger', 'events')
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
    where k.contype = 'c' and cardinality(k.conkey) = 1 and pg_get_constraintdef(k.oid) ~ '= ANY \\(+ARRAY\\[''|= ANY \\(ARRAY\\['
      and a.atttypid = 'text'::regtype and k.conrelid <> 'erp.merchant'::regclass -- has one row
    union all
    values ('ledger.stock_movement', 'process_type_technical_name', (select array_agg(technical_name) from ledger.process_type)),
      ('ledger.stock_movement', 'source_special_stock_location_technical_name', (select array_agg(technical_name) from ledger.special_stock_location)),
      ('erp.sales_order', 'delivery_state', (select array_agg(distinct to_state) from erp.state_transition where machine = 'order_delivery'))`);
  const missing: string[] = [];
  for (const { table, column, values } of rows) {
    const { rows: found } = await client.query<{ value: string }>(
      `select distinct ${column} as value from ${table}`,
    );
    const there = new Set(found.map(({ value }) => value));
    missing.push(
      ...values.filter((value) => !there.has(value)).map((value) => `${table}.${column}: ${value}`),
    );
  }
  return missing;
}

/** A hash of the rows of each table, without the times when events were recorded. Equal data has equal hashes. */
export async function fingerprint(client: pg.Client): Promise<Record<string, string>> {
  const { rows: tables } = await client.query<{ name: string }>(`
    select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('erp', 'ledger', 'events') and c.relkind = 'r' order by 1`);
  const hashes: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await client.query(
      `select count(*) || ' ' || coalesce(md5(string_agg(row, '' order by row)), '') as hash
       from ${name} t cross join lateral md5((to_jsonb(t) - array['recorded_at', 'at'])::text) as row`,
    );
    hashes[name] = rows[0].hash;
  }
  return hashes;
}
