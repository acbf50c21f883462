-- Deprecations that don't say since when, or why: clients must know what to use instead.
-- Remedy: @deprecated 2026-12-01 Use netPrice. On a view or an enum type with the name before the day:
-- @deprecated price 2026-12-01 Use netPrice.
with noted as (
  select c.oid::regclass::text as object, obj_description(c.oid, 'pg_class') as note
  from pg_class c join api_meta.own_schema s on s.oid = c.relnamespace and s.is_api
  where c.relkind in ('v', 'c')
  union all
  select a.attrelid::regclass || '.' || a.attname, col_description(a.attrelid, a.attnum)
  from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind in ('v', 'c')
  join api_meta.own_schema s on s.oid = c.relnamespace and s.is_api
  where a.attnum > 0
  union all
  select p.oid::regprocedure::text, obj_description(p.oid, 'pg_proc')
  from pg_proc p join api_meta.own_schema s on s.oid = p.pronamespace and s.is_api
  union all
  select t.oid::regtype::text, obj_description(t.oid, 'pg_type')
  from pg_type t join api_meta.own_schema s on s.oid = t.typnamespace and s.is_api
  where t.typtype = 'e'
)
select n.object, '@deprecated ' || m[1] as tag
from noted n cross join regexp_matches(n.note, '(?n)^@deprecated[ \t]*(.*)$', 'g') m
where m[1] !~ '^(\w+[ \t]+)?\d{4}-\d\d-\d\d[ \t]+\S';
