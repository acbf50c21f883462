-- Views that can be searched (@search) without the index that finds what they are searched for, or with one
-- of something else: a search would read the whole table. Also those whose rows have no id, a uuid, by which
-- a search could find them.
-- Remedy: select api_meta.index_search('OBJECT'); on a large table this statement, in a migration of its
-- own, and a comment on the index that says the same.
with searched as materialized (
  select v.view, coalesce(v.kept, v.relation) as place, api_meta.search_index(v) as statement
  from api_meta.searched_view v
)
select s.view::regclass as object, s.statement as fault
from searched s
where s.statement is not null and not exists (
  select from pg_index i where i.indrelid = s.place and i.indisvalid
    and obj_description(i.indexrelid, 'pg_class') = s.statement)
union all
select s.view::regclass, 'no id that is a uuid'
from searched s
where not exists (
  select from pg_attribute a where a.attrelid = s.view and a.attname = 'id' and a.atttypid = 'uuid'::regtype);
