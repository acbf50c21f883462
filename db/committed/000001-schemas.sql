--! Previous: -
--! Hash: sha1:e5617d88ba3752d64d0806b37c14ac32f6fe9bdb
--! Message: schemas

-- The schemas, and what keeps their rights, descriptions and versions. Nothing is open to the public: grants follow
-- from the API views (api_meta.derive) or stand beside the object that they open.

create schema erp;
create schema ledger;
create schema auth;
create schema mutation;
create schema administration;
create schema events;
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
comment on schema api_meta is
  'Functions that derive grants, policies and descriptions of the api schemas, and that freeze a version.';
comment on schema api_unstable is
  'The head of the API: one view per GraphQL type. Released versions are frozen clones of it.';

grant usage on schema erp to service_api, service_document, service_keeper, service_ledger, service_worker,
  service_writer;
grant usage on schema ledger to service_api, service_ledger, service_recorder, service_writer;
grant usage on schema auth to service_administration, service_api, service_auth, service_delivery,
  service_keeper, service_limiter, service_registrar, service_worker, service_writer;
grant usage on schema mutation to service_api, service_ledger, service_writer;
grant usage on schema administration to service_administration, service_registrar;
grant usage on schema events to service_api, service_delivery, service_recorder, service_registrar,
  service_worker, service_writer;
grant usage on schema api_meta to service_login;

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
where o.rolname = 'service_owner' and n.nspname !~ '^graphile_';
comment on view api_meta.own_schema is
  'The schemas of the service: those that service_owner owns, but for those of packages, called '
  'graphile_…. is_api: it holds a version of the API; is_frozen: a released one.';
--! EndIncluded api_meta/own_schema.sql
--! Included api_meta/api_view.sql
create or replace view api_meta.api_view as
select c.oid as view, s.name as schema, c.relname as name
from pg_catalog.pg_class c join api_meta.own_schema s on s.oid = c.relnamespace
where s.is_api and c.relkind = 'v';
comment on view api_meta.api_view is 'The views of every API schema.';
--! EndIncluded api_meta/api_view.sql
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
  )
  select 'view', r.name, null,
    case when 'security_invoker=true' = any (r.reloptions) then 'security_invoker' else '' end
      || api_meta.part_note(obj_description(r.oid, 'pg_class')), null
  from relation r where r.relkind = 'v'
  union all
  -- The tree names tables and columns by their numbers, the text by their names
  select 'query', r.name, r.name, md5(pg_get_viewdef(r.oid)), md5(w.ev_action::text)
  from relation r join pg_rewrite w on w.ev_class = r.oid and w.rulename = '_RETURN'
  union all
  select case r.relkind when 'v' then 'column' else 'attribute' end, r.name || '.' || a.attname, r.name,
    row_number() over (partition by r.oid order by a.attnum) || '. ' || format_type(a.atttypid, a.atttypmod)
      || api_meta.part_note(col_description(r.oid, a.attnum)), null
  from relation r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
  union all
  select 'type', t.typname, null, case t.typtype when 'e' then
      (select string_agg(e.enumlabel, ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)
      else '' end
      || api_meta.part_note(obj_description(t.oid, 'pg_type')), null
  from pg_type t left join relation r on r.reltype = t.oid
  where t.typnamespace = to_regnamespace(quote_ident(version)) and (t.typtype = 'e' or r.relkind = 'c')
  union all
  select 'function', format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)), null,
    format('returns %s, %s, %s%s%s', pg_get_function_result(p.oid), l.lanname, p.provolatile,
      case when p.proisstrict then ', strict' end, case when p.prosecdef then ', security definer' end)
      || api_meta.part_note(obj_description(p.oid, 'pg_proc')), null
  from pg_proc p join pg_language l on l.oid = p.prolang
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
--! Included api_meta/describe.sql
create or replace function api_meta.describe() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  col record;
  text_of_column text;
