-- Policies of service_api that differ from what the @requiresScopes tags of the API views say. A scope is
-- declared on the view and nowhere else; api_meta.derive() makes the policies. Restrictive ones, which open
-- nothing, may come on top.
-- Way out: say in the view's comment who may read it; select api_meta.derive() makes the policy again. Drop
-- one that was made by hand.
select coalesce(r.table_id, p.polrelid)::regclass as object, r.qualifier as declared,
  pg_get_expr(p.polqual, p.polrelid) as found
from api_meta.read_policy r
full join (select * from pg_policy where 'service_api'::regrole = any (polroles) and polpermissive) p
  on p.polrelid = r.table_id
where r.qualifier is distinct from pg_get_expr(p.polqual, p.polrelid) or p.polcmd <> 'r';
