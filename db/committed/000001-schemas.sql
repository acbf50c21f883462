--! Previous: -
--! Hash: sha1:438d96088b71ebd31429565088585a9537f7692c
--! Message: schemas

-- The schemas, and what keeps their rights, descriptions and versions. Nothing is open to the public: grants
-- follow from the API views (api_meta.derive) or stand beside the object that they open.

create schema erp;
create schema ledger;
create schema auth;
create schema mutation;
create schema administration;
create schema events;
create schema bulk;
create schema search;
create schema api_meta;
create schema api_unstable;
alter default privileges revoke execute on functions from public;

comment on schema erp is
  'Tables of the shop and the rules about them. Not an interface: clients read the api schemas.';
comment on schema ledger is
  'Posting of stock movements, and the proof that every stored figure follows from them.';
comment on schema auth is
  'API credentials, signing keys and the functions that decide what a caller may see.';
comment on schema mutation is
  'What all mutations have in common: the way in, keys that make repetitions harmless, user errors.';
comment on schema administration is
  'Functions behind the pages of the administration. Each but those about logging in asks for a session '
  'that is alive.';
comment on schema events is 'Webhook subscriptions and what is delivered to them.';
comment on schema bulk is
  'Files of many rows on their way in and out, which background work reads and writes.';
comment on schema search is
  'Functions that find rows by words, one for each view of the API that can be searched.';
comment on schema api_meta is
  'Functions that derive grants, policies and descriptions of the api schemas, and that freeze a version.';

grant usage on schema erp to service_api, service_booker, service_document, service_keeper, service_ledger,
  service_searcher, service_worker, service_writer;
grant usage on schema ledger to service_api, service_booker, service_ledger, service_recorder,
  service_writer;
grant usage on schema auth to service_administration, service_api, service_auth, service_delivery,
  service_keeper, service_limiter, service_registrar, service_searcher, service_worker, service_writer;
grant usage on schema mutation to service_api, service_booker, service_ledger, service_worker,
  service_writer;
grant usage on schema administration to service_administration, service_registrar;
grant usage on schema events to service_api, service_booker, service_delivery, service_recorder,
  service_registrar, service_worker, service_writer;
grant usage on schema bulk to service_worker, service_writer;
grant usage on schema search to service_api, service_searcher;
grant usage on schema api_meta to service_login, service_worker;

create table api_meta.frozen_version (
  name name primary key,
  postgres integer not null,
  recorded_at timestamptz not null default now()
);
alter table api_meta.frozen_version enable row level security;
comment on table api_meta.frozen_version is
  'The frozen versions of the API of which it was recorded what they consist of.';
comment on column api_meta.frozen_version.name is 'The schema that holds the version.';
comment on column api_meta.frozen_version.postgres is
  'The major version of Postgres whose spelling the hashes of queries and bodies have.';

create table api_meta.frozen_part (
  version name not null references api_meta.frozen_version on delete cascade,
  kind text not null,
  name text not null,
  parent text,
  definition text not null,
  tree text,
  primary key (version, kind, name)
);
alter table api_meta.frozen_part enable row level security;
comment on table api_meta.frozen_part is
  'What each frozen version consisted of when it was recorded, as api_meta.current_parts tells it.';
comment on column api_meta.frozen_part.parent is
  'The view, type or function that it belongs to; null for these themselves.';
comment on column api_meta.frozen_part.tree is
  'For queries and bodies: a hash of how Postgres keeps them, which renaming a table does not change.';

create table api_meta.exposed_schema (name name primary key);
alter table api_meta.exposed_schema enable row level security;
comment on table api_meta.exposed_schema is
  'Schemas whose tables views of the API may read. api_meta.expose adds one.';

-- Columns that background work fills in batches
create table api_meta.backfill (
  name text primary key,
  relation regclass not null,
  columns name[] not null,
  expression text not null,
  condition text not null,
  position text[],
  batch_rows integer not null default 100,
  is_stuck boolean not null default false,
  rows_seen bigint not null default 0,
  rows_filled bigint not null default 0,
  declared_at timestamptz not null default clock_timestamp(),
  worked_at timestamptz,
  ended_at timestamptz,
  failure text
);
alter table api_meta.backfill enable row level security;
comment on table api_meta.backfill is
  'What background work fills, or has filled, in batches: declared by migrations, by api_meta.backfill().';
comment on column api_meta.backfill.columns is 'The columns to fill.';
comment on column api_meta.backfill.expression is
  'SQL for their values, out of the other columns of the row.';
comment on column api_meta.backfill.condition is 'SQL for the rows that still need it.';
comment on column api_meta.backfill.position is
  'The primary key up to which all rows are done, as texts; null at the beginning.';
comment on column api_meta.backfill.batch_rows is
  'Rows of the next batch, by the time that the last one took.';
comment on column api_meta.backfill.is_stuck is
  'The next row is locked by others: it is waited for, alone, instead of being passed over.';
comment on column api_meta.backfill.failure is 'Why the last batch failed; null when it did not.';

-- Lists can be searched by words
do $$
begin
  if not exists (select from pg_extension where extname = 'pg_trgm') then
    if not exists (select from pg_available_extensions where name = 'pg_trgm') then
      raise exception 'The service searches by the extension pg_trgm, which this Postgres does not have.'
        using errcode = 'feature_not_supported', hint = 'Install the package of Postgres'' contributed '
          'extensions on its server, such as postgresql18-contrib, and migrate again.';
    end if;
    create schema if not exists extensions;
    begin
      create extension pg_trgm with schema extensions;
    exception when insufficient_privilege then
      raise exception 'The service searches by the extension pg_trgm, which service_owner may not create.'
        using errcode = 'insufficient_privilege',
          hint = 'As superuser, in this database: create extension pg_trgm; and migrate again.';
    end;
  end if;
end
$$;