begin
  for col in
    select v.schema, v.name, v.view, a.attname, a.attnum, t.typname, s.table_id, s.attnum as source_attnum,
      coalesce(s.attnotnull, false) as not_null,
      col_description(v.view, a.attnum) as own
    from api_meta.api_view v
    join pg_attribute a on a.attrelid = v.view and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    left join lateral (
      select s.*
      from api_meta.view_column_source s
      where s.view = v.view and s.attname = a.attname
      order by s.weight desc
      limit 1
    ) s on true
    -- frozen versions keep the words that they were released with
    where v.schema = 'api_unstable'
  loop
    -- a comment written by hand beside the view stays; what this function wrote before is written anew
    continue when col.table_id is null and col.own is not null;
    text_of_column := coalesce(
      col_description(col.table_id, col.source_attnum),
      case col.attname
        when 'id' then 'Global id.'
        when 'created_at' then 'When it was made.'
        when 'updated_at' then 'When it was last changed; null when it never was.'
      end
    );
    if col.table_id is not null and col.own is not null and text_of_column is null then continue; end if;
    execute format('comment on column %I.%I.%I is %L', col.schema, col.name, col.attname,
      nullif(concat_ws(E'\n',
      case when col.not_null and not api_meta.listed(col.view, 'nullable', col.attname) then '@notNull' end,
      case when api_meta.listed(col.view, 'hidden', col.attname) then '@behavior -*' end,
      (
        select '@enum ' || split_part(e, ' ', 2)
        from api_meta.view_tag(col.view, 'columnEnum') e
        where split_part(e, ' ', 1) = col.attname
      ),
      text_of_column
    ), ''));
  end loop;
end
$$;
comment on function api_meta.describe() is
  'Writes the comments of the columns of the head''s views: description and nullability from the '
  'table''s column of the same name, corrected by the view''s tags @nullable, @hidden and @columnEnum. '
  'Columns that are expressions carry comments of their own.';
--! EndIncluded api_meta/describe.sql
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
    perform events.derive_announcements();
  exception when others then
    get stacked diagnostics cause = message_text, code = returned_sqlstate, place = pg_exception_context;
    raise exception using errcode = code,
      message = 'What follows from the migration could not be derived: ' || cause,
      -- The innermost statement names the object, the function below it what was being derived
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
  -- What the head is to be is not complete before
  perform api_meta.derive();
  execute format('create schema %I', target);
  execute format('comment on schema %I is %L', target, 'Frozen clone of ' || source || '.');
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
  'Makes a narrow role the owner of a function with the rights of its owner, so that it can do what '
  'that role may, and no more.';
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
end
$$;
comment on function api_meta.grant_mutations() is
  'Lets service_writer, as which mutation.run works, execute the functions of the API schemas. Changes '
  'only what differs.';
--! EndIncluded api_meta/grant_mutations.sql
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
  -- column by column: what no view reads stays out of reach
  for item in
    select a.attrelid::regclass as relation, a.attname,
      exists (
        select from api_meta.view_column_source s where s.table_id = a.attrelid and s.attnum = a.attnum
      ) as wanted
    from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p')
    join api_meta.own_schema o on o.oid = c.relnamespace
    where a.attnum > 0 and not a.attisdropped
  loop
    if item.wanted and not has_column_privilege('service_api', item.relation::oid, item.attname, 'select')
    then
      execute format('grant select (%I) on %s to service_api', item.attname, item.relation);
    elsif not item.wanted and has_column_privilege('service_api', item.relation::oid, item.attname, 'select')
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
--! Included api_meta/view_tag.sql
create or replace function api_meta.view_tag(view regclass, tag text) returns setof text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select m[1]
  from regexp_matches(obj_description(view, 'pg_class'), '(?n)^@' || tag || '[ \t]+(.*)$', 'g') as m
$$;
comment on function api_meta.view_tag(regclass, text) is
  'The values of one smart tag of a view, a row for each time it is given.';
--! EndIncluded api_meta/view_tag.sql
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
  'estimates are poor, and planning anew takes longer than the work.';
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
    select p.polname, p.polrelid::regclass as relation
    from pg_policy p
    left join api_meta.read_policy r on r.table_id = p.polrelid
    where p.polname like '%\_select\_api'
      and (
        r.policy is distinct from p.polname or pg_get_expr(p.polqual, p.polrelid) is distinct from r.qualifier
      )
  loop
    execute format('drop policy %I on %s', item.polname, item.relation);
  end loop;
  for item in
    select r.*
    from api_meta.read_policy r
    left join pg_policy p on p.polrelid = r.table_id and p.polname = r.policy
    where p.oid is null
  loop
    execute format('create policy %I on %s for select to service_api '
      'using ((select auth.has_scope(variadic %L::text[])))',
      item.policy, item.table_id::regclass, item.scopes);
  end loop;
