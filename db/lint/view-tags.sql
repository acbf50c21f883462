-- API views without a primary key or a scope, or whose tags name a column that they don't have.
-- Way out: correct the tag in the comment of OBJECT.
select v.view::regclass as object, 'no @primaryKey or @requiresScopes' as fault
from api_meta.api_view v
where not exists (select from api_meta.view_tag(v.view, 'primaryKey'))
  or not exists (select from api_meta.view_tag(v.view, 'requiresScopes'))
union all
select v.view::regclass, '@' || t.tag || ' ' || col
from api_meta.api_view v
cross join (values ('hidden'), ('nullable'), ('filters'), ('followed')) t (tag)
cross join api_meta.view_tag(v.view, t.tag) list
cross join regexp_split_to_table(replace(list, ' ', ''), ',') col
where col <> '*'
  and not exists (select from pg_attribute a where a.attrelid = v.view and a.attname = col and a.attnum > 0);