--! Included api_meta/add_values.sql
create or replace function api_meta.add_values(enum regtype, variadic labels text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  label text;
begin
  foreach label in array labels loop
    execute format('alter type %s add value if not exists %L', enum, label);
  end loop;
end
$$;
comment on function api_meta.add_values(regtype, text[]) is
  'Adds the labels that an enum lacks, at its end. So codes come without anything being dropped that '
  'uses the enum.';
--! EndIncluded api_meta/add_values.sql
--! Included api_meta/allow.sql
create or replace function api_meta.allow(audience regrole, relation regclass, variadic rights text[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  name constant name := (select relname from pg_class where oid = relation);
  entitled text;
  action text;
  policy name;
begin
  foreach entitled in array rights loop
    action := split_part(entitled, ' ', 1);
    policy := format('%s_%s_%s', name, action, replace(audience::text, 'service_', ''));
    execute format('grant %s on %s to %s', entitled, relation, audience);
    execute format('drop policy if exists %I on %s', policy, relation);
    execute format('create policy %I on %s for %s to %s %s', policy, relation, action, audience,
      case action
        when 'insert' then 'with check (true)'
        when 'update' then 'using (true) with check (true)'
        else 'using (true)' end);
  end loop;
end
$$;
comment on function api_meta.allow(regrole, regclass, text[]) is
  'Gives a role that runs functions rights on a table: select, insert, update or delete, each with a '
  'list of columns in parentheses if not all, and the policies that open the rows. Which rows it '
  'changes is up to the functions.';
--! EndIncluded api_meta/allow.sql
--! Included api_meta/own_schema.sql
create or replace view api_meta.own_schema as
select n.oid, n.nspname as name, n.nspname ~ '^api_(unstable|\d)' as is_api,
  n.nspname ~ '^api_\d' as is_frozen
from pg_catalog.pg_namespace n join pg_catalog.pg_roles o on o.oid = n.nspowner
where n.nspname !~ '^graphile_' and n.nspname <> 'extensions'
  and (o.rolname = 'service_owner' or exists (
    select from api_meta.exposed_schema e where e.name = n.nspname
  ));
comment on view api_meta.own_schema is
  'The schemas of the service: those that service_owner owns, but for those of packages, called '
  'graphile_… and extensions, and those of others that are exposed to the API. is_api: it holds a '
  'version of the API; is_frozen: a released one.';
--! EndIncluded api_meta/own_schema.sql
--! Included api_meta/api_view.sql
create or replace view api_meta.api_view as
select c.oid as view, s.name as schema, c.relname as name
from pg_catalog.pg_class c join api_meta.own_schema s on s.oid = c.relnamespace
where s.is_api and c.relkind = 'v';
comment on view api_meta.api_view is 'The views of every API schema.';
--! EndIncluded api_meta/api_view.sql
--! Included api_meta/backfill.sql
create or replace function api_meta.backfill(
  name text, relation regclass, columns name[], expression text, condition text
) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  declared api_meta.backfill;
begin
  if not exists (select from pg_index i where i.indrelid = backfill.relation and i.indisprimary) then
    raise exception 'The table % has no primary key, by which it could be filled in batches.',
      backfill.relation using errcode = 'UE093';
  end if;
  insert into api_meta.backfill as b (name, relation, columns, expression, condition)
  values (backfill.name, backfill.relation, backfill.columns, backfill.expression, backfill.condition)
  on conflict on constraint backfill_pkey do update set relation = excluded.relation,
    columns = excluded.columns, expression = excluded.expression, condition = excluded.condition,
    position = null, batch_rows = excluded.batch_rows, is_stuck = false, rows_seen = 0, rows_filled = 0,
    declared_at = excluded.declared_at, worked_at = null, ended_at = null, failure = null
  returning b.* into declared;
  -- A mistake in it is found now, and not by the first batch
  execute api_meta.fill_statement(declared) using 0;
  if to_regproc('graphile_worker.add_job') is not null then
    perform graphile_worker.add_job('backfill', job_key => 'backfill');
  end if;
end
$$;
comment on function api_meta.backfill(text, regclass, name[], text, text) is
  'Has background work fill columns of a table in batches: those rows that meet the condition, with the '
  'expression, or a list of them for several columns. Filled rows must not meet it any more. Declared '
  'again, it begins anew.';
--! EndIncluded api_meta/backfill.sql
--! Included api_meta/backfill_progress.sql
create or replace view api_meta.backfill_progress as
select b.name, b.relation::text as relation, b.rows_seen, b.rows_filled,
  case when b.ended_at is not null then b.rows_seen when c.reltuples >= 0
    then greatest(c.reltuples::bigint, b.rows_seen) end as rows_total,
  case when b.ended_at is not null then 'ended' when b.failure is not null then 'fails'
    when b.worked_at is null then 'waits' else 'works' end as state,
  b.failure, b.declared_at, b.worked_at, b.ended_at
from api_meta.backfill b left join pg_class c on c.oid = b.relation;
comment on view api_meta.backfill_progress is
  'How far backfills are. rows_total is an estimate, and null when the table was never analyzed.';
--! EndIncluded api_meta/backfill_progress.sql
--! Included api_meta/clone_column_comments.sql
create or replace function api_meta.clone_column_comments(source name, target name, relation name)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    select a.attname, col_description(a.attrelid, a.attnum) as note from pg_attribute a
    where a.attrelid = format('%I.%I', source, relation)::regclass and a.attnum > 0 and not a.attisdropped
      and col_description(a.attrelid, a.attnum) is not null
  loop
    execute format('comment on column %I.%I.%I is %L', target, relation, item.attname, item.note);
  end loop;
end
$$;
comment on function api_meta.clone_column_comments(name, name, name) is
  'Copies the comments of the columns of a view or a composite type to that of the same name in another '
  'API schema.';
--! EndIncluded api_meta/clone_column_comments.sql
--! Included api_meta/clone_functions.sql
create or replace function api_meta.clone_functions(source name, target name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
  signature text;
  from_prefix constant text := quote_ident(source) || '.';
  to_prefix constant text := quote_ident(target) || '.';
begin
  for item in
    select p.oid, pg_get_functiondef(p.oid) as definition, obj_description(p.oid, 'pg_proc') as note,
      p.proname, p.oid::regprocedure::text as signature
    from pg_proc p
    where p.pronamespace = source::text::regnamespace
      and not exists (
        select from pg_proc o where o.pronamespace = target::text::regnamespace and o.proname = p.proname
      )
    order by p.oid
  loop
    execute replace(item.definition, from_prefix, to_prefix);
    execute format(
      'comment on function %s is %L', replace(item.signature, from_prefix, to_prefix), item.note
    );
  end loop;
end
$$;
comment on function api_meta.clone_functions(name, name) is
  'Clones the functions of an API schema, its mutations, that another one lacks. The types that they '
  'use must be there. Grants follow by api_meta.derive().';
--! EndIncluded api_meta/clone_functions.sql
--! Included api_meta/clone_types.sql
create or replace function api_meta.clone_types(source name, target name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
  from_prefix constant text := quote_ident(source) || '.';
  to_prefix constant text := quote_ident(target) || '.';
begin
  for item in
    select t.oid, t.typname, t.typtype, t.typrelid, obj_description(t.oid, 'pg_type') as note
    from pg_type t left join pg_class c on c.oid = t.typrelid
    where t.typnamespace = source::text::regnamespace
      and (t.typtype = 'e' or (t.typtype = 'c' and c.relkind = 'c'))
      and to_regtype(to_prefix || quote_ident(t.typname)) is null
    order by t.oid
  loop
    if item.typtype = 'e' then
      execute format('create type %I.%I as enum (%s)', target, item.typname,
        (
          select string_agg(quote_literal(enumlabel), ', ' order by enumsortorder)
          from pg_enum
          where enumtypid = item.oid
        ));
    else
      execute format('create type %I.%I as (%s)', target, item.typname,
        (select string_agg(format('%I %s', attname,
          replace(format_type(atttypid, atttypmod), from_prefix, to_prefix)), ', ' order by attnum)
        from pg_attribute where attrelid = item.typrelid and attnum > 0 and not attisdropped));
      perform api_meta.clone_column_comments(source, target, item.typname);
    end if;
    execute format('comment on type %I.%I is %L', target, item.typname, item.note);
  end loop;
end
$$;
comment on function api_meta.clone_types(name, name) is
  'Clones the enums and composite types of an API schema that another one lacks.';
--! EndIncluded api_meta/clone_types.sql
--! Included api_meta/part_note.sql
create or replace function api_meta.part_note(note text) returns text
language sql immutable
return coalesce(E'\n' || note, '');
comment on function api_meta.part_note(text) is
  'A comment, as the definition of a part of a version ends with it.';
--! EndIncluded api_meta/part_note.sql
--! Included api_meta/current_parts.sql
create or replace function api_meta.current_parts(version name)
returns table (kind text, name text, parent text, definition text, tree text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with relation as (
    select c.oid, c.relname::text as name, c.relkind, c.reltype, c.reloptions from pg_class c
    where c.relnamespace = to_regnamespace(quote_ident(version)) and c.relkind in ('v', 'c')
  ), note as not materialized (
    select d.classoid, d.objoid, d.objsubid, d.description as text from pg_description d
  )
  select 'view', r.name, null,
    case when 'security_invoker=true' = any (r.reloptions) then 'security_invoker' else '' end
      || api_meta.part_note(n.text), null
  from relation r
  left join note n on n.objoid = r.oid and n.classoid = 'pg_class'::regclass and n.objsubid = 0
  where r.relkind = 'v'
  union all
  -- The tree refers to tables and columns by number, the text by name
  select 'query', r.name, r.name, md5(pg_get_viewdef(r.oid)), md5(w.ev_action::text)
  from relation r join pg_rewrite w on w.ev_class = r.oid and w.rulename = '_RETURN'
  union all
  select case r.relkind when 'v' then 'column' else 'attribute' end, r.name || '.' || a.attname, r.name,
    row_number() over (partition by r.oid order by a.attnum) || '. ' || format_type(a.atttypid, a.atttypmod)
      || api_meta.part_note(n.text), null
  from relation r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
  left join note n on n.objoid = r.oid and n.classoid = 'pg_class'::regclass and n.objsubid = a.attnum
  union all
  select 'type', t.typname, null, case t.typtype when 'e' then
      (select string_agg(e.enumlabel, ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)
      else '' end
      || api_meta.part_note(n.text), null
  from pg_type t left join relation r on r.reltype = t.oid
  left join note n on n.objoid = t.oid and n.classoid = 'pg_type'::regclass
  where t.typnamespace = to_regnamespace(quote_ident(version)) and (t.typtype = 'e' or r.relkind = 'c')
  union all
  select 'function', format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)), null,
    format('returns %s, %s, %s%s%s', pg_get_function_result(p.oid), l.lanname, p.provolatile,
      case when p.proisstrict then ', strict' end, case when p.prosecdef then ', security definer' end)
      || api_meta.part_note(n.text), null
  from pg_proc p join pg_language l on l.oid = p.prolang
  left join note n on n.objoid = p.oid and n.classoid = 'pg_proc'::regclass
  where p.pronamespace = to_regnamespace(quote_ident(version))
  union all
  select 'body', format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
    format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
    md5(concat_ws(E'\n', coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), p.proconfig::text)),
    md5(p.prosqlbody::text)
  from pg_proc p where p.pronamespace = to_regnamespace(quote_ident(version))
$$;
comment on function api_meta.current_parts(name) is
  'What a version of the API consists of now: views with their queries and columns, types with their '
  'attributes, functions with their bodies. definition ends with the comment; that of a query or body is an '
  'MD5 hash of its text, and tree one of how Postgres keeps it, by object ids.';
--! EndIncluded api_meta/current_parts.sql
--! Included api_meta/derive.sql
create or replace function api_meta.derive() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform events.derive_scopes();
  perform api_meta.require_protected_reads();
  perform api_meta.describe();
  perform api_meta.grant_reads();
  perform api_meta.grant_mutations();
  perform api_meta.protect_reads();
  perform api_meta.derive_searches();
end
$$;
comment on function api_meta.derive() is
  'Everything that follows from the API schemas: descriptions, grants, policies. Runs after each '
  'migration; running it again changes nothing.';
--! EndIncluded api_meta/derive.sql
--! Included api_meta/derive_references.sql
create or replace function api_meta.make_reference_check(relation regclass) returns regprocedure
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  checked record;
  routine text;
  body text;
begin
  select n.nspname as schema, c.relname as name,
    string_agg(format('bool_or(n.%I is not null) as %1$I', r.column), E',\n    ' order by r.name) as named,
    string_agg(format($f$
  if used.%I and exists (
    select from (select distinct n.%1$I as key from new_rows n) n
    where n.key is not null and not exists (select from %s t where t.%I = n.key for key share)
  ) then
    missing := %L;
  end if;$f$, r.column, r.target, r.key, r.name), '' order by r.name) as checks
  into strict checked
  from api_meta.upheld_reference r join pg_class c on c.oid = r.relation
  join pg_namespace n on n.oid = c.relnamespace
  where r.relation = make_reference_check.relation group by n.nspname, c.relname;
  routine := format('%I.%I()', checked.schema, 'check_references_of_' || checked.name);
  body := format($f$
declare
  used record;
  missing text;
begin
  select %s
  into used from new_rows n;%s
  if missing is not null then
    raise foreign_key_violation using constraint = missing, schema = %L, table = %L,
      message = 'insert on table "' || %4$L || '" violates foreign key constraint "' || missing || '"';
  end if;
  return null;
end
$f$, checked.named, checked.checks, checked.schema, checked.name);
  if not exists (select from pg_proc p where p.oid = to_regprocedure(routine) and p.prosrc = body) then
    -- With the rights of the owner of the tables, as foreign keys have them
    execute format(E'create or replace function %s returns trigger\n'
      'language plpgsql security definer set search_path = pg_catalog, pg_temp as %L', routine, body);
    execute format('comment on function %s is %L', routine,
      'Trigger, made by api_meta.derive_references: upholds foreign keys of ' || relation
      || ' that are declared as not enforced.');
    perform api_meta.plan_by_index(routine::regprocedure);
  end if;
  return routine::regprocedure;
end
$$;
comment on function api_meta.make_reference_check(regclass) is
  'Makes the function of a trigger that looks for the rows which new ones refer to, if it is not as it '
  'should be.';

create or replace function api_meta.derive_references() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  -- A trigger that is as it should be isn't made again, for that would lock its table
  for item in
    select r.relation, api_meta.make_reference_check(r.relation) as routine,
      string_agg(quote_ident(r.column), ', ' order by r.name) as columns,
      string_agg(a.attnum::text, ' ' order by r.name) as numbers,
      string_agg(format('new.%I <> old.%1$I or new.%1$I is not null and old.%1$I is null', r.column),
        ' or ' order by r.name) as changes
    from api_meta.upheld_reference r
    join pg_attribute a on a.attrelid = r.relation and a.attname = r.column group by r.relation
  loop
    if not exists (
      select from pg_trigger t where t.tgrelid = item.relation and t.tgname = 'check_references_of_new'
    ) then
      execute format('create trigger check_references_of_new after insert on %s '
        'referencing new table as new_rows for each statement '
        'when (current_user <> ''service_booker''::text) execute function %s', item.relation, item.routine);
    end if;
    if not exists (
      select from pg_trigger t where t.tgrelid = item.relation and t.tgname = 'check_references_of_changed'
        and t.tgattr::text = item.numbers
    ) then
      execute format('create or replace trigger check_references_of_changed before update of %s on %s '
        'for each row when (%s) execute function api_meta.refuse_other_reference()',
        item.columns, item.relation, item.changes);
    end if;
  end loop;
  for item in
    select distinct r.target from api_meta.upheld_reference r where not exists (
      select from pg_trigger t where t.tgrelid = r.target and t.tgname = 'check_references_to_gone')
  loop
    execute format('create trigger check_references_to_gone after delete on %s '
      'referencing old table as gone for each statement execute function api_meta.follow_deletion()',
      item.target);
  end loop;
  for item in
    select distinct r.target, r.key from api_meta.upheld_reference r where not exists (
      select from pg_trigger t where t.tgrelid = r.target and t.tgname = 'check_references_to_changed')
  loop
    execute format('create trigger check_references_to_changed before update of %I on %s '
      'for each row when (new.%1$I <> old.%1$I) execute function api_meta.refuse_other_reference()',
      item.key, item.target);
  end loop;
  for item in
    select t.tgrelid::regclass as relation, t.tgname as name from pg_trigger t
    where t.tgname ~ '^check_references_' and not exists (
      select from api_meta.upheld_reference r
      where t.tgrelid = case when t.tgname ~ '_to_' then r.target else r.relation end)
  loop
    execute format('drop trigger %I on %s', item.name, item.relation);
  end loop;
end
$$;
comment on function api_meta.derive_references() is
  'Makes triggers of the foreign keys that are declared as not enforced, which ask once for each statement, '
  'where an enforced one asks for each row: of the rows that new ones refer to, and of what becomes of those '
  'that refer to a deleted one. Neither side of a reference can be changed. Bookings write no reference to '
  'what they have not locked (ledger.write_stock). Runs after each migration.';
--! EndIncluded api_meta/derive_references.sql
--! Included api_meta/derive_rules.sql
create or replace function api_meta.derive_rules() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    select r.relation, t.name, t.columns, t.name = 'uphold_figures' as is_of_figures,
      concat_ws(' or ', case t.name when 'uphold_rules' then 'insert' end, 'update of ' || a.names) as events
    from (
      select c.conrelid::regclass as relation,
        array_agg(distinct k order by k) filter (where b.is_booked) as booked,
        array_agg(distinct k order by k) filter (where not b.is_booked) as others
      from pg_constraint c cross join unnest(c.conkey) k
      cross join lateral (
        select has_column_privilege('service_booker', c.conrelid, k, 'update')
      ) b (is_booked)
      where c.contype = 'c' and not c.conenforced group by c.conrelid
    ) r
    -- A booking changes little, and is asked for the rules of that only
    cross join lateral (values ('uphold_rules', r.others), ('uphold_figures', r.booked)) t (name, columns)
    cross join lateral (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum) as names
      from pg_attribute a where a.attrelid = r.relation and a.attnum = any (t.columns)
    ) a
    where t.name = 'uphold_rules' or t.columns is not null order by r.relation::text, t.name
  loop
    perform api_meta.uphold(item.relation, item.name, case when item.is_of_figures then item.columns end);
    if not exists (
      select from pg_trigger t where t.tgrelid = item.relation and t.tgname = item.name
        and t.tgattr::text = coalesce(array_to_string(item.columns, ' '), '')
    ) then
      -- By their names they come after all others that change the row
      execute format('create or replace trigger %I before %s on %s for each row execute function %s()',
        item.name, item.events, item.relation, api_meta.upholder(item.relation, item.name));
    end if;
  end loop;
  for item in
    select t.tgrelid::regclass as relation, t.tgname as name, t.tgfoid::regprocedure as routine
    from pg_trigger t
    where t.tgname in ('uphold_rules', 'uphold_figures') and not exists (
      select from pg_constraint c where c.conrelid = t.tgrelid and c.contype = 'c' and not c.conenforced)
  loop
    execute format('drop trigger %I on %s', item.name, item.relation);
    execute format('drop function %s', item.routine);
  end loop;
end
$$;
comment on function api_meta.derive_rules() is
  'Makes triggers of the checks of each table that are declared as not enforced, which refuse the same '
  'rows with the same error: uphold_figures of the checks of columns that bookings update, uphold_rules of '
  'all. Postgres compiles an enforced check anew in each statement, and a generated column as well, so '
  'tables that every booking writes to declare theirs in this way. Runs after each migration.';
--! EndIncluded api_meta/derive_rules.sql
--! Included api_meta/view_tag.sql
create or replace function api_meta.view_tag(view regclass, tag text) returns setof text
language sql stable
begin atomic
  -- In a form that becomes part of the statement that calls it
  select m[1]
  from pg_description d
  cross join lateral regexp_matches(d.description, '(?n)^@' || tag || '[ \t]+(.*)$', 'g') m
  where d.objoid = view and d.classoid = 'pg_class'::regclass and d.objsubid = 0;
end;
comment on function api_meta.view_tag(regclass, text) is
  'The values of one smart tag of a view, a row for each time it is given.';
--! EndIncluded api_meta/view_tag.sql
--! Included api_meta/table_column.sql
create or replace view api_meta.table_column as
select a.attrelid as relation, a.attnum, a.attname as name,
  a.attnotnull and (a.attrelid, a.attnum) not in (
    select c.conrelid, c.conkey[1] from pg_catalog.pg_constraint c
    where c.contype = 'n' and not c.convalidated
  ) as is_never_null
from pg_catalog.pg_attribute a;
comment on view api_meta.table_column is
  'The columns of all tables. is_never_null: no row has null there, for it is not null, and that has been '
  'validated.';
--! EndIncluded api_meta/table_column.sql
--! Included api_meta/view_column_source.sql
create or replace view api_meta.view_column_source as
with recursive link as materialized (
  select w.ev_class as reader, d.refobjid as relation, d.refobjsubid as attnum, c.relkind
  from pg_catalog.pg_rewrite w
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = w.oid
    and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> w.ev_class
  join pg_catalog.pg_class c on c.oid = d.refobjid
), read (view, through) as (
  select v.view, v.view from api_meta.api_view v
  union
  select r.view, l.relation from read r join link l on l.reader = r.through and l.relkind = 'v'
)
select v.view, l.relation as table_id, l.attnum, a.name as attname, a.is_never_null as attnotnull,
  count(*) over (partition by v.view, l.relation) as weight
from read v
join link l on l.reader = v.through and l.attnum > 0
join api_meta.table_column a on a.relation = l.relation and a.attnum = l.attnum;
comment on view api_meta.view_column_source is
  'Which columns of which tables each API view reads, also through other views. The table with the greatest '
  'weight is what the view is about.';
--! EndIncluded api_meta/view_column_source.sql
--! Included api_meta/searched_view.sql
create or replace view api_meta.searched_view as
with tagged as materialized (
  select v.view, v.schema, v.name, to_regclass(m[2]) as kept,
    array(
      select c from regexp_split_to_table(replace(m[1], ' ', ''), ',') with ordinality x (c, n) order by n
    )::name[] as columns,
    array(
      select s from api_meta.view_tag(v.view, 'requiresScopes') r
      cross join regexp_split_to_table(r, '\s+') s where s ~ '^[a-z_]+:[a-z_]+$'
    ) as scopes
  from api_meta.api_view v
  cross join lateral api_meta.view_tag(v.view, 'search') t
  cross join lateral regexp_match(t, '^(.*?)(?:\s+in\s+(\S+))?\s*$') m
), sourced as materialized (
  select t.*, m.table_id::regclass as relation,
    format('search.%I', regexp_replace(t.schema, '^api_', '') || '_' || t.name) as routine
  from tagged t
  left join (
    select distinct on (s.view) s.view, s.table_id from api_meta.view_column_source s
    where s.view = any (array(select t.view from tagged t))
    order by s.view, s.weight desc, s.table_id
  ) m on m.view = t.view
), key as materialized (
  select s.view, s.schema, f[1]::name as col, f[2] as target
  from sourced s
  cross join lateral api_meta.view_tag(s.view, 'foreignKey') k
  cross join lateral regexp_match(k, '^\(([^)]*)\) references (\w+) ') f
  where f[1]::name = any (s.columns)
), related as (
  select k.view, array_agg(k.col::text order by k.col) as links, array_agg(o.view order by k.col) as targets,
    array_agg(o.routine order by k.col) as through
  from key k join sourced o on o.schema = k.schema and o.name = k.target
  group by k.view
)
select s.view, s.schema, s.name, s.relation, s.kept, s.columns, s.scopes,
  s.routine,
  (
    select format('lower((%s) collate pg_catalog.pg_c_utf8)', string_agg(
      format(case when a.attnotnull then '%I::text' else 'coalesce(%I::text, '''')' end, a.attname),
      E' || ''\n'' || ' order by c.n))
    from unnest(s.columns) with ordinality c (name, n)
    join pg_attribute a on a.attrelid = s.relation and a.attname = c.name and a.attnum > 0
    where r.links is null or c.name <> all (r.links::name[])
  ) as words,
  r.links, r.targets, r.through
from sourced s left join related r on r.view = s.view;
comment on view api_meta.searched_view is
  'The views whose lists can be searched, by the tag @search: `@search number,name,customer_id`. A column '
  'with a @foreignKey to such a view finds what belongs to the rows that are found there. words: the text of '
  'the other columns that is searched, as an expression over the table that the view is about; links: '
  'columns with such a key; targets: the views that they lead to; through: the functions that search these. '
  '`in erp.product_words` names a table that keeps that text, by id, for a table that bookings change: '
  'there, an index of it would cost each of them.';
--! EndIncluded api_meta/searched_view.sql
--! Included api_meta/derive_searches.sql
create or replace function api_meta.search_body(wanted api_meta.searched_view) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format($f$
#variable_conflict use_column
declare
  sought constant text[] := search.sought(patterns);%3$s
begin
  if not auth.has_scope(variadic %1$L::text[]) then return '{}'; end if;%4$s
  return search.require_few(array(%2$s));
end
$f$,
    wanted.scopes,
    (
      select string_agg(b.text, E'\n    union\n    ' order by b.n)
      from (
        select 0, format('(select %s from %s where %s limit 10001)',
          case when wanted.kept is null then 'id' else (
            select quote_ident(a.attname) from pg_attribute a
            where a.attrelid = wanted.kept and a.attnum = 1
          ) end, coalesce(wanted.kept, wanted.relation),
          (
            select string_agg(format('%s like sought[%s]',
              case when wanted.kept is null then wanted.words else 'words' end, i), ' and ' order by i)
            from generate_series(1, 6) i
          ))
        where wanted.words is not null
        union all
        select l.n, format('(select id from %s where %I = any (through_%s) limit 10001)',
          wanted.relation, l.col, l.n)
        from unnest(wanted.links) with ordinality l (col, n)
      ) b (n, text)
    ),
    (
      select string_agg(format(E'\n  through_%s uuid[];', l.n), '' order by l.n)
      from unnest(wanted.links) with ordinality l (col, n)
    ),
    (
      select string_agg(format(E'\n  through_%s := %s(patterns);', t.n, t.routine), '' order by t.n)
      from unnest(wanted.through) with ordinality t (routine, n)
    ))
$$;
comment on function api_meta.search_body(api_meta.searched_view) is
  'The body of the function by which a view is searched.';

create or replace function api_meta.make_search(wanted api_meta.searched_view) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  signature constant text := wanted.routine || '(text[])';
  body constant text := api_meta.search_body(wanted);
  -- Only the bitmap of an index finds patterns
  settings constant text[] := array['search_path=pg_catalog, pg_temp', 'plan_cache_mode=force_custom_plan',
    'enable_seqscan=off', 'enable_indexscan=off', 'enable_indexonlyscan=off'];
begin
  if exists (
    select from pg_proc p where p.oid = to_regprocedure(signature) and p.prosrc = body
      and p.proconfig = settings and p.prosecdef and p.proowner = 'service_searcher'::regrole
      and has_function_privilege('service_api', p.oid, 'execute')
      and not has_function_privilege('public', p.oid, 'execute')
  ) then
    return;
  end if;
  execute format('create or replace function %s(patterns text[]) returns uuid[] '
    'language plpgsql stable security definer %s as %L', wanted.routine,
    (select string_agg('set ' || replace(s, '=', ' = '), ' ') from unnest(settings) s), body);
  execute format('comment on function %s is %L', signature,
    format('The ids of rows of %s in which each of the patterns of LIKE, six at most, is found, if the '
      'caller may read them. Made of the tag @search of the view by api_meta.derive_searches().',
      wanted.view::regclass));
  perform api_meta.give(signature::regprocedure, 'service_searcher');
  execute format('revoke execute on function %1$s from public; '
    'grant execute on function %1$s to service_api', signature);
end
$$;
comment on function api_meta.make_search(api_meta.searched_view) is
  'Makes the function by which a view is searched, if it is not as it should be.';

create or replace function api_meta.fill_words() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted api_meta.searched_view;
begin
  for wanted in select * from api_meta.searched_view where kept is not null loop
    execute format('insert into %1$s select id, %2$s from %3$s on conflict (%4$I) do update '
      'set words = excluded.words', wanted.kept, wanted.words, wanted.relation,
      (select attname from pg_attribute where attrelid = wanted.kept and attnum = 1));
  end loop;
end
$$;
comment on function api_meta.fill_words() is
  'Fills the tables that keep the text by which rows are found, also for rows that were written while '
  'triggers were switched off.';

create or replace function api_meta.keep_words(wanted api_meta.searched_view) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  key constant name := (select attname from pg_attribute where attrelid = wanted.kept and attnum = 1);
  routine constant text := format('search.keep_words_of_%s', (parse_ident(wanted.relation::text))[2]);
  body constant text := format($b$
begin
  if tg_op = 'INSERT' then
    insert into %1$s (%2$I, words) select id, %3$s from new_rows
    on conflict (%2$I) do update set words = excluded.words where %4$I.words <> excluded.words;
  else
    insert into %1$s (%2$I, words) select id, %3$s from (select new.*) row
    on conflict (%2$I) do update set words = excluded.words where %4$I.words <> excluded.words;
  end if;
  return null;
end
$b$, wanted.kept, key, wanted.words, (select relname from pg_class where oid = wanted.kept));
  is_same constant boolean := col_description(wanted.kept, 2) is not distinct from wanted.words;
begin
  if not exists (
    select from pg_proc p where p.oid = to_regprocedure(routine || '()') and p.prosrc = body
      and p.prosecdef and p.proowner = 'service_searcher'::regrole
  ) then
    execute format($q$
      create or replace function %1$s() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp as %3$L;
      comment on function %1$s() is
        'Trigger: keeps the text in %2$s by which a row is found. Made by api_meta.derive_searches().';
      revoke execute on function %1$s() from public;
      $q$, routine, wanted.kept, body);
    perform api_meta.give((routine || '()')::regprocedure, 'service_searcher');
  end if;
  -- New rows by one statement. Of others, only those whose text is set: a trigger of columns is one of rows
  if not is_same or not exists (
    select from pg_trigger t where t.tgrelid = wanted.relation and t.tgname = 'keep_words_of_new'
  ) then
    execute format('create or replace trigger keep_words_of_new after insert on %1$s '
      'referencing new table as new_rows for each statement execute function %2$s(); '
      'create or replace trigger keep_words after update of %3$s on %1$s '
      'for each row execute function %2$s()',
      wanted.relation, routine, (select string_agg(quote_ident(c), ', ') from unnest(wanted.columns) c));
  end if;
  if not is_same then
    perform api_meta.fill_words();
    execute format('comment on column %s.words is %L', wanted.kept, wanted.words);
  end if;
end
$$;
comment on function api_meta.keep_words(api_meta.searched_view) is
  'Makes the trigger that keeps the text by which rows are found in a table of its own, and fills that table '
  'where it is something else that is searched now.';

create or replace function api_meta.derive_searches() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  all_wanted constant api_meta.searched_view[] := array(select v from api_meta.searched_view v);
  wanted api_meta.searched_view;
  item record;
begin
  for item in
    select r.relation, format('grant select (%s) on %s to service_searcher',
      string_agg(distinct quote_ident(r.col), ', '), r.relation) as rights,
      bool_and(has_column_privilege('service_searcher', r.relation, r.col, 'select')) as is_granted,
      exists (
        select from pg_policy p where p.polrelid = r.relation and p.polname ~ '_select_searcher$'
      ) as is_open
    from (
      select v.relation, c as col from unnest(all_wanted) v cross join unnest(v.columns || name 'id') c
    ) r
    group by r.relation
  loop
    if not item.is_granted then execute item.rights; end if;
    continue when item.is_open;
    execute format('create policy %I on %s for select to service_searcher using (true)',
      (parse_ident(item.relation::text))[2] || '_select_searcher', item.relation);
  end loop;
  foreach wanted in array all_wanted loop
    if wanted.kept is not null then perform api_meta.keep_words(wanted); end if;
    perform api_meta.make_search(wanted);
  end loop;
  for item in
    select p.oid::regprocedure as routine from pg_proc p
    where p.pronamespace = 'search'::regnamespace and p.prosecdef and p.prorettype = 'uuid[]'::regtype
      and p.oid::regprocedure::text not in (select v.routine || '(text[])' from unnest(all_wanted) v)
  loop
    execute format('drop function %s', item.routine);
  end loop;
end
$$;
comment on function api_meta.derive_searches() is
  'Makes a function of each view with the tag @search, which finds the ids of its rows by words, and the '
  'rights that it needs. Finding is done by the rights of service_searcher, because behind row-level '
  'security Postgres uses no index for LIKE. It gives ids only: what the caller may not read stays out of '
  'sight, because rows are read as ever. Runs after each migration.';
--! EndIncluded api_meta/derive_searches.sql
--! Included api_meta/derive_touches.sql
create or replace function api_meta.derive_touches() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    select t.tgrelid::regclass as relation, c.columns, c.names
    from pg_trigger t
    join pg_attribute u on u.attrelid = t.tgrelid and u.attname = 'updated_at'
    cross join lateral (
      select array_to_string(array_agg(a.attnum order by a.attnum), ' ') as columns,
        string_agg(quote_ident(a.attname), ', ' order by a.attnum) as names
      from pg_attribute a
      where a.attrelid = t.tgrelid and a.attnum > 0 and not a.attisdropped
        and not has_column_privilege('service_booker', a.attrelid, a.attnum, 'update')
    ) c
    where t.tgname = 'touch_updated_at'
      and has_column_privilege('service_booker', u.attrelid, u.attnum, 'update')
      and t.tgattr::text <> c.columns
  loop
    execute format('create or replace trigger touch_updated_at before update of %s on %s for each row '
      'execute function erp.touch_updated_at()', item.names, item.relation);
  end loop;
end
$$;
comment on function api_meta.derive_touches() is
  'Has the triggers touch_updated_at of tables that bookings update stand aside for them: a booking sets '
  'updated_at itself. Neither a condition nor a run is as cheap as a trigger of other columns. Runs after '
  'each migration.';
--! EndIncluded api_meta/derive_touches.sql
--! Included api_meta/describe.sql
create or replace function api_meta.describe() returns void
language plpgsql set search_path = pg_catalog, pg_temp
-- Postgres takes what follows from the catalog for a few rows
set enable_nestloop = off as $$
declare
  col record;
begin
  for col in
    with tagged as materialized (
      select v.*,
        array(
          select unnest(string_to_array(replace(t, ' ', ''), ','))
          from api_meta.view_tag(v.view, 'nullable') t
        ) as nullable,
        array(
          select unnest(string_to_array(replace(t, ' ', ''), ',')) from api_meta.view_tag(v.view, 'hidden') t
        ) as hidden,
        array(select t from api_meta.view_tag(v.view, 'columnEnum') t) as enums
      from api_meta.api_view v
      -- frozen versions keep the words that they were released with
      where v.schema = 'api_unstable'
    ), source as materialized (
      select distinct on (s.view, s.attname) s.* from api_meta.view_column_source s
      where s.view = any (array(select v.view from tagged v))
      order by s.view, s.attname, s.weight desc
    ), index_tag as materialized (
      select i.view, i.name, string_agg(i.tag, E'\n' order by i.tag) as tags
      from api_meta.index_tag i group by i.view, i.name
    ), described as (
      select v.schema, v.name, a.attname, s.table_id, own.description as own,
        concat_ws(E'\n',
          case when s.attnotnull and a.attname <> all (v.nullable) then '@notNull' end,
          case when a.attname = any (v.hidden) then '@behavior -*' end,
          (
            select '@enum ' || split_part(e, ' ', 2) from unnest(v.enums) e
            where split_part(e, ' ', 1) = a.attname
          ),
          i.tags
        ) as tags,
        coalesce(
          below.description,
          case a.attname
            when 'id' then 'Global id.'
            when 'created_at' then 'When it was made.'
            when 'updated_at' then 'When it was last changed; null when it never was.'
          end
        ) as text
      from tagged v
      join pg_attribute a on a.attrelid = v.view and a.attnum > 0 and not a.attisdropped
      left join source s on s.view = v.view and s.attname = a.attname
      left join index_tag i on i.view = v.view and i.name = a.attname
      left join pg_description own on own.classoid = 'pg_class'::regclass
        and own.objoid = v.view and own.objsubid = a.attnum
      left join pg_description below on below.classoid = 'pg_class'::regclass
        and below.objoid = s.table_id and below.objsubid = s.attnum
    )
    select d.schema, d.name, d.attname, w.words
    from described d
    cross join lateral (select nullif(concat_ws(E'\n', nullif(d.tags, ''), d.text), '') as words) w
    -- a comment written by hand beside the view stays; what this function wrote before is written anew
    where (d.own is null or d.table_id is not null and d.text is not null
        or d.own ~ '^(@notNull\n)?@behavior -\*(\n@(indexed|orders).*)*$')
      and w.words is distinct from d.own
  loop
    execute format('comment on column %I.%I.%I is %L', col.schema, col.name, col.attname, col.words);
  end loop;
end
$$;
comment on function api_meta.describe() is
  'Writes the comments of the columns of the views of api_unstable: description and nullability from the '
  'table''s column of the same name, corrected by the view''s tags @nullable, @hidden and @columnEnum, and '
  'what indexes do for it. '
  'Columns that are expressions carry comments of their own. Changes only what differs.';
--! EndIncluded api_meta/describe.sql
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
--! Included api_meta/extend.sql
create or replace function api_meta.extend(version name, variadic views name[] default '{}') returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  view name;
begin
  perform api_meta.derive();
  perform api_meta.clone_types('api_unstable', version);
  foreach view in array views loop
    -- Postgres refuses it unless the columns that are there stay, in their order
    execute format('create or replace view %I.%I with (security_invoker = true) as %s', version, view,
      replace(pg_get_viewdef(format('api_unstable.%I', view)::regclass), 'api_unstable.', version || '.'));
    execute format('comment on view %I.%I is %L', version, view,
      obj_description(format('api_unstable.%I', view)::regclass, 'pg_class'));
    perform api_meta.clone_column_comments('api_unstable', version, view);
  end loop;
  perform api_meta.clone_functions('api_unstable', version);
  perform api_meta.record_version(version);
end
$$;
comment on function api_meta.extend(name, name[]) is
  'Gives a stable version what the head has gained: new columns at the end of views, or whole views, and '
  'the types and functions that it lacks. Records it.';
--! EndIncluded api_meta/extend.sql
--! Included api_meta/fill_batch.sql
create or replace function api_meta.fill_batch(wanted text, max_rows integer, target_ms integer)
returns boolean
language plpgsql set search_path = pg_catalog, pg_temp
set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  begun constant timestamptz := clock_timestamp();
  b api_meta.backfill;
  size integer;
  batch record;
  next_size integer;
begin
  select * into b from api_meta.backfill f where f.name = wanted and f.ended_at is null for update;
  if not found then
    return true;
  end if;
  size := case when b.is_stuck then 1 else least(b.batch_rows, max_rows) end;
  begin
    execute api_meta.fill_statement(b) into batch using size;
  exception
    when lock_not_available or deadlock_detected then
      update api_meta.backfill f set is_stuck = true, worked_at = clock_timestamp() where f.name = wanted;
      return false;
    when others or query_canceled then
      -- Smaller batches take less time, and lead to the row that is at fault
      update api_meta.backfill f set batch_rows = greatest(1, size / 4), worked_at = clock_timestamp(),
        failure = format('%s (in a batch of %s%s)', sqlerrm, size, ' after the key ' || b.position::text)
      where f.name = wanted;
      return false;
  end;
  next_size := size * least(2, target_ms / greatest(1, extract(epoch from clock_timestamp() - begun) * 1000));
  update api_meta.backfill f set position = coalesce(batch.position, f.position),
    -- A batch of one row because of a lock says nothing about the time of others
    batch_rows = case when b.is_stuck then f.batch_rows else greatest(1, least(max_rows, next_size)) end,
    is_stuck = batch.looked > 0 and batch.passed = 0 and batch.filled = 0,
    rows_seen = f.rows_seen + batch.passed, rows_filled = f.rows_filled + batch.filled,
    worked_at = clock_timestamp(), failure = null,
    ended_at = case when batch.looked < size and batch.passed = batch.looked then clock_timestamp() end
  where f.name = wanted
  returning f.* into b;
  return b.ended_at is not null;
end
$$;
comment on function api_meta.fill_batch(text, integer, integer) is
  'Fills one batch of a backfill, of at most so many rows, and fewer if these take longer than so many '
  'milliseconds. Answers whether it has ended. What fails is noted and tried again with fewer rows.';
--! EndIncluded api_meta/fill_batch.sql
--! Included api_meta/fill_next_batch.sql
create or replace function api_meta.fill_next_batch(max_rows integer, target_ms integer)
returns setof api_meta.backfill_progress
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  chosen text;
begin
  select f.name into chosen from api_meta.backfill f where f.ended_at is null
  -- One that fails holds up no other
  order by f.failure is not null, f.declared_at, f.name
  for update skip locked limit 1;
  if chosen is not null then
    perform api_meta.fill_batch(chosen, max_rows, target_ms);
    return query select * from api_meta.backfill_progress p where p.name = chosen;
  end if;
end
$$;
comment on function api_meta.fill_next_batch(integer, integer) is
  'Fills one batch of the oldest backfill that has not ended and that no other process works on, and answers '
  'how far it is; nothing when there is none. Runs as the owner of the tables, by whom alone backfills '
  'are declared.';
grant execute on function api_meta.fill_next_batch(integer, integer) to service_worker;
--! EndIncluded api_meta/fill_next_batch.sql
--! Included api_meta/fill_statement.sql
create or replace function api_meta.fill_statement(wanted api_meta.backfill) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format($f$
    with page as materialized (
      select %1$s, array[%2$s] as "key", row_number() over (order by %3$s) as "place",
        coalesce((%4$s), false) as "is wanted"
      from %5$s where %6$s order by %3$s limit $1
    ), taken as materialized (
      select %1$s, array[%2$s] as "key" from %5$s t
      where (%3$s) in (select %7$s from page p where p."is wanted") and (%4$s)
      order by %3$s for no key update of t %8$s
    ), filled as (
      update %5$s t set (%9$s) = row(%10$s) from taken l where %11$s returning 1
    ), done as (
      -- Not beyond a row that somebody else holds
      select count(*) as looked, coalesce(min(p."place") filter (
        where p."is wanted" and not exists (select from taken l where l."key" = p."key")
      ) - 1, count(*)) as passed from page p
    )
    select d.looked, d.passed, (select p."key" from page p where p."place" = d.passed) as "position",
      (select count(*) from filled) as filled from done d$f$,
    string_agg(format('%1$I as %2$I', k.name, k.alias), ', ' order by k.place),
    string_agg(format('%I::text', k.name), ', ' order by k.place),
    string_agg(format('%I', k.name), ', ' order by k.place),
    wanted.condition, wanted.relation,
    case when wanted.position is null then 'true' else format('(%s) > (%s)',
      string_agg(format('%I', k.name), ', ' order by k.place),
      string_agg(format('%L::%s', wanted.position[k.place], k.type), ', ' order by k.place)) end,
    string_agg(format('p.%I', k.alias), ', ' order by k.place),
    -- Several rows are never waited for, because two that wait for each other are a deadlock
    case when wanted.is_stuck then '' else 'skip locked' end,
    (select string_agg(quote_ident(c), ', ') from unnest(wanted.columns) c), wanted.expression,
    string_agg(format('t.%I = l.%I', k.name, k.alias), ' and ' order by k.place))
  from (
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, n.place::integer as place,
      format('key %s', n.place) as alias
    from pg_index i cross join unnest(i.indkey::smallint[]) with ordinality n (attnum, place)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = n.attnum
    where i.indrelid = wanted.relation and i.indisprimary and n.place <= i.indnkeyatts
  ) k
$$;
comment on function api_meta.fill_statement(api_meta.backfill) is
  'SQL for the next batch of a backfill, of at most $1 rows in the order of the primary key. Answers how '
  'many were looked at, how many of these are done up to the first that is locked, with its key, and '
  'how many were filled.';
--! EndIncluded api_meta/fill_statement.sql
--! Included api_meta/finish_committed_migration.sql
create or replace function api_meta.finish_committed_migration() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform api_meta.finish_migration();
  return null;
end
$$;
comment on function api_meta.finish_committed_migration() is
  'Trigger: finishes a migration when graphile-migrate notes, in the same transaction, that it has been run.';
--! EndIncluded api_meta/finish_committed_migration.sql
--! Included api_meta/finish_migration.sql
create or replace function api_meta.finish_migration() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cause text;
  code text;
  place text;
begin
  begin
    perform api_meta.derive();
    perform events.require_fields();
    perform events.derive_announcements();
    perform api_meta.derive_rules();
    perform api_meta.derive_references();
    perform api_meta.derive_touches();
    perform mutation.derive_operations();
  exception when others then
    get stacked diagnostics cause = message_text, code = returned_sqlstate, place = pg_exception_context;
    raise exception using errcode = code,
      message = 'What follows from the migration could not be derived: ' || cause,
      -- The innermost statement names the object, the function below it the derived part
      detail = concat_ws(E'\nin ',
        left(substring(place from '^SQL statement "(.*?)"\nPL/pgSQL function'), 300),
        substring(place from '\nPL/pgSQL function ([^ ]+)'));
  end;
  perform api_meta.require_frozen_versions();
end
$$;
comment on function api_meta.finish_migration() is
  'The last step of every migration, in its transaction: derives what follows from it, then holds the '
  'frozen versions against what was recorded of them. When either fails, so does the '
  'migration, and nothing of it stays.';
--! EndIncluded api_meta/finish_migration.sql
--! Included api_meta/first_migration.sql
create or replace function api_meta.first_migration() returns text
language sql stable security definer set search_path = pg_catalog, pg_temp
return (select hash from graphile_migrate.migrations order by filename limit 1);
comment on function api_meta.first_migration() is
  'The hash of the first migration that the database has had, which tells databases apart that were made '
  'by other migrations. The service asks at its start, as service_login, which may read nothing else.';
grant execute on function api_meta.first_migration() to service_login;
--! EndIncluded api_meta/first_migration.sql
--! Included api_meta/follow_deletion.sql
create or replace function api_meta.follow_deletion() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  r record;
  is_in_use boolean;
begin
  if not exists (select from gone) then
    return null;
  end if;
  -- Only so does it see what was written while it waited for locks
  if current_setting('transaction_isolation') <> 'read committed' then
    raise feature_not_supported using
      message = format('Rows of %s are deleted in a transaction that is read committed.', tg_relid::regclass);
  end if;
  for r in select u.* from api_meta.upheld_reference u where u.target = tg_relid order by u.name loop
    case r.on_delete
      when 'c' then
        execute format('delete from %s c using gone g where c.%I = g.%I', r.relation, r.column, r.key);
      when 'n' then
        execute format('update %s c set %I = null from gone g where c.%2$I = g.%I',
          r.relation, r.column, r.key);
      else
        execute format('select exists (select from %s c join gone g on c.%I = g.%I)',
          r.relation, r.column, r.key) into is_in_use;
        if is_in_use then
          raise restrict_violation using constraint = r.name, schema = tg_table_schema, table = tg_table_name,
            message = format('update or delete on table "%s" violates RESTRICT setting of foreign key '
              'constraint "%s" on table "%s"', tg_table_name, r.name, r.relation);
        end if;
    end case;
  end loop;
  return null;
end
$$;
comment on function api_meta.follow_deletion() is
  'Trigger after rows were deleted that foreign keys refer to which are declared as not enforced: does what '
  'these say of a deletion, with the rights of the tables'' owner, as foreign keys do.';

create or replace function api_meta.refuse_other_reference() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise foreign_key_violation using schema = tg_table_schema, table = tg_table_name,
    message = format('Keys of %s that rows refer to, or refer by, cannot be changed.', tg_relid::regclass);
end
$$;
comment on function api_meta.refuse_other_reference() is
  'Trigger before either side of a foreign key that is declared as not enforced would be changed.';
--! EndIncluded api_meta/follow_deletion.sql
--! Included api_meta/forget_version.sql
create or replace function api_meta.forget_version(version name) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  delete from api_meta.frozen_version f where f.name = version
$$;
comment on function api_meta.forget_version(name) is
  'Ends the record of a frozen version, for the migration that drops the schema of one that is served '
  'no more.';
--! EndIncluded api_meta/forget_version.sql
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
--! Included api_meta/give.sql
create or replace function api_meta.give(routine regprocedure, new_owner regrole) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  home constant regnamespace := (select pronamespace from pg_proc where oid = routine);
begin
  if (select proowner from pg_proc where oid = routine) <> new_owner then
    execute format('grant usage, create on schema %s to %s', home, new_owner);
    execute format('alter function %s owner to %s', routine, new_owner);
    execute format('revoke create on schema %s from %s', home, new_owner);
  end if;
end
$$;
comment on function api_meta.give(regprocedure, regrole) is
  'Makes a narrow role the owner of a security definer function, so that the function has only the rights of '
  'that role.';
--! EndIncluded api_meta/give.sql
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
--! Included api_meta/grant_reads.sql
create or replace function api_meta.grant_reads() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  -- With these the rights on columns go as well, so those are looked at afterwards
  for item in
    select distinct c.oid::regclass as relation
    from pg_class c join api_meta.own_schema o on o.oid = c.relnamespace and not o.is_api
    cross join aclexplode(c.relacl) a
    where c.relkind in ('r', 'p') and a.grantee = 'service_api'::regrole and a.privilege_type = 'SELECT'
  loop
    execute format('revoke select on %s from service_api', item.relation);
  end loop;
  for item in
    with source as materialized (
      select distinct s.table_id, s.attnum from api_meta.view_column_source s
    ), home as (
      select v.schema as name from api_meta.api_view v
      union select c.relnamespace::regnamespace::text
      from pg_class c where c.oid in (select s.table_id from source s)
      union select 'erp'
    )
    select format('grant usage on schema %I to service_api', h.name) as change
    from home h where not has_schema_privilege('service_api', h.name, 'usage')
    union all
    select format('grant select on %s to service_api', v.view::regclass)
    from api_meta.api_view v where not has_table_privilege('service_api', v.view, 'select')
    union all
    -- By column: the role can't read columns that no view reads
    select format(case when s.attnum is null then 'revoke select (%I) on %s from service_api'
      else 'grant select (%I) on %s to service_api' end, a.attname, c.oid::regclass)
    from pg_class c join api_meta.own_schema o on o.oid = c.relnamespace and not o.is_api
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join source s on s.table_id = a.attrelid and s.attnum = a.attnum
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and (s.attnum is not null or c.relkind in ('r', 'p'))
      and has_column_privilege('service_api', a.attrelid, a.attnum, 'select') <> (s.attnum is not null)
  loop
    execute item.change;
  end loop;
end
$$;
comment on function api_meta.grant_reads() is
  'Lets service_api read the API views and exactly those columns of tables that the views read. Changes '
  'only what differs.';
--! EndIncluded api_meta/grant_reads.sql
--! Included api_meta/index_search.sql
create or replace function api_meta.search_index(wanted api_meta.searched_view) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format('create index concurrently %I on %s using gin ((%s) %I.gin_trgm_ops) '
    'with (gin_pending_list_limit = 1024)', (parse_ident(place::text))[2] || '_search_idx', place,
    case when wanted.kept is null then wanted.words else 'words' end, n.nspname)
  from coalesce(wanted.kept, wanted.relation) place
  cross join pg_extension e join pg_namespace n on n.oid = e.extnamespace
  where e.extname = 'pg_trgm' and wanted.words is not null
$$;
comment on function api_meta.search_index(api_meta.searched_view) is
  'The statement that makes the index by which a view with the tag @search is searched; null when it needs '
  'none of its own.';

create or replace function api_meta.index_search(wanted regclass) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  searched api_meta.searched_view;
  statement text;
  index text;
begin
  select * into searched from api_meta.searched_view v where v.view = wanted;
  statement := api_meta.search_index(searched);
  if statement is null then
    raise exception '% has no tag @search, or names no column of its own there.', wanted;
  end if;
  index := format('%I.%s', (parse_ident(coalesce(searched.kept, searched.relation)::text))[1],
    split_part(statement, ' ', 4));
  execute format('drop index if exists %s', index);
  execute replace(statement, ' concurrently ', ' ');
  execute format('comment on index %s is %L', index, statement);
end
$$;
comment on function api_meta.index_search(regclass) is
  'Makes the index by which a view with the tag @search is searched, anew where there is one. Nobody can '
  'write the table meanwhile: on a large one, run the statement of api_meta.search_index in a migration of '
  'its own, and then comment the index with it.';
--! EndIncluded api_meta/index_search.sql
--! Included api_meta/index_tag.sql
create or replace view api_meta.index_tag as
with main as materialized (
  select s.view, s.table_id,
    (
      select string_to_array(replace(k, ' ', ''), ',') from api_meta.view_tag(s.view, 'primaryKey') k limit 1
    ) as key
  from (
    select distinct on (s.view) s.view, s.table_id from api_meta.view_column_source s
    -- An array, so that the other versions are left out early
    where s.view = any (array(select v.view from api_meta.api_view v where v.schema = 'api_unstable'))
    order by s.view, s.weight desc, s.table_id
  ) s
), index as materialized (
  select m.view, m.key, x.indexrelid, x.indrelid, x.indisunique, x.indpred is null as is_whole,
    -- Texts are also found by their beginning, in the order of code points
    coalesce((select l.collname in ('C', 'POSIX') from pg_collation l where l.oid = x.indcollation[0]), true)
      as has_beginnings,
    array_agg(c.attname::text order by k) as names
  from main m
  join pg_index x on x.indrelid = m.table_id and x.indisvalid
  join pg_class i on i.oid = x.indexrelid
  join pg_am am on am.oid = i.relam and am.amname = 'btree'
  cross join generate_series(0, x.indnkeyatts - 1) k
  left join pg_attribute t on t.attrelid = x.indrelid and t.attnum = x.indkey[k]
    and x.indcollation[k] = t.attcollation and x.indoption[k] = 0
  -- A column as it stands in the table; of views with joins nothing more can be told
  left join pg_attribute c on c.attrelid = m.view and c.attname = t.attname and c.atttypid = t.atttypid
    and (pg_column_is_updatable(m.view, c.attnum, true) or pg_relation_is_updatable(m.view, true) = 0)
    -- Behind policies Postgres finds rows by no other comparisons
    and x.indclass[k] in (
      select o.oid from pg_opclass o
      join pg_amop a on a.amopfamily = o.opcfamily and a.amopstrategy = 1
        and a.amoplefttype = o.opcintype and a.amoprighttype = o.opcintype
      join pg_operator op on op.oid = a.amopopr join pg_proc p on p.oid = op.oprcode
      where p.proleakproof)
  where x.indpred is null or pg_get_expr(x.indpred, x.indrelid) = (
    select format('(%I IS NOT NULL)', a.attname) from pg_attribute a
    where a.attrelid = x.indrelid and a.attnum = x.indkey[0])
  group by m.view, m.key, x.indexrelid, x.indrelid, x.indisunique, x.indpred is null, x.indcollation[0]
), ordered as materialized (
  select i.view,
    case
      when i.names[cardinality(i.names) - cardinality(i.key) + 1:] = i.key
        then i.names[:cardinality(i.names) - cardinality(i.key)]
      -- Without ties no more columns are needed
      when i.indisunique and not exists (
        select from unnest(i.names) n join api_meta.table_column c on c.relation = i.indrelid and c.name = n
        where not c.is_never_null) then i.names
    end as names
  from index i
  where i.is_whole and array_position(i.names, null) is null
)
select i.view, i.names[1] as name,
  case when i.has_beginnings then '@indexed'
    when i.indisunique then '@foundExactly unique' else '@foundExactly' end as tag
from index i
where i.names[1] is not null
union
select o.view, o.names[1], rtrim('@orders ' || array_to_string(o.names[2:], ','))
from ordered o
where cardinality(o.names) > 0 and not o.names <@ (select m.key from main m where m.view = o.view);
comment on view api_meta.index_tag is
  'What the indexes of its main table do for each view of the head, as tags of its columns: @indexed, its '
  'values are found by an index; @foundExactly, its texts are, but not by how they begin, and with unique '
  'they stand for few rows; @orders, an index has the order of it, of the columns that follow, and of the '
  'key.';
--! EndIncluded api_meta/index_tag.sql
--! Included api_meta/index_use.sql
create or replace view api_meta.index_use as
with index as (
  select i.indexrelid as id, i.indrelid as table_id, i.indisunique or i.indisexclusion as is_rule,
    (i.indkey::smallint[])[0:i.indnkeyatts - 1] as columns, i.indpred is null as is_whole,
    coalesce(pg_get_expr(i.indpred, i.indrelid), '') as condition,
    i.indexprs is null as is_plain, obj_description(i.indexrelid, 'pg_class') as own
  from pg_index i
  join pg_class x on x.oid = i.indexrelid join api_meta.own_schema s on s.oid = x.relnamespace
), filter as materialized (
  select c.table_id, c.attnum,
    string_agg(distinct format('%s.%s', v.view::regclass, c.attname), ', ') as names
  from api_meta.api_view v
  cross join regexp_matches(obj_description(v.view, 'pg_class'), '(?n)^@filters[ \t]+(.*)$', 'g') f
  join api_meta.view_column_source c on c.view = v.view
  where (f[1] = '*' or c.attname::text = any (string_to_array(f[1], ',')))
  group by c.table_id, c.attnum
)
select i.id::regclass as index, i.table_id::regclass as relation, n.needs,
  (
    select string_agg(j.id::regclass::text, ', ') from index j
    where j.table_id = i.table_id and j.id <> i.id and i.is_plain and j.is_plain and not i.is_rule
      and (j.is_whole or j.condition = i.condition) and j.columns[:cardinality(i.columns)] = i.columns
      and (cardinality(j.columns) > cardinality(i.columns) or j.is_rule or j.id < i.id)
  ) as covered_by
from index i
cross join lateral (
  select array_remove(array[
    case when i.is_rule then 'rule ' || coalesce((
      select c.conname from pg_constraint c where c.conindid = i.id and c.contype <> 'f'
    ), 'of the index itself') end,
    (
      select 'relation ' || string_agg(c.conname, ', ' order by c.conname) from pg_constraint c
      where c.conrelid = i.table_id and c.contype = 'f'
        and coalesce(obj_description(c.oid, 'pg_constraint'), '') !~ '^@unindexed'
        and c.conkey <@ i.columns[:cardinality(c.conkey)] and c.conkey @> i.columns[:cardinality(c.conkey)]
    ),
    (
      select 'filter ' || f.names from filter f where f.table_id = i.table_id and f.attnum = i.columns[1]
    ),
    i.own
  ], null)
) n (needs);
comment on view api_meta.index_use is
  'What needs each index: a rule, a relation (a foreign key, which deletions look up too), a filter of the '
  'API, or what its own comment says. covered_by names others that begin with the same columns, and have '
  'its rows.';
--! EndIncluded api_meta/index_use.sql
--! Included api_meta/listed.sql
create or replace function api_meta.listed(view regclass, tag text, col name) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from api_meta.view_tag(view, tag) v
    where col::text = any (string_to_array(replace(v, ' ', ''), ','))
  )
$$;
comment on function api_meta.listed(regclass, text, name) is
  'Whether a smart tag of a view, a list with commas, names the column.';
--! EndIncluded api_meta/listed.sql
--! Included api_meta/migration_count.sql
create or replace function api_meta.migration_count() returns integer
language sql stable security definer set search_path = pg_catalog, pg_temp
return (select count(*) from graphile_migrate.migrations)::integer;
comment on function api_meta.migration_count() is
  'How many migrations the database has had. The service asks at its start, as service_login, which may '
  'read nothing else.';
grant execute on function api_meta.migration_count() to service_login;
--! EndIncluded api_meta/migration_count.sql
--! Included api_meta/migration_state.sql
create or replace function api_meta.migration_state() returns text
language sql stable security definer set search_path = pg_catalog, pg_temp
return (
  select md5(coalesce(string_agg(hash, ' ' order by hash), '')
    || coalesce((select string_agg(content, ' ' order by filename) from graphile_migrate.current), ''))
  from graphile_migrate.migrations
);
comment on function api_meta.migration_state() is
  'The same in all databases that have had the same migrations. A service with many merchants shares what it '
  'has built from one of them. It asks as the role that it logs in as, which may read nothing else.';
grant execute on function api_meta.migration_state() to service_login;
--! EndIncluded api_meta/migration_state.sql
--! Included api_meta/own_role.sql
create or replace view api_meta.own_role as
select r.oid, r.rolname as name, r.rolname <> 'service_owner' as is_serving
from pg_catalog.pg_roles r
where r.rolname ~ '^service_';
comment on view api_meta.own_role is
  'The roles of the service, by their names: all are called service_…. '
  'is_serving: it serves, or owns functions that do; that is every one but service_owner.';
--! EndIncluded api_meta/own_role.sql
--! Included api_meta/part_fault.sql
create or replace function api_meta.part_fault(kind text, name text, recorded text, found text)
returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case
    when recorded is null then format('%s %s is new', kind, name)
    when found is null then format('%s %s is missing', kind, name)
    when kind in ('query', 'body') then format('%s of %s is another', kind, name)
    when split_part(recorded, E'\n', 1) = split_part(found, E'\n', 1) then
      format('%s %s has another comment', kind, name)
    else format('%s %s was: %s; is: %s', kind, name,
      split_part(recorded, E'\n', 1), split_part(found, E'\n', 1))
  end
$$;
comment on function api_meta.part_fault(text, text, text, text) is
  'In words how a part of a version differs from what was recorded; null for a definition: it is not there.';
--! EndIncluded api_meta/part_fault.sql
--! Included api_meta/plan_by_index.sql
create or replace function api_meta.plan_by_index(routine regprocedure) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  setting text;
begin
  foreach setting in array array[
    'plan_cache_mode = force_generic_plan', 'enable_hashjoin = off', 'enable_mergejoin = off',
      'enable_seqscan = off'
  ] loop
    execute format('alter function %s set %s', routine, setting);
  end loop;
end
$$;
comment on function api_meta.plan_by_index(regprocedure) is
  'Has the statements of a function planned once, and by index: for a handful of lines among many rows '
  'estimates are poor, and planning again takes longer than the work.';
--! EndIncluded api_meta/plan_by_index.sql
--! Included api_meta/postgres_version.sql
create or replace function api_meta.postgres_version() returns integer
language sql stable
return pg_catalog.current_setting('server_version_num')::pg_catalog.int4 / 10000;
comment on function api_meta.postgres_version() is 'The major version of Postgres.';
--! EndIncluded api_meta/postgres_version.sql
--! Included api_meta/protect_reads.sql
create or replace function api_meta.protect_reads() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    with wanted as materialized (select * from api_meta.read_policy),
    present as materialized (
      select p.polrelid as table_id, p.polname as policy, pg_get_expr(p.polqual, p.polrelid) as qualifier
      from pg_policy p where p.polname like '%\_select\_api'
    )
    select format('drop policy %I on %s', p.policy, p.table_id::regclass) as change
    from present p
    where not exists (
      select from wanted w where (w.table_id, w.policy, w.qualifier) = (p.table_id, p.policy, p.qualifier))
    union all
    select format('create policy %I on %s for select to service_api '
      'using ((select auth.has_scope(variadic %L::text[])))', w.policy, w.table_id::regclass, w.scopes)
    from wanted w
    where not exists (
      select from present p where (w.table_id, w.policy, w.qualifier) = (p.table_id, p.policy, p.qualifier))
  loop
    execute item.change;
  end loop;
end
$$;
comment on function api_meta.protect_reads() is
  'Makes the row-level security policies of service_api out of the @requiresScopes tags of the API views. '
  'The function call stands in a sub-select, so that it runs once per statement. Changes only what differs, '
  'because a change locks the table.';
--! EndIncluded api_meta/protect_reads.sql
--! Included auth/has_scope.sql
create or replace function auth.has_scope(variadic scopes text[]) returns boolean
language sql stable parallel safe
return coalesce(
  pg_catalog.string_to_array(pg_catalog.current_setting('service.scopes', true), ' ') && scopes, false
);
comment on function auth.has_scope(text[]) is
  'Whether the caller has at least one of the scopes. Policies call it in a sub-select, (select '
  'auth.has_scope(''products:read'')), so that it runs once per statement and not once per row.';
grant execute on function auth.has_scope(text[]) to service_api, service_searcher, service_writer;
--! EndIncluded auth/has_scope.sql
--! Included api_meta/read_faults.sql
create or replace function api_meta.read_faults() returns setof text
language sql stable set search_path = pg_catalog, pg_temp as $$
  with source as materialized (
    select distinct s.view::regclass as view, c.oid::regclass as relation, c.relkind, c.relrowsecurity,
      n.nspname as schema, coalesce('security_invoker=true' = any (c.reloptions), false) as as_caller
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
  from source where relkind in ('r', 'p') and not relrowsecurity
    and exists (select from api_meta.view_tag(view, 'requiresScopes'))
  union all
  select format('%s reads %s, of which Postgres can hide no rows: let the view of the API do it, '
    'where (select auth.has_scope(''…:read''))', view, relation)
  from source where relkind in ('m', 'f') and not exists (
    select from pg_rewrite r
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
    where r.ev_class = view and d.refobjid = 'auth.has_scope(text[])'::regprocedure
  )
  union all
  select format('%s reads the view %s, which reads with the rights of its owner, past row-level security: '
    'alter view %s set (security_invoker = true);', view, relation, relation)
  from source where relkind = 'v' and not as_caller
$$;
comment on function api_meta.read_faults() is
  'What views of the API read without its being protected, or without the schema''s being exposed, '
  'each with what to do.';
--! EndIncluded api_meta/read_faults.sql
--! Included api_meta/read_policy.sql
create or replace view api_meta.read_policy as
select s.table_id, array_agg(distinct scope order by scope) as scopes,
  format('%s_select_api', c.relname) as policy,
  format(
    '( SELECT auth.has_scope(VARIADIC %L::text[]) AS has_scope)', array_agg(distinct scope order by scope)
  ) as qualifier
from (select distinct view, table_id from api_meta.view_column_source) s
join pg_catalog.pg_class c on c.oid = s.table_id
cross join lateral api_meta.view_tag(s.view, 'requiresScopes') tag
cross join lateral regexp_split_to_table(regexp_replace(tag, '^(anyOf|allOf):', ''), '\s+') scope
where scope <> '' and c.relkind in ('r', 'p')
group by s.table_id, c.relname;
comment on view api_meta.read_policy is
  'The row-level security policy that each table needs: readable with a scope of any view that reads the '
  'table.';
--! EndIncluded api_meta/read_policy.sql
--! Included api_meta/record_version.sql
create or replace function api_meta.record_version(version name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if to_regnamespace(quote_ident(version)) is null then
    raise exception 'There is no schema %.', version using errcode = 'invalid_schema_name';
  end if;
  delete from api_meta.frozen_version f where f.name = version;
  insert into api_meta.frozen_version (name, postgres) values (version, api_meta.postgres_version());
  insert into api_meta.frozen_part (version, kind, name, parent, definition, tree)
  select version, c.kind, c.name, c.parent, c.definition, c.tree from api_meta.current_parts(version) c;
end
$$;
comment on function api_meta.record_version(name) is
  'Notes what a frozen version consists of from now on. A migration that adds to a frozen version on '
  'purpose, or fixes it, ends with this call; any other change of it is refused, see '
  'api_meta.version_faults.';
--! EndIncluded api_meta/record_version.sql
--! Included api_meta/require_backfilled.sql
create or replace function api_meta.require_backfilled(wanted text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  b api_meta.backfill;
  progress api_meta.backfill_progress;
  others bigint;
begin
  -- A new database has few rows, or none
  for attempt in 1 .. 10 loop
    exit when api_meta.fill_batch(wanted, 1000, 100);
  end loop;
  select * into b from api_meta.backfill f where f.name = wanted;
  if b.name is null then
    raise exception 'No migration has declared the backfill %.', wanted using errcode = 'UE093',
      hint = format('select api_meta.backfill(%L, …) belongs into an earlier migration.', wanted);
  end if;
  if b.ended_at is null then
    select * into progress from api_meta.backfill_progress p where p.name = wanted;
    raise exception 'The backfill % of % has not ended: % % rows are done.', wanted, b.relation,
      b.rows_seen, coalesce('of about ' || progress.rows_total, 'of its')
      using errcode = 'UE092', detail = coalesce(b.failure, ''),
      hint = 'npm run db:backfill shows how far it is; npm run db:backfill -- --run works it off.';
  end if;
  execute format('select count(*) from (select from %s where %s limit 1000) x', b.relation, b.condition)
  into others;
  if others > 0 then
    raise exception 'The backfill % has ended, but % of % still %: %', wanted,
      case when others = 1000 then '1000 rows or more' else others || ' rows' end, b.relation,
      'meet its condition', b.condition
      using errcode = 'UE093', hint = 'Rows are written without it. Make a trigger that fills what is '
      || 'written from now on, and then declare the backfill again.';
  end if;
end
$$;
comment on function api_meta.require_backfilled(text) is
  'Refuses a migration, with SQLSTATE UE092, until a backfill has ended, and with UE093 when rows have been '
  'written without it. db:setup then works the backfill off and begins the migration again.';
--! EndIncluded api_meta/require_backfilled.sql
--! Included api_meta/require_frozen_versions.sql
create or replace function api_meta.require_frozen_versions() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  faults text[];
begin
  if not exists (select from api_meta.frozen_version where postgres <> api_meta.postgres_version())
    and not exists (select from api_meta.own_schema s where s.is_frozen
      and not exists (select from api_meta.frozen_version v where v.name = s.name))
    and not exists (
      select from (
        select v.name as version, c.*
        from api_meta.frozen_version v cross join lateral api_meta.current_parts(v.name) c
      ) c
      full join api_meta.frozen_part p on p.version = c.version and p.kind = c.kind and p.name = c.name
      where (c.definition, c.tree) is distinct from (p.definition, p.tree)
    )
  then
    return; -- Nothing differs, which is found in one look
  end if;
  select array_agg(format('%s: %s', f.version, f.fault) order by f.version, f.fault) into faults
  from api_meta.version_faults() f;
  if faults is not null then
    raise exception 'A frozen version of the API would change' using errcode = 'UE090',
      detail = array_to_string(faults[:20], E'\n')
        || case when cardinality(faults) > 20 then format(E'\nand %s more', cardinality(faults) - 20)
        else '' end,
      hint = 'Frozen versions stay as they were released. A migration that adds to one on purpose ends with: '
        'select api_meta.record_version(''api_…'');';
  end if;
  -- The text after a renaming, or the tree after restoring a dump
  update api_meta.frozen_part p set definition = c.definition, tree = c.tree
  from api_meta.frozen_version v cross join lateral api_meta.current_parts(v.name) c
  where p.version = v.name and c.kind = p.kind and c.name = p.name
    and (c.definition, c.tree) is distinct from (p.definition, p.tree);
  update api_meta.frozen_version set postgres = api_meta.postgres_version()
  where postgres <> api_meta.postgres_version();
end
$$;
comment on function api_meta.require_frozen_versions() is
  'Refuses, with SQLSTATE UE090 and the names of what differs, when a frozen version is not as recorded.';
--! EndIncluded api_meta/require_frozen_versions.sql
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
--! Included api_meta/upheld_reference.sql
create or replace view api_meta.upheld_reference as
select c.conrelid::regclass as relation, c.conname as name, a.attname as "column",
  c.confrelid::regclass as target, t.attname as key, c.confdeltype as on_delete
from pg_constraint c
join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
join pg_attribute t on t.attrelid = c.confrelid and t.attnum = c.confkey[1]
where c.contype = 'f' and not c.conenforced and cardinality(c.conkey) = 1;
comment on view api_meta.upheld_reference is
  'Foreign keys that are declared as not enforced, which api_meta.derive_references upholds.';
--! EndIncluded api_meta/upheld_reference.sql
--! Included api_meta/upheld_rules.sql
create or replace function api_meta.upheld_rules(relation regclass)
returns table (name text, rule text, columns smallint[], keeps text, value text)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select c.conname::text, r.rule, c.conkey, k.keeps,
    case when k.keeps is not null then substring(r.rule from '^\(new\.\w+ = (.*)\)$') end
  from pg_constraint c
  cross join lateral (
    select string_agg(quote_ident(a.attname), '|') as columns
    from pg_attribute a where a.attrelid = c.conrelid and a.attnum = any (c.conkey)
  ) a
  cross join lateral (
    -- Names of columns, but not in texts, which begin and end with a quotation mark
    select regexp_replace(pg_get_expr(c.conbin, c.conrelid),
      '\m(' || a.columns || ')\M(?=([^'']*''[^'']*'')*[^'']*$)', 'new.\1', 'g') as rule
  ) r
  cross join lateral (
    select substring(obj_description(c.oid, 'pg_constraint') from '(?n)^@keeps +(\w+)$') as keeps
  ) k
  where c.conrelid = relation and c.contype = 'c' and not c.conenforced;
end;
comment on function api_meta.upheld_rules(regclass) is
  'The checks of a table that are declared as not enforced, as they read in a trigger, with their columns. '
  'One whose comment has the tag @keeps is of the form column = value, and is upheld by setting the column '
  'to the value.';
--! EndIncluded api_meta/upheld_rules.sql
--! Included api_meta/uphold.sql
create or replace function api_meta.upholder(relation regclass, name text) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select format('%I.%I', n.nspname, name || '_of_' || t.relname)
  from pg_class t join pg_namespace n on n.oid = t.relnamespace where t.oid = relation;
end;
comment on function api_meta.upholder(regclass, text) is
  'The function of a trigger that upholds checks of a table which are declared as not enforced.';

create or replace function api_meta.uphold(relation regclass, name text, columns smallint[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made record;
  body text;
begin
  select string_agg(format('not (%s) then %L', r.rule, r.name), E'\n      when ' order by r.name)
      filter (where r.keeps is null) as cases,
    string_agg(format('(%s)', r.rule), E'\n    and ' order by r.name)
      filter (where r.keeps is null) as rules,
    string_agg(format('  new.%I := %s; -- %L', r.keeps, r.value, r.name), E'\n' order by r.name)
      filter (where r.keeps is not null) as kept
  into made
  from api_meta.upheld_rules(relation) r
  where uphold.columns is null or r.columns && uphold.columns;
  select concat_ws(E'\n', '', 'declare', '  broken text;', 'begin', made.kept,
    case when made.rules is not null then
      format(E'  if not (%s) then\n    broken := case\n      when %s end;', made.rules, made.cases)
      || format(E'\n    raise check_violation using constraint = broken, table = %L, schema = %L,'
        '\n      message = format(''new row for relation "%%s" violates check constraint "%%s"'','
        ' %L, broken);\n  end if;', t.relname, n.nspname, t.relname) end,
    '  return new;', 'end', '') into body
  from pg_class t join pg_namespace n on n.oid = t.relnamespace where t.oid = relation;
  if exists (
    select from pg_proc p
    where p.oid = to_regprocedure(api_meta.upholder(relation, name) || '()') and p.prosrc = body
  ) then
    return;
  end if;
  execute format(E'create or replace function %s() returns trigger\n'
    'language plpgsql set search_path = pg_catalog, pg_temp as %L', api_meta.upholder(relation, name), body);
  execute format('comment on function %s() is %L', api_meta.upholder(relation, name),
    'Trigger, made by api_meta.derive_rules: upholds checks of ' || relation
    || ' that are declared as not enforced.');
end
$$;
comment on function api_meta.uphold(regclass, text, smallint[]) is
  'Makes the function of a trigger that upholds the checks of a table which are declared as not enforced, '
  'of some columns or all, if it is not as it should be.';
--! EndIncluded api_meta/uphold.sql
--! Included api_meta/version_faults.sql
create or replace function api_meta.version_faults() returns table (version name, fault text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  with found as (
    select v.name as version, c.*
    from api_meta.frozen_version v cross join lateral api_meta.current_parts(v.name) c
  ), difference as (
    select coalesce(p.version, f.version) as version, coalesce(p.kind, f.kind) as kind,
      coalesce(p.name, f.name) as name, coalesce(p.parent, f.parent) as parent,
      p.definition as recorded, f.definition as found
    from api_meta.frozen_part p
    full join found f on f.version = p.version and f.kind = p.kind and f.name = p.name
    where p.definition is distinct from f.definition
      -- One form of a query or a body has to match: renaming a table changes its text, restoring a dump its
      -- tree
      and (p.tree is null or f.tree is null or p.tree <> f.tree)
      -- Other major versions of Postgres may print the same query differently
      and not (p.kind in ('query', 'body') and f.kind is not null and exists (
        select from api_meta.frozen_version v
        where v.name = p.version and v.postgres <> api_meta.postgres_version()
      ))
  )
  select v.name, format('schema %s is missing', v.name) from api_meta.frozen_version v
  where to_regnamespace(quote_ident(v.name)) is null
  union all
  select s.name,
    'is not recorded: api_meta.freeze makes versions, api_meta.record_version notes what they consist of'
  from api_meta.own_schema s
  where s.is_frozen and not exists (select from api_meta.frozen_version v where v.name = s.name)
  union all
  select d.version, api_meta.part_fault(d.kind, d.name, d.recorded, d.found) from difference d
  where to_regnamespace(quote_ident(d.version)) is not null
    -- Parts that are missing or new as a whole are named once
    and not exists (
      select from difference o
      where o.version = d.version and o.parent is null and o.name = d.parent
        and (o.recorded is null or o.found is null)
    )
  order by 1, 2
$$;
comment on function api_meta.version_faults() is
  'How the frozen versions differ from what was recorded of them, a line for each part. Columns, types, '
  'attributes and functions must be as they were, in their order and with their comments. A renamed table or '
  'column behind a view is no difference; a view that reads something else is.';
grant execute on function api_meta.version_faults() to service_login;
--! EndIncluded api_meta/version_faults.sql
--! Included search/require_few.sql
create or replace function search.require_few(ids uuid[]) returns uuid[]
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(ids) > 10000 then
    raise exception 'The search finds more than 10000 rows.' using errcode = 'UE006';
  end if;
  return ids;
end
$$;
comment on function search.require_few(uuid[]) is
  'Refuses, with SQLSTATE UE006, a search that finds more than 10,000 rows: to read on from there, a list '
  'would have to read and sort all of them again for each page.';
revoke execute on function search.require_few(uuid[]) from public;
grant execute on function search.require_few(uuid[]) to service_searcher;
--! EndIncluded search/require_few.sql
--! Included search/sought.sql
create or replace function search.sought(patterns text[]) returns text[]
language sql immutable parallel safe
return (
  select array_agg(coalesce(lower(patterns[n] collate pg_catalog.pg_c_utf8), '%') order by n)
  from generate_series(1, 6) n
);
comment on function search.sought(text[]) is
  'Six patterns, in lower case, of one to six: the functions of this schema have a condition for each.';
revoke execute on function search.sought(text[]) from public;
grant execute on function search.sought(text[]) to service_searcher;
--! EndIncluded search/sought.sql

select api_meta.expose('erp');
select api_meta.expose('ledger');
select api_meta.expose('events');
select api_meta.expose('bulk');
