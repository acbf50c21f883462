-- Schemas of others: which ones the API may read, and what must protect them. Nothing here is undone when it
-- runs again: everything depends on the table.
create table if not exists api_meta.exposed_schema (name name primary key);
alter table api_meta.exposed_schema enable row level security;
comment on table api_meta.exposed_schema is
  'Schemas whose tables views of the API may read. api_meta.expose adds one.';

--!include api_meta/own_schema.sql
--!include api_meta/view_column_source.sql
--!include api_meta/expose.sql
--!include api_meta/read_faults.sql
--!include api_meta/require_protected_reads.sql
--!include api_meta/grant_reads.sql
--!include api_meta/grant_mutations.sql
--!include api_meta/derive.sql
--!include api_meta/freeze.sql

select api_meta.expose('erp');
select api_meta.expose('ledger');
select api_meta.expose('events');

-- Whatever is there by now keeps its Floats. In what comes later, bigint and numeric lose no digit.
do $$
declare
  old constant text := obj_description('api_unstable'::regnamespace, 'pg_namespace');
  named constant text := (
    select string_agg(distinct c.relname, ' ' order by c.relname)
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'api_unstable'::regnamespace
      and a.atttypid in ('bigint'::regtype, 'numeric'::regtype, 'bigint[]'::regtype, 'numeric[]'::regtype)
  );
begin
  if old !~ '(?n)^@floats' then
    execute format('comment on schema api_unstable is %L', format(E'@floats %s\n%s', named, old));
  end if;
end
$$;
