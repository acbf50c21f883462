-- Tables and views that a role which serves requests owns, and rights to write that service_api has.
select c.oid::regclass::text as object, c.relowner::regrole::text as role
from pg_class c where c.relowner in (
  'service_login'::regrole, 'service_api'::regrole, 'service_auth'::regrole, 'service_document'::regrole,
  'service_worker'::regrole, 'service_writer'::regrole,
  'service_ledger'::regrole, 'service_keeper'::regrole, 'service_administration'::regrole, 'service_registrar'::regrole,
  'service_delivery'::regrole, 'service_recorder'::regrole)
union all
select c.oid::regclass::text, 'service_api may write'
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname not like 'pg\_%' and n.nspname <> 'information_schema' and c.relkind in ('r', 'p', 'v')
  and (has_table_privilege('service_api', c.oid, 'insert, update, delete, truncate') or has_any_column_privilege('service_api', c.oid, 'insert, update'));
