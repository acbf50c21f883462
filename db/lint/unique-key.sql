-- Views whose @primaryKey nothing makes unique: no valid unique index of a table has only its columns. Two
-- rows with one id are one to clients: pages skip rows, and caches mix them up.
-- Remedy: make a unique index on these columns of the table, or name others in @primaryKey of OBJECT. A view
-- whose rows are unique for another reason is waived.
with origin as materialized (
  select s.name as schema, o.* from api_meta.own_schema s cross join lateral api_meta.view_origins(s.name) o
  where s.is_api
), key as (
  select o.view, o.relation, o.attnum from origin o
  where o.column_name = any (array(
    select unnest(string_to_array(replace(k, ' ', ''), ','))
    from api_meta.view_tag(o.view, 'primaryKey') k))
)
select k.view as object, string_agg(coalesce(a.attname, 'an expression'), ', ') as fault
from key k left join pg_attribute a on a.attrelid = k.relation and a.attnum = k.attnum
where not exists (
  select from key o join pg_index i on i.indrelid = o.relation
  where o.view = k.view
    and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
    and (i.indkey::smallint[])[0:i.indnkeyatts - 1] <@ array(
      select c.attnum from key c where c.view = k.view and c.relation = i.indrelid)
)
group by k.view;
