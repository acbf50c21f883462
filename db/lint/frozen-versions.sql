-- Frozen API schemas that read something of another API schema. They would change with it.
-- Way out: read the tables instead, or the view of the same version.
select v.view::regclass as object, d.refobjid::regclass as reads
from api_meta.api_view v
join pg_rewrite r on r.ev_class = v.view
join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
  and d.refclassid = 'pg_class'::regclass
join api_meta.api_view o on o.view = d.refobjid and o.schema <> v.schema;
