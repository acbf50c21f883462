-- Checks that are declared as not enforced, and that no trigger upholds whenever one of their columns is
-- written. Where the trigger is missing, switched off, or older than the check, nothing refuses rows that
-- break the rule.
-- Way out: select api_meta.derive_rules(), or: alter table OBJECT enable trigger uphold_rules
select distinct c.conrelid::regclass as object, c.conname
from pg_constraint c cross join unnest(c.conkey) k
cross join (values (4, null), (16, 1)) e (event, of_column)
where c.contype = 'c' and not c.conenforced and not exists (
  select from pg_trigger t join pg_proc p on p.oid = t.tgfoid
  where t.tgrelid = c.conrelid and t.tgname in ('uphold_rules', 'uphold_figures') and t.tgenabled <> 'D'
    and t.tgtype & e.event > 0 and (e.of_column is null or k = any (t.tgattr::smallint[]))
    and strpos(p.prosrc, quote_literal(c.conname)) > 0
);
