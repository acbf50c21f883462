-- Columns of API views, and API types, without a description; tables and functions without a comment.
-- Remedy: comment on … OBJECT is '…'. The column of a view takes the comment of the table's column of the
-- same name.
select format('%I.%I.%I', v.schema, v.name, a.attname) as object
from api_meta.api_view v join pg_attribute a on a.attrelid = v.view and a.attnum > 0 and not a.attisdropped
where coalesce(col_description(v.view, a.attnum), '') !~ '(?n)^[^@\s]'
  and coalesce(col_description(v.view, a.attnum), '') !~ '@behavior -\*'
  and not exists (select from api_meta.view_tag(v.view, 'behavior') b where b = '-*')
union all
select c.oid::regclass::text from pg_class c join api_meta.own_schema s on s.oid = c.relnamespace
where c.relkind in ('r', 'v') and obj_description(c.oid, 'pg_class') is null
union all
select p.oid::regprocedure::text from pg_proc p join api_meta.own_schema s on s.oid = p.pronamespace
where obj_description(p.oid, 'pg_proc') is null;
