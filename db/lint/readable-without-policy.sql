-- Tables that service_api may select from but that have no policy for it: every query would come back
-- empty. api_meta.derive() makes policies, for tables of views with @requiresScopes.
-- Remedy: revoke select on OBJECT from service_api; the view that needs the table says @requiresScopes.
select c.oid::regclass as object
from pg_class c join api_meta.own_schema s on s.oid = c.relnamespace
where c.relkind in ('r', 'p')
  and has_any_column_privilege('service_api', c.oid, 'select')
  and not exists (
    select from pg_policy p where p.polrelid = c.oid and 'service_api'::regrole = any (p.polroles)
  );
