--! Previous: sha1:7ef1fb928ca02f6e927c5eec7ead6ed02c57873f
--! Hash: sha1:1298c90d076a59abd2eacd74f01eb9cd36985f22
--! Message: any schema

--! split: 80-any-schema.sql
-- Schemas of others: which ones the API may read, and what must protect them. Nothing here is undone when it
-- runs again: everything depends on the table.
create table if not exists api_meta.exposed_schema (name name primary key);
alter table api_meta.exposed_schema enable row level security;
comment on table api_meta.exposed_schema is
  'Schemas whose tables views of the API may read. api_meta.expose adds one.';

--! Included api_meta/own_schema.sql
create or replace view api_meta.own_schema as
select n.oid, n.nspname as name, n.nspname ~ '^api_(unstable|\d)' as is_api,
  n.nspname ~ '^api_\d' as is_frozen
from pg_catalog.pg_namespace n join pg_catalog.pg_roles o on o.oid = n.nspowner
where n.nspname !~ '^graphile_'
  and (o.rolname = 'service_owner' or exists (
    select from api_meta.exposed_schema e where e.name = n.nspname
  ));
comment on view api_meta.own_schema is
  'The schemas of the service: those that service_owner owns, but for those of packages, called '
  'graphile_…, and those of others that are exposed to the API. is_api: it holds a version of the API; '
  'is_frozen: a released one.';
--! EndIncluded api_meta/own_schema.sql
--! Included api_meta/view_column_source.sql
create or replace view api_meta.view_column_source as
with recursive read (view, through) as (
  select v.view, v.view from api_meta.api_view v
  union
  select r.view, c.oid
  from read r
  join pg_catalog.pg_rewrite w on w.ev_class = r.through
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = w.oid
    and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> r.through
  join pg_catalog.pg_class c on c.oid = d.refobjid and c.relkind = 'v'
)
select v.view, d.refobjid as table_id, d.refobjsubid as attnum, a.attname, a.attnotnull,
  count(*) over (partition by v.view, d.refobjid) as weight
from read v
join pg_catalog.pg_rewrite r on r.ev_class = v.through
join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = r.oid
  and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> v.through and d.refobjsubid > 0
join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid;
comment on view api_meta.view_column_source is
  'Which columns of which tables each API view reads, also through other views. The table with the greatest '
  'weight is what the view is about.';
