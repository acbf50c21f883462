-- Functions of API schemas that are no mutations: without a scope, or with user errors or warnings that the
-- version does not list; and such that run with the rights of their owner, which is what mutation.run is
-- for.
-- Remedy: give the function's comment @requiresScopes <things>:write, and leave codes out that the
-- version's enums don't have; security invoker.
select p.oid::regprocedure as object, fault
from pg_proc p join api_meta.own_schema s on s.oid = p.pronamespace and s.is_api
cross join lateral (select coalesce(obj_description(p.oid, 'pg_proc'), '') as note) d
cross join lateral (
  select 'no @requiresScopes' as fault
  where p.provolatile = 'v' and note !~ '(?n)^@requiresScopes +[a-z_]+:write'
  union all
  select 'security definer' where p.prosecdef
  union all
  select format('@%s %s', c.tag, code)
  from (values ('userErrors', 'user_error_code'), ('warnings', 'warning_code')) c (tag, enum)
  cross join regexp_split_to_table(substring(note from format('(?n)^@%s +(.*)$', c.tag)), ' +') code
  where not exists (
    select from pg_enum e
    where e.enumtypid = to_regtype(format('%I.%I', s.name, c.enum)) and e.enumlabel = code)
) f;
