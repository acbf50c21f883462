-- Attributes of roles, and what roles own, which lints of db/lint don't see.
with fault (role, fault) as (
  select rolname, 'is superuser, may make roles or databases, replicates, or bypasses policies'
  from pg_roles
  where rolname ~ '^service_'
    and (rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls)
  union all
  select r.rolname, 'owns ' || c.oid::regclass
  from pg_class c join pg_roles r on r.oid = c.relowner
  where r.rolname in ('service_api', 'service_api_login', 'service_login')
  union all
  select rolname, 'may become service_owner'
  from pg_roles
  where rolname in ('service_api', 'service_api_login', 'service_login')
    and pg_has_role(oid, 'service_owner', 'member')
)
select 'error' as severity, format('The role %s %s.', role, fault) as what,
  'Take that from it; db/roles.sql has what each role should have.' as "toDo"
from fault;
