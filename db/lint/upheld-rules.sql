-- Checks that are declared as not enforced, and that no trigger upholds. Where the trigger is missing,
-- switched off, or older than the check, nothing refuses rows that break the rule.
-- Way out: select api_meta.derive_rules(), or: alter table OBJECT enable trigger uphold_rules
select c.conrelid::regclass as object, c.conname
from pg_constraint c
where c.contype = 'c' and not c.conenforced and not exists (
  select from pg_trigger t join pg_proc p on p.oid = t.tgfoid
  where t.tgrelid = c.conrelid and t.tgname = 'uphold_rules' and t.tgenabled <> 'D'
    and strpos(p.prosrc, quote_literal(c.conname)) > 0
);
