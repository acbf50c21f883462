-- Indexes that nothing in the schema needs: they begin neither with the columns of a foreign key nor with one
-- that a list of the API can be filtered by, and are no key themselves. Each makes writing slower.
-- Way out: drop index OBJECT, or say what else needs it: comment on index OBJECT is 'For …'
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
    select from api_meta.view_column_source v cross join api_meta.view_tag(v.view, 'filters') f
    where v.table_id = i.indrelid and v.attnum = i.indkey[0]
      and (f = '*' or v.attname::text = any (string_to_array(f, ','))));