--! EndIncluded api_meta/view_column_source.sql
--! Included api_meta/expose.sql
create or replace function api_meta.expose(schema name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  strangers text;
begin
  if to_regnamespace(quote_ident(schema)) is null then
    raise exception 'There is no schema %.', schema using errcode = 'invalid_schema_name';
  end if;
  if schema ~ '^(pg_|api_|graphile_)' or schema in (
    'information_schema', 'auth', 'mutation', 'administration'
  ) then
    raise exception 'The schema % is none that the API may read.', schema
      using errcode = 'insufficient_privilege';
  end if;
  select string_agg(distinct o.owner::regrole::text, ', ') into strangers
  from (
    select n.nspowner from pg_namespace n where n.nspname = schema
    union
    select c.relowner from pg_class c
    where c.relnamespace = quote_ident(schema)::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
  ) o (owner)
  where not pg_has_role('service_owner', o.owner, 'usage');
  if strangers is not null then
    raise exception 'The schema % belongs to %, so no rights can be given on it.', schema, strangers
      using errcode = 'insufficient_privilege',
      hint = format('As superuser: grant %s to service_owner;', strangers);
  end if;
  insert into api_meta.exposed_schema (name) values (schema) on conflict do nothing;
end
$$;
comment on function api_meta.expose(name) is
  'Says that views of the API may read a schema. Rights, policies and lints follow. Row-level security is '
  'left as it is: api_meta.derive() refuses views that read tables without it.';
--! EndIncluded api_meta/expose.sql
--! Included api_meta/read_faults.sql
create or replace function api_meta.read_faults() returns setof text
language sql stable set search_path = pg_catalog, pg_temp as $$
  with source as (
    select distinct s.view::regclass as view, c.oid::regclass as relation, c.relkind, c.relrowsecurity,
      n.nspname as schema, coalesce('security_invoker=true' = any (c.reloptions), false) as as_caller,
      exists (
        select from api_meta.view_tag(s.view, 'requiresScopes')
      ) as has_scope,
      exists (
        select from pg_rewrite r
        join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
        where r.ev_class = s.view and d.refobjid = 'auth.has_scope(text[])'::regprocedure
      ) as asks_for_scope
    from api_meta.view_column_source s
    join pg_class c on c.oid = s.table_id
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname !~ '^(pg_catalog$|information_schema$|api_)'
  )
  select format('%s reads %s, but the schema %s is not exposed to the API: select api_meta.expose(%L);',
    view, relation, schema, schema)
  from source where schema not in (select e.name from api_meta.exposed_schema e)
  union all
  select format(
    '%s reads %s, whose row-level security is off, so that a policy would be without effect: '
      'alter table %s enable row level security;', view, relation, relation
  )
  from source where relkind in ('r', 'p') and not relrowsecurity and has_scope
  union all
  select format('%s reads %s, of which Postgres can hide no rows: let the view of the API do it, '
    'where (select auth.has_scope(''…:read''))', view, relation)
  from source where relkind in ('m', 'f') and not asks_for_scope
  union all
  select format('%s reads the view %s, which reads with the rights of its owner, past row-level security: '
    'alter view %s set (security_invoker = true);', view, relation, relation)
  from source where relkind = 'v' and not as_caller
$$;
comment on function api_meta.read_faults() is
  'What views of the API read without its being protected, or without the schema''s being exposed, '
  'each with what to do.';
--! EndIncluded api_meta/read_faults.sql
--! Included api_meta/require_protected_reads.sql
create or replace function api_meta.require_protected_reads() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  faults constant text := (select string_agg(f, E'\n' order by f) from api_meta.read_faults() f);
begin
  if faults is not null then
    raise exception '%', faults using errcode = 'UE091';
  end if;
end
$$;
comment on function api_meta.require_protected_reads() is
  'Refuses, with SQLSTATE UE091, when a view of the API reads what is not protected (api_meta.read_faults).';
--! EndIncluded api_meta/require_protected_reads.sql
--! Included api_meta/grant_reads.sql
create or replace function api_meta.grant_reads() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in select distinct schema as name from api_meta.api_view
    union select distinct c.relnamespace::regnamespace::text
    from api_meta.view_column_source s
    join pg_class c on c.oid = s.table_id
    union select 'erp'
  loop
    if not has_schema_privilege('service_api', item.name, 'usage') then
      execute format('grant usage on schema %I to service_api', item.name);
    end if;
  end loop;
  for item in select view from api_meta.api_view where not has_table_privilege('service_api', view, 'select')
  loop
    execute format('grant select on %s to service_api', item.view::regclass);
  end loop;
  -- by column: the role can't read columns that no view reads
  for item in
    select a.attrelid::regclass as relation, a.attname, c.relkind,
      exists (
        select from api_meta.view_column_source s where s.table_id = a.attrelid and s.attnum = a.attnum
      ) as wanted
    from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p', 'v', 'm', 'f')
    join api_meta.own_schema o on o.oid = c.relnamespace and not o.is_api
    where a.attnum > 0 and not a.attisdropped
  loop
    if item.wanted and not has_column_privilege('service_api', item.relation::oid, item.attname, 'select')
    then
      execute format('grant select (%I) on %s to service_api', item.attname, item.relation);
    elsif not item.wanted and item.relkind in ('r', 'p')
      and has_column_privilege('service_api', item.relation::oid, item.attname, 'select')
    then
      execute format('revoke select (%I) on %s from service_api', item.attname, item.relation);
    end if;
  end loop;
end
$$;
comment on function api_meta.grant_reads() is
  'Lets service_api read the API views and exactly those columns of tables that the views read. Changes '
  'only what differs.';
--! EndIncluded api_meta/grant_reads.sql
--! Included api_meta/grant_mutations.sql
create or replace function api_meta.grant_mutations() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in select distinct schema from api_meta.api_view where not has_schema_privilege(
    'service_writer', schema, 'usage'
  ) loop
    execute format('grant usage on schema %I to service_writer', item.schema);
  end loop;
  for item in
    select p.oid::regprocedure as routine from pg_proc p
    where p.pronamespace in (select schema::text::regnamespace from api_meta.api_view)
      and not has_function_privilege('service_writer', p.oid, 'execute')
  loop
    execute format('grant execute on function %s to service_writer', item.routine);
  end loop;
  for item in
    select p.oid::regprocedure as routine from pg_proc p
    where p.pronamespace in (select schema::text::regnamespace from api_meta.api_view)
      and p.provolatile <> 'v' and not has_function_privilege('service_api', p.oid, 'execute')
  loop
    execute format('grant execute on function %s to service_api', item.routine);
  end loop;
end
$$;
comment on function api_meta.grant_mutations() is
  'Lets service_writer, as which mutation.run works, execute the functions of the API schemas, '
  'and service_api those that change nothing, which are columns that are worked out. Changes '
  'only what differs.';
--! EndIncluded api_meta/grant_mutations.sql
--! Included api_meta/derive.sql
create or replace function api_meta.derive() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform api_meta.require_protected_reads();
  perform api_meta.describe();
  perform api_meta.grant_reads();
  perform api_meta.grant_mutations();
  perform api_meta.protect_reads();
end
$$;
comment on function api_meta.derive() is
  'Everything that follows from the API schemas: descriptions, grants, policies. Runs after each '
  'migration; running it again changes nothing.';
--! EndIncluded api_meta/derive.sql
--! Included api_meta/freeze.sql
create or replace function api_meta.freeze(source name, target name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  if to_regnamespace(quote_ident(target)) is not null then
    raise exception 'There is a schema % already.', target using errcode = 'duplicate_schema',
      hint = format(
        'If a migration that was being written has left it: drop schema %I cascade; '
        'select api_meta.forget_version(%L);', target, target
      );
  end if;
  -- The source of the clone is complete only after this
  perform api_meta.derive();
  execute format('create schema %I', target);
  execute format('comment on schema %I is %L', target, concat_ws(E'\n',
    substring(obj_description(source::text::regnamespace, 'pg_namespace') from '(?n)^@floats.*$'),
    'Frozen clone of ' || source || '.'));
  perform api_meta.clone_types(source, target);
  for item in
    select c.oid, c.relname, obj_description(c.oid, 'pg_class') as note from pg_class c
    where c.relnamespace = source::text::regnamespace and c.relkind = 'v' order by c.oid
  loop
    execute format('create view %I.%I with (security_invoker = true) as %s', target, item.relname,
      replace(pg_get_viewdef(item.oid), quote_ident(source) || '.', quote_ident(target) || '.'));
    execute format('comment on view %I.%I is %L', target, item.relname, item.note);
    perform api_meta.clone_column_comments(source, target, item.relname);
  end loop;
  perform api_meta.clone_functions(source, target);
  perform api_meta.record_version(target);
end
$$;
comment on function api_meta.freeze(name, name) is
  'Clones an API schema under a new name: types, views, functions, and their comments, after deriving '
  'what follows from it; grants follow by api_meta.derive(). Records what the clone consists of, so '
  'that no later migration changes it by accident. It reads the same tables; views are bound to tables '
  'by identity, so renaming a table or a column does not touch it.';
--! EndIncluded api_meta/freeze.sql

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
