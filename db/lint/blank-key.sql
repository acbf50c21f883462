-- Texts of unique keys that mutations write, and that nothing keeps from being blank. All rows of a client
-- who sends "" for none would be the same one: an upsert would put the second over the first.
-- Remedy: alter table OBJECT add check (not erp.is_blank(code)), with a user error in its comment. A
-- pattern, a length from 1, a list of values or a foreign key will do; or '@internal' in the comment of the
-- unique key, and which function sees to it.
select i.indrelid::regclass as object, a.attname
from pg_index i
join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey::smallint[])
where i.indisunique and a.atttypid in ('text'::regtype, 'varchar'::regtype)
  and has_column_privilege('service_writer', i.indrelid, a.attnum, 'insert, update')
  and coalesce((
    select obj_description(c.oid, 'pg_constraint') from pg_constraint c
    where c.conindid = i.indexrelid and c.contype in ('p', 'u')
  ), obj_description(i.indexrelid, 'pg_class'), '') !~ '^@internal'
  and not exists (
    select from pg_constraint f
    where f.contype = 'f' and f.conrelid = i.indrelid and a.attnum = any (f.conkey)
  )
  and not exists (
    select from pg_constraint k
    where k.contype = 'c' and k.conrelid = i.indrelid and a.attnum = any (k.conkey)
      and pg_get_constraintdef(k.oid) ~ format(
        '(is_(blank|web_address)\(%1$s\)|\y%1$s = ANY|\y%1$s ~ |length\(%1$s\) >= )', a.attname)
  );
