-- Frozen API schemas that read something of another API schema. They would change with it.
-- Remedy: read the tables instead, or the view of the same version.
with
  -- Once: Postgres expects few views, and would look for all of them again for each that one of them reads
  api_view as materialized (select * from api_meta.api_view)
select v.view::regclass as object, d.refobjid::regclass as reads
from api_view v
join pg_rewrite r on r.ev_class = v.view
join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
  and d.refclassid = 'pg_class'::regclass
join api_view o on o.view = d.refobjid and o.schema <> v.schema;
