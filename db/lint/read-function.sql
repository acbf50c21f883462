-- Functions of API schemas that change nothing, and that the API can't offer all the same. A field takes a
-- row of a view and returns a value; or it returns rows of a view, one row of a view or one of a composite
-- type of the same schema, with or without a row that it takes.
-- Remedy: as the line says. A function that only other functions call belongs to another schema, and one
-- that changes data is volatile.
with view as (
  select v.view, v.schema, t.oid as type from api_meta.api_view v join pg_type t on t.typrelid = v.view
  where exists (select from api_meta.view_tag(v.view, 'primaryKey'))
), routine as (
  select p.*, s.name as schema, o.view as owner, r.view as rows, k.oid is not null as is_composite,
    regexp_replace(p.proname, '^' || coalesce(oc.relname || '_', ''), '') as field
  from pg_proc p join api_meta.own_schema s on s.oid = p.pronamespace and s.is_api
  left join view o on o.type = p.proargtypes[0] and o.schema = s.name
  left join view r on r.type = p.prorettype and r.schema = s.name
  left join pg_class oc on oc.oid = o.view
  left join pg_class k on k.reltype = p.prorettype and k.relkind = 'c' and k.relnamespace = s.oid
  where p.provolatile <> 'v' and p.prokind = 'f'
), argument as (
  select r.oid, coalesce(nullif(r.proargnames[a.number], ''), '$' || a.number) as name, a.number, t.typtype,
    coalesce(e.typtype, t.typtype) as element, format_type(t.oid, null) as type
  from routine r cross join unnest(r.proargtypes::oid[]) with ordinality a (type, number)
  join pg_type t on t.oid = a.type left join pg_type e on e.oid = t.typelem and t.typcategory = 'A'
  where a.number > 1 or r.owner is null
)
select r.oid::regprocedure as object, f.fault
from routine r join pg_type t on t.oid = r.prorettype
left join pg_type e on e.oid = t.typelem and t.typcategory = 'A'
cross join lateral (
  select format('returns %s, which is no value, and neither a view of %I with a @primaryKey nor a type of '
    'it: a list returns setof a view', format_type(t.oid, null), r.schema) as fault
  where not r.proretset and r.rows is null and not r.is_composite
    and (coalesce(e.typtype, t.typtype) in ('c', 'p') or r.proallargtypes is not null)
  union all
  select format('returns setof %s, which is no view of %I with a @primaryKey', format_type(t.oid, null),
    r.schema)
  where r.proretset and r.rows is null
  union all
  select format('returns a value, but its first argument is no row of a view of %I with a @primaryKey',
    r.schema)
  where not r.proretset and r.owner is null and r.rows is null and not r.is_composite
  union all
  select 'takes a variable number of arguments: take an array' where r.provariadic <> 0
  union all
  select format('its argument %s has no name', a.name) from argument a where a.oid = r.oid and a.name ~ '^\$'
  union all
  select format('its argument %s is %s, of which clients can give no value', a.name, a.type)
  from argument a where a.oid = r.oid and a.element in ('c', 'p', 'm')
  union all
  select 'has the same name as ' || o.oid::regprocedure
  from routine o where o.pronamespace = r.pronamespace and o.field = r.field and o.oid < r.oid
    and o.owner is not distinct from r.owner
  union all
  select format('would be called as the column %s', a.attname)
  from pg_attribute a where a.attrelid = r.owner and a.attname = r.field and a.attnum > 0
  union all
  select format('neither it nor %s has a tag @requiresScopes', coalesce(r.rows, r.owner)::regclass)
  where coalesce(r.rows, r.owner) is not null
    and coalesce(obj_description(r.oid, 'pg_proc'), '') !~ '(?n)^@requiresScopes +[a-z_]+:[a-z_]+'
    and not exists (select from api_meta.view_tag(coalesce(r.rows, r.owner), 'requiresScopes'))
  union all
  select 'has no tag @requiresScopes'
  where r.is_composite and r.owner is null
    and coalesce(obj_description(r.oid, 'pg_proc'), '') !~ '(?n)^@requiresScopes +[a-z_]+:[a-z_]+'
) f;