end
$$;
comment on function api_meta.protect_reads() is
  'Makes the row-level security policies of service_api out of the @requiresScopes tags of the API '
  'views. The function call stands in a sub-select, so that it runs once per statement. Changes only '
  'what differs, for a change locks the table.';
--! EndIncluded api_meta/protect_reads.sql
--! Included api_meta/view_column_source.sql
create or replace view api_meta.view_column_source as
select v.view, d.refobjid as table_id, d.refobjsubid as attnum, a.attname, a.attnotnull,
  count(*) over (partition by v.view, d.refobjid) as weight
from api_meta.api_view v
join pg_catalog.pg_rewrite r on r.ev_class = v.view
join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = r.oid
  and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> v.view and d.refobjsubid > 0
join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid;
comment on view api_meta.view_column_source is
  'Which columns of which tables each API view reads. The table with the greatest weight is what the '
  'view is about.';
--! EndIncluded api_meta/view_column_source.sql
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
  'The row-level security policy that each table needs: readable by whoever holds a scope of a view '
  'that reads the table.';
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
  'purpose, or mends it, ends with this call; any other change of it is refused, see '
  'api_meta.version_faults.';
--! EndIncluded api_meta/record_version.sql
--! Included api_meta/require_frozen_versions.sql
create or replace function api_meta.require_frozen_versions() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  faults text[];
begin
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
  -- The text after a renaming, or the tree after a restored dump
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
      -- Of a query or a body one form is enough: renaming a table changes its text, a restored dump its tree
      and (p.tree is null or f.tree is null or p.tree <> f.tree)
      -- Other major versions of Postgres write the same in other words
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
    -- What is missing, or new, as a whole is named once
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
--! Included erp/is_blank.sql
create or replace function erp.is_blank(words text) returns boolean
language sql immutable strict parallel safe
return words !~ U&'[^\0009-\000D\0020\0085\00A0\1680\2000-\200D\2028\2029\202F\205F\2060\3000\FEFF]';
comment on function erp.is_blank(text) is
  'Whether a text has nothing but white space, or nothing at all: that of Unicode, and characters '
  'without a width.';
grant execute on function erp.is_blank(text) to service_writer;
--! EndIncluded erp/is_blank.sql
--! Included erp/is_localized_text.sql
create or replace function erp.is_localized_text(texts jsonb) returns boolean
language sql immutable strict parallel safe
return pg_catalog.jsonb_typeof(texts) = 'object' and coalesce(texts ->> 'en-GB', '') <> ''
  and not pg_catalog.jsonb_path_exists(texts, '$.* ? (@.type() != "string")');
comment on function erp.is_localized_text(jsonb) is
  'Whether a JSON value is an object from locale to text that has at least the default locale, en-GB.';
grant execute on function erp.is_localized_text(jsonb) to service_writer;
--! EndIncluded erp/is_localized_text.sql
--! Included erp/is_string_array.sql
create or replace function erp.is_string_array(value jsonb) returns boolean
language sql immutable parallel safe
return pg_catalog.jsonb_typeof(value) = 'array'
  and not pg_catalog.jsonb_path_exists(value, 'strict $[*] ? (@.type() != "string")');
comment on function erp.is_string_array(jsonb) is
  'Whether a JSON value is an array that holds nothing but strings.';
grant execute on function erp.is_string_array(jsonb) to service_ledger, service_writer;
--! EndIncluded erp/is_string_array.sql
--! Included erp/localized.sql
create or replace function erp.localized(texts jsonb) returns text
language sql stable parallel safe
return coalesce(texts ->> pg_catalog.current_setting('service.locale', true), texts ->> 'en-GB');
comment on function erp.localized(jsonb) is
  'The text of an erp.localized_text in the locale of the request (setting service.locale), or in '
  'en-GB, which every text has.';
grant execute on function erp.localized(jsonb) to service_api, service_writer;
--! EndIncluded erp/localized.sql
--! Included erp/touch_updated_at.sql
create or replace function erp.touch_updated_at() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.updated_at := pg_catalog.date_trunc('second', pg_catalog.now());
  return new;
end
$$;
comment on function erp.touch_updated_at() is
  'Trigger: sets updated_at to the time of the transaction, in whole seconds.';
--! EndIncluded erp/touch_updated_at.sql
