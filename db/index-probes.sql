-- Queries that clients can make of the lists of `unstable`, for the check to see whether an index answers
-- them: one by each filter of a column that has many values, one in the order of the list, one by each
-- relation that leads back from another view. Types are those that a query compares by equality or order: if
-- that isn't leakproof, Postgres hides the rows first that policies hide, and an index is of no use.
with listed as (
  select v.view, format('%I.%I', v.schema, v.name) as name,
    (
      select regexp_split_to_array(trim(k), '[\s,]+') from api_meta.view_tag(v.view, 'primaryKey') k limit 1
    ) as key,
    array(
      select w from api_meta.view_tag(v.view, 'filters') f, regexp_split_to_table(trim(f), '[\s,]+') w
    ) as offered,
    array(
      select split_part(e, ' ', 1) from api_meta.view_tag(v.view, 'columnEnum') e
      union
      select h from api_meta.view_tag(v.view, 'hidden') l, regexp_split_to_table(l, ' *, *') h
    ) as few,
    array(
      select distinct s.table_id::regclass::text from api_meta.view_column_source s where s.view = v.view
    ) as tables
  from api_meta.api_view v
  where v.schema = 'api_unstable' and exists (select from api_meta.view_tag(v.view, 'primaryKey'))
),

attribute as (
  select a.attrelid as view, a.attnum, a.attname::text as name, 'v.' || quote_ident(a.attname) as place,
    format_type(t.oid, null) as type, t.typcategory as category,
    t.typcategory = 'A' or t.oid in ('json'::regtype, 'jsonb'::regtype) as is_container,
    col_description(a.attrelid, a.attnum) ~ '(?n)^@indexed$' as is_indexed
  from pg_attribute a
  join pg_type d on d.oid = a.atttypid
  join pg_type t on t.oid = case d.typtype when 'd' then d.typbasetype else d.oid end
  where a.attnum > 0 and not a.attisdropped
),

filter as (
  select l.view, l.name, a.attnum::int as position, o.*
  from listed l
  join attribute a on a.view = l.view
  cross join lateral (values
    ('contains of ' || a.name, format('%s @> $1::%s', a.place, a.type), '{}'::text[],
      a.category = 'A' or a.type = 'jsonb'),
    ('overlaps of ' || a.name, format('%s && $1::%s', a.place, a.type), '{}', a.category = 'R'),
    ('equals of ' || a.name, format('%s = $1::%s', a.place, a.type), array[a.type],
      not a.is_container and a.category <> 'R'),
    ('startsWith of ' || a.name,
      format('%1$s >= $1::text collate "C" and %1$s < $2::text collate "C"', a.place), array[a.type],
      a.category = 'S')
  ) o (what, condition, types, is_offered)
  where o.is_offered and a.category not in ('B', 'E') and a.name <> all (l.few) and l.key <> array[a.name]
    and (a.is_indexed or a.name = any (l.offered) or '*' = any (l.offered) and not a.is_container)
),

relation as (
  select l.view, f.position::int, 'by ' || string_agg(k.name, ', ' order by k.nr) as what,
    string_agg(format('%s = $%s::%s', a.place, k.nr, a.type), ' and ' order by k.nr) as condition,
    array_agg(a.type order by k.nr) as types
  from listed l
  cross join api_meta.view_tag(l.view, 'foreignKey') with ordinality f (tag, position)
  cross join regexp_split_to_table(trim((regexp_match(f.tag, '^\(([^)]*)\)'))[1]), '[\s,]+')
    with ordinality k (name, nr)
  left join attribute a on a.view = l.view and a.name = k.name
  where f.tag like '%@foreign%'
  group by l.view, f.position
  having bool_and(a.name is not null)
)

select l.name as view, l.tables, p.kind, p.what, format('select from %s v %s', l.name, p.condition) as query,
  (
    select coalesce(bool_and(f.proleakproof), false)
    from unnest(p.types) t
    left join pg_operator o on o.oprname = '=' and o.oprleft = o.oprright
      and o.oprleft = to_regtype(replace(t, 'character varying', 'text'))
    left join pg_proc f on f.oid = o.oprcode
  ) as "isLeakproof"
from listed l
cross join lateral (
  select 1 as place, f.position, 'filter' as kind, f.what, f.types, 'where ' || f.condition as condition
  from filter f where f.view = l.view
  union all
  select 2, 0, 'order', 'in the order of ' || array_to_string(l.key, ', '), '{}', (
    select format('order by %s limit 51', string_agg('v.' || quote_ident(k.name), ', ' order by k.nr))
    from unnest(l.key) with ordinality k (name, nr))
  -- A view without a list of its own is read through relations only
  where not exists (
    select from api_meta.view_tag(l.view, 'behavior') b where b like '%-query:resource:connection%')
  union all
  select 3, r.position, 'relation', r.what, r.types, 'where ' || r.condition
  from relation r where r.view = l.view
) p
order by l.name, p.place, p.position, p.what;
