-- Tables without row-level security. A grant alone, made by mistake, would open all of their rows:
-- alter table ... enable row level security.
select c.oid::regclass as object
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('erp', 'ledger', 'mutation', 'auth', 'administration', 'events') and c.relkind in ('r', 'p') and not c.relrowsecurity;
