-- Who service_api_login can become beside service_api, and what it may do by itself. Clients' operations
-- run on its connections: a role that holds secrets, or may change roles, must not be within reach there.
-- Remedy: revoke the membership, the attribute or the right from the role that the line names;
-- db/roles.sql has those that it should have.
select r.rolname as role, 'service_api_login can become it' as fault
from pg_roles r
where pg_has_role('service_api_login', r.oid, 'member')
  and r.rolname not in ('service_api_login', 'service_api')
union all
select r.rolname, 'has rights that no table gives'
from pg_roles r
where r.rolname in ('service_api_login', 'service_api')
  and (r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls)
union all
select 'service_api_login', c.oid::regclass::text
from pg_class c join api_meta.own_schema s on s.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm')
  and has_any_column_privilege('service_api_login', c.oid, 'select, insert, update')
union all
select r.name, p.oid::regprocedure::text
from api_meta.own_role r, pg_proc p join api_meta.own_schema s on s.oid = p.pronamespace
where r.name = 'service_api_login' and p.prosecdef and has_function_privilege(r.oid, p.oid, 'execute');
