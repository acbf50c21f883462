-- auth.has_scope, by which all policies decide, says yes without the scope, or no with it.
-- Remedy: --!include auth/has_scope.sql in a migration: OBJECT has to be what that file makes of it.
with caller as materialized (
  select set_config('service.scopes', scopes, true) as scopes, asked, expected
  from (values ('lint:read', 'lint:read', true), ('lint:read', 'lint:write', false), ('', 'lint:read', false))
    c (scopes, asked, expected)
)
select 'auth.has_scope(text[])' as object, format('%s for %s: %s', c.asked, c.scopes, not c.expected) as fault
from caller c
where c.scopes is not null and auth.has_scope(c.asked) is distinct from c.expected;
