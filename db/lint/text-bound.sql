-- Texts, and lists and objects as JSON, that mutations change and that nothing bounds. Each client could
-- make them longer and longer, and then pages that show them would take everybody's memory and time.
-- Remedy: alter table OBJECT add check (length(comment) <= 10000), with a user error in its comment. An
-- index is a bound, too, as are keys of other tables, lists of values, and patterns.
select c.oid::regclass as object, a.attname
from pg_class c join pg_attribute a on a.attrelid = c.oid
where c.relnamespace = 'erp'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0
  and a.atttypid in ('text'::regtype, 'jsonb'::regtype) and a.attgenerated = ''
  and has_column_privilege('service_writer', c.oid, a.attnum, 'update')
  and not exists (
    select from pg_index i
    where a.atttypid = 'text'::regtype and i.indrelid = c.oid and i.indpred is null
      and a.attnum = any (i.indkey::smallint[])
  )
  and not exists (
    select from pg_constraint f
    where f.contype = 'f' and f.conrelid = c.oid and a.attnum = any (f.conkey)
  )
  and not exists (
    select from pg_constraint k
    where k.contype = 'c' and k.conrelid = c.oid and a.attnum = any (k.conkey)
      and pg_get_constraintdef(k.oid) ~ (format('(length\(+%1$s\y|\y%1$s = ANY|\y%1$s ~ )', a.attname))
  );
