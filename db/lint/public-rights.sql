-- Rights of every role that can log in: to make temporary tables or large objects, notify, create anything,
-- or use a table. Roles that need them get them by name (db/fence.sql).
-- Remedy: revoke it from public, and grant it to the role that needs it.
select 'public' as role, 'temporary tables' as object
where has_database_privilege('public', current_database(), 'temporary')
union all
select 'public', 'schemas' where has_database_privilege('public', current_database(), 'create')
union all
select 'public', format('schema %s: create', n.nspname)
from pg_namespace n
where has_schema_privilege('public', n.oid, 'create')
union all
select 'public', p.oid::regprocedure::text from pg_proc p
where p.pronamespace = 'pg_catalog'::regnamespace
  and (p.proname ~ '^lo_' or p.proname in ('loread', 'lowrite', 'pg_notify'))
    and has_function_privilege('public', p.oid, 'execute')
union all
select 'public', c.oid::regclass::text from pg_class c join api_meta.own_schema s on s.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'S')
  and exists (select from aclexplode(c.relacl) a where a.grantee = 0);
