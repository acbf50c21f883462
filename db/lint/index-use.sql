-- Indexes that nothing in the schema needs: they begin neither with the columns of a foreign key nor with one
-- that a list of the API can be filtered by, and are no key themselves. Each makes writing slower.
-- Way out: drop index OBJECT, or say what else needs it: comment on index OBJECT is 'For …'
with filtered as materialized (
  select distinct c.table_id, c.attnum
  from api_meta.api_view v
  cross join regexp_matches(obj_description(v.view, 'pg_class'), '(?n)^@filters[ \t]+(.*)$', 'g') f
  join api_meta.view_column_source c on c.view = v.view
  where f[1] = '*' or c.attname::text = any (string_to_array(f[1], ','))
)
select i.indexrelid::regclass as object
from pg_index i
join pg_class x on x.oid = i.indexrelid
join api_meta.own_schema s on s.oid = x.relnamespace
where not i.indisunique and not i.indisexclusion
  and obj_description(i.indexrelid, 'pg_class') is null
  and not exists (
    select from pg_constraint c
    where c.conrelid = i.indrelid and c.contype = 'f'
      and coalesce(obj_description(c.oid, 'pg_constraint'), '') !~ '^@unindexed'
      and (select array_agg(k order by k) from unnest(c.conkey) k) = (
        select array_agg(k order by k) from unnest((i.indkey::smallint[])[0:cardinality(c.conkey) - 1]) k))
  and not exists (
    select from filtered f where f.table_id = i.indrelid and f.attnum = i.indkey[0]);
