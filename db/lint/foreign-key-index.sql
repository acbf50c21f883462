-- Foreign keys without an index that starts with their columns. Deleting the row that they point to, and
-- every relation of the API, would read the whole table.
-- Remedy: create an index that begins with the columns of the foreign key: create index on OBJECT (…); on
-- a large table concurrently, in a migration of its own. Where neither ever happens, the comment on the
-- foreign key says @unindexed, and why.
select c.conrelid::regclass as object, c.conname
from pg_constraint c join api_meta.own_schema s on s.oid = c.connamespace
where c.contype = 'f' and coalesce(obj_description(c.oid, 'pg_constraint'), '') !~ '^@unindexed .'
  and not exists (
  select from pg_index i
  where i.indrelid = c.conrelid and i.indisvalid
    and (select array_agg(k order by k) from unnest((i.indkey::smallint[])[0:cardinality(c.conkey) - 1]) k)
      = (select array_agg(k order by k) from unnest(c.conkey) k)
    and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) ~ '^\(\w+ IS NOT NULL\)$')
);
