-- API views that read with the rights of their owner, and so past row-level security: every caller would
-- see all rows.
-- Remedy: alter view OBJECT set (security_invoker = true)
select v.view::regclass as object
from api_meta.api_view v join pg_class c on c.oid = v.view
where not coalesce('security_invoker=true' = any (c.reloptions), false);
