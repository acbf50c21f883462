-- Policies of service_api that differ from what the @requiresScopes tags of the API views say. A scope is
-- declared on the view and nowhere else; api_meta.derive() makes the policies. One for public holds for
-- service_api too, and a restrictive one hides rows from clients that have the scope.
-- Remedy: say in the view's comment who may read it; select api_meta.derive() makes the policy again. Drop
-- one that was made by hand, or give it to other roles. A restrictive one says why it is there:
-- comment on policy … on OBJECT.
with own as materialized (
  select p.* from pg_policy p
  where 'service_api'::regrole = any (p.polroles)
    -- 0: public
    or 0 = any (p.polroles) and exists (select from api_meta.read_policy r where r.table_id = p.polrelid)
)
select coalesce(r.table_id, p.polrelid)::regclass as object, r.qualifier as declared,
  pg_get_expr(p.polqual, p.polrelid) as found
from api_meta.read_policy r full join (select * from own where polpermissive) p on p.polrelid = r.table_id
where r.qualifier is distinct from pg_get_expr(p.polqual, p.polrelid) or p.polcmd <> 'r'
union all
select p.polrelid::regclass, 'restrictive', pg_get_expr(p.polqual, p.polrelid)
from own p where not p.polpermissive and obj_description(p.oid, 'pg_policy') is null;
