--! Previous: sha1:b978da51eb7cd0d02491ab3fb5a804da38845010
--! Hash: sha1:056be1527dec9eef44df4bd4c9f01824d5238f75
--! Message: storefront-id-filters

--! split: 91-storefront-ids.sql
-- Texts that an index finds exactly
--! Included api_meta/index_tag.sql
create or replace view api_meta.index_tag as
with main as materialized (
  select s.view, s.table_id,
    (
      select string_to_array(replace(k, ' ', ''), ',') from api_meta.view_tag(s.view, 'primaryKey') k limit 1
    ) as key
  from (
    select distinct on (s.view) s.view, s.table_id from api_meta.view_column_source s
    -- An array, so that the other versions are left out early
    where s.view = any (array(select v.view from api_meta.api_view v where v.schema = 'api_unstable'))
    order by s.view, s.weight desc, s.table_id
  ) s
), index as materialized (
  select m.view, m.key, x.indexrelid, x.indrelid, x.indisunique, x.indpred is null as is_whole,
    -- Texts are also found by their beginning, in the order of code points
    coalesce((select l.collname in ('C', 'POSIX') from pg_collation l where l.oid = x.indcollation[0]), true)
      as has_beginnings,
    array_agg(c.attname::text order by k) as names
  from main m
  join pg_index x on x.indrelid = m.table_id and x.indisvalid
  join pg_class i on i.oid = x.indexrelid
  join pg_am am on am.oid = i.relam and am.amname = 'btree'
  cross join generate_series(0, x.indnkeyatts - 1) k
  left join pg_attribute t on t.attrelid = x.indrelid and t.attnum = x.indkey[k]
    and x.indcollation[k] = t.attcollation and x.indoption[k] = 0
  -- A column as it stands in the table; of views with joins nothing more can be told
  left join pg_attribute c on c.attrelid = m.view and c.attname = t.attname and c.atttypid = t.atttypid
    and (pg_column_is_updatable(m.view, c.attnum, true) or pg_relation_is_updatable(m.view, true) = 0)
    -- Behind policies Postgres finds rows by no other comparisons
    and x.indclass[k] in (
      select o.oid from pg_opclass o
      join pg_amop a on a.amopfamily = o.opcfamily and a.amopstrategy = 1
        and a.amoplefttype = o.opcintype and a.amoprighttype = o.opcintype
      join pg_operator op on op.oid = a.amopopr join pg_proc p on p.oid = op.oprcode
      where p.proleakproof)
  where x.indpred is null or pg_get_expr(x.indpred, x.indrelid) = (
    select format('(%I IS NOT NULL)', a.attname) from pg_attribute a
    where a.attrelid = x.indrelid and a.attnum = x.indkey[0])
  group by m.view, m.key, x.indexrelid, x.indrelid, x.indisunique, x.indpred is null, x.indcollation[0]
), ordered as materialized (
  select i.view,
    case
      when i.names[cardinality(i.names) - cardinality(i.key) + 1:] = i.key
        then i.names[:cardinality(i.names) - cardinality(i.key)]
      -- Without ties no more columns are needed
      when i.indisunique and not exists (
        select from unnest(i.names) n join api_meta.table_column c on c.relation = i.indrelid and c.name = n
        where not c.is_never_null) then i.names
    end as names
  from index i
  where i.is_whole and array_position(i.names, null) is null
)
select i.view, i.names[1] as name,
  case when i.has_beginnings then '@indexed'
    when i.indisunique then '@foundExactly unique' else '@foundExactly' end as tag
from index i
where i.names[1] is not null
union
select o.view, o.names[1], rtrim('@orders ' || array_to_string(o.names[2:], ','))
from ordered o
where cardinality(o.names) > 0 and not o.names <@ (select m.key from main m where m.view = o.view);
comment on view api_meta.index_tag is
  'What the indexes of its main table do for each view of the head, as tags of its columns: @indexed, its '
  'values are found by an index; @foundExactly, its texts are, but not by how they begin, and with unique '
  'they stand for few rows; @orders, an index has the order of it, of the columns that follow, and of the '
  'key.';
--! EndIncluded api_meta/index_tag.sql
