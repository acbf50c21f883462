-- Checks and foreign keys that are declared as not enforced, and that no trigger upholds whenever one of
-- their columns is written, by a trigger of another column too, or what they refer to is deleted. Where the
-- trigger is missing, switched off, older than the rule, or comes before another that sets the column,
-- nothing refuses rows that break it.
-- Remedy: select api_meta.derive_rules(), api_meta.derive_references(), or: alter table OBJECT enable
-- trigger uphold_rules; a foreign key of several columns has to be enforced; a trigger that sets a column
-- needs a name before uphold
select distinct c.conrelid::regclass as object, c.conname
from pg_constraint c cross join unnest(api_meta.columns_behind(c.conrelid, c.conkey)) k
cross join (values (4, null), (16, 1)) e (event, of_column)
where c.contype = 'c' and not c.conenforced and not exists (
  select from pg_trigger t join pg_proc p on p.oid = t.tgfoid
  where t.tgrelid = c.conrelid and t.tgname in ('uphold_rules', 'uphold_figures') and t.tgenabled <> 'D'
    and t.tgtype & e.event > 0 and (e.of_column is null or k = any (t.tgattr::smallint[]))
    and strpos(p.prosrc, quote_literal(c.conname)) > 0
)
union all
select distinct c.conrelid::regclass, c.conname
from pg_constraint c cross join lateral api_meta.filling_triggers(c.conrelid, c.conkey) t
where c.contype = 'c' and not c.conenforced and t.tgname > 'uphold'
union all
select c.conrelid::regclass, c.conname
from pg_constraint c
cross join lateral (values ('check_references_of_new', c.conrelid),
  ('check_references_of_changed', c.conrelid), ('check_references_to_gone', c.confrelid),
  ('check_references_to_changed', c.confrelid)) e (name, relation)
where c.contype = 'f' and not c.conenforced and (cardinality(c.conkey) > 1 or not exists (
  select from pg_trigger t join pg_proc p on p.oid = t.tgfoid
  where t.tgrelid = e.relation and t.tgname = e.name and t.tgenabled <> 'D' and case e.name
    when 'check_references_of_new' then strpos(p.prosrc, quote_literal(c.conname)) > 0
    when 'check_references_of_changed' then c.conkey[1] = any (t.tgattr::smallint[])
    else true end
));
