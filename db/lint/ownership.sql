-- Tables and views that a role which serves requests owns, and rights to write that service_api has.
-- Remedy: alter … OBJECT owner to service_owner; revoke the right from service_api: it writes by mutations
-- only.
select c.oid::regclass::text as object, r.name::text as role
from pg_class c join api_meta.own_role r on r.oid = c.relowner
where r.is_serving
union all
select c.oid::regclass::text, 'service_api may write'
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname not like 'pg\_%' and n.nspname <> 'information_schema' and c.relkind in ('r', 'p', 'v')
  and (
    has_table_privilege('service_api', c.oid, 'insert, update, delete, truncate')
      or has_any_column_privilege('service_api', c.oid, 'insert, update')
  );
