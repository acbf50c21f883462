-- API views without a primary key or a scope, whose tags name a column that they don't have, or with a tag
-- that nothing reads, perhaps because it is misspelt.
-- Remedy: correct the tag in the comment of OBJECT.
with tag as materialized (
  select v.view, t[1] as name, t[2] as list
  from api_meta.api_view v
  left join regexp_matches(obj_description(v.view, 'pg_class'), '(?n)^@(\w+)[ \t]*(.*)$', 'g') t on true
)
select t.view::regclass as object, 'no @primaryKey or @requiresScopes' as fault
from tag t
group by t.view
having count(*) filter (where t.name = 'primaryKey') = 0
  or count(*) filter (where t.name = 'requiresScopes') = 0
union all
select t.view::regclass, '@' || t.name || ' ' || col
from tag t
cross join regexp_split_to_table(replace(regexp_replace(t.list, '\s+in\s.*', ''), ' ', ''), ',') col
where t.name = any ('{hidden,nullable,fullLists,filters,followed,search,aggregates,groupBy}')
  and col <> '*'
  and not exists (select from pg_attribute a where a.attrelid = t.view and a.attname = col and a.attnum > 0)
union all
select t.view::regclass, format('@%s is no tag of views', t.name)
from tag t
where t.name <> all ('{primaryKey,requiresScopes,scopesOfAll,filters,nullable,fullLists,hidden,columnEnum,gid,
  foreignKey,ref,refVia,noFilter,rootField,followed,log,search,aggregates,groupBy,deprecated,describe,
  behavior,name,unique}');
