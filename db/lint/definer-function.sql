-- Functions with the rights of their owner that anybody may call.
select p.oid::regprocedure as object
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where p.prosecdef and (n.nspname in ('erp', 'ledger', 'mutation', 'auth', 'administration', 'events') or n.nspname like 'api\_%')
  and exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0);
