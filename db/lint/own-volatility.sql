-- Functions that say they are stable or immutable, and call what is neither, or write. Postgres may call them
-- once for many rows, or once again, and fails when one writes; the API makes fields of them.
-- Remedy: leave it out of OBJECT, or declare the function volatile, which makes a mutation of one in an API
-- schema.
with routine as materialized (
  select p.oid, n.name as schema, p.proname, p.provolatile,
    regexp_replace(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), '--[^\n]*|''([^'']|'''')*''', '', 'g')
      as source
  from pg_proc p join api_meta.own_schema n on n.oid = p.pronamespace
  join pg_language l on l.oid = p.prolang
  where p.prokind = 'f' and l.lanname in ('sql', 'plpgsql')
), effect as materialized (
  select r.*, m[1] as fault
  from routine r
  cross join regexp_matches(r.source, '(?i)\m(insert\s+into|update\s+[\w."]+\s+(?:as\s+\w+\s+)?set'
    '|delete\s+from|(?:random|random_normal|nextval|setval)\s*\()') m
)
select e.oid::regprocedure as object, e.fault from effect e where e.provolatile <> 'v'
union
-- One level below: what lies deeper is found there
select r.oid::regprocedure, format('%s.%s', e.schema, e.proname)
from routine r join effect e on strpos(r.source, format('%s.%s(', e.schema, e.proname)) > 0
where r.provolatile <> 'v' and r.oid <> e.oid;
