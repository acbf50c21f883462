-- Functions with the rights of their owner that every role may call.
-- Remedy: revoke execute on function OBJECT from public; and grant it to the role that needs it.
select p.oid::regprocedure as object
from pg_proc p join api_meta.own_schema s on s.oid = p.pronamespace
where p.prosecdef
  and exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0);
