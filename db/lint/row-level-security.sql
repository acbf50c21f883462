-- Tables without row-level security. A grant alone, made by mistake, would open all of their rows.
-- Remedy: alter table OBJECT enable row level security
select c.oid::regclass as object
from pg_class c join api_meta.own_schema s on s.oid = c.relnamespace
where c.relkind in ('r', 'p') and not c.relrowsecurity;
