--! Previous: sha1:b27c5dc785020994863612c2e65762bf85828537
--! Hash: sha1:625e2b37f47319243c81d3a670fe78e7b7351dee
--! Message: derive

--! split: 1-current.sql
-- Enter migration here

--! split: 0810-derive.sql
--! Included functions/api_meta/view_tags.sql
create or replace function api_meta.view_tag(view regclass, tag text) returns setof text
language sql stable set search_path = pg_catalog as $$
  select m[1] from regexp_matches(obj_description(view, 'pg_class'), '(?n)^@' || tag || '[ \t]+(.*)$', 'g') as m
$$;
comment on function api_meta.view_tag(regclass, text) is 'The values of one smart tag of a view, a row for each time it is given.';

create or replace function api_meta.listed(view regclass, tag text, col name) returns boolean
language sql stable set search_path = pg_catalog as $$
  select exists (select from api_meta.view_tag(view, tag) v where col::text = any (string_to_array(replace(v, ' ', ''), ',')))
$$;
comment on function api_meta.listed(regclass, text, name) is 'Whether a smart tag of a view, a list with commas, names the column.';

create or replace view api_meta.api_view as
select c.oid as view, n.nspname as schema, c.relname as name
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname ~ '^api_(unstable|\d)' and c.relkind = 'v';
comment on view api_meta.api_view is 'The views of every API schema.';

create or replace view api_meta.view_column_source as
select v.view, d.refobjid as table_id, d.refobjsubid as attnum, a.attname, a.attnotnull, count(*) over (partition by v.view, d.refobjid) as weight
from api_meta.api_view v
join pg_catalog.pg_rewrite r on r.ev_class = v.view
join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = r.oid
  and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> v.view and d.refobjsubid > 0
join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid;
comment on view api_meta.view_column_source is
  'Which columns of which tables each API view reads. The table with the greatest weight is what the view is about.';
--! EndIncluded functions/api_meta/view_tags.sql
--! Included functions/api_meta/describe.sql
create or replace function api_meta.describe() returns void
language plpgsql set search_path = pg_catalog as $$
declare
  col record;
  text_of_column text;
begin
  for col in
    select v.schema, v.name, v.view, a.attname, a.attnum, t.typname, s.table_id, s.attnum as source_attnum, coalesce(s.attnotnull, false) as not_null,
      col_description(v.view, a.attnum) as own
    from api_meta.api_view v
    join pg_attribute a on a.attrelid = v.view and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    left join lateral (
      select s.* from api_meta.view_column_source s where s.view = v.view and s.attname = a.attname order by s.weight desc limit 1
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
    execute format('comment on column %I.%I.%I is %L', col.schema, col.name, col.attname, nullif(concat_ws(E'\n',
      case when col.not_null and not api_meta.listed(col.view, 'nullable', col.attname) then '@notNull' end,
      case when api_meta.listed(col.view, 'hidden', col.attname) then '@behavior -*' end,
      (select '@enum ' || split_part(e, ' ', 2) from api_meta.view_tag(col.view, 'columnEnum') e where split_part(e, ' ', 1) = col.attname),
      text_of_column
    ), ''));
  end loop;
end
$$;
comment on function api_meta.describe() is
  'Writes the comments of the columns of the head''s views: description and nullability from the table''s column of the same name, corrected by the view''s tags @nullable, @hidden and @columnEnum. Columns that are expressions carry comments of their own.';
--! EndIncluded functions/api_meta/describe.sql
--! Included functions/api_meta/grant_reads.sql
create or replace function api_meta.grant_reads() returns void
language plpgsql set search_path = pg_catalog as $$
declare
  item record;
begin
  for item in select distinct schema as name from api_meta.api_view
    union select distinct c.relnamespace::regnamespace::text from api_meta.view_column_source s join pg_class c on c.oid = s.table_id
    union select 'erp'
  loop
    if not has_schema_privilege('service_api', item.name, 'usage') then
      execute format('grant usage on schema %I to service_api', item.name);
    end if;
  end loop;
  for item in select view from api_meta.api_view where not has_table_privilege('service_api', view, 'select') loop
    execute format('grant select on %s to service_api', item.view::regclass);
  end loop;
  -- column by column: what no view reads stays out of reach
  for item in
    select a.attrelid::regclass as relation, a.attname,
      exists (select from api_meta.view_column_source s where s.table_id = a.attrelid and s.attnum = a.attnum) as wanted
    from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p')
    where c.relnamespace::regnamespace::text in ('erp', 'ledger', 'events') and a.attnum > 0 and not a.attisdropped
  loop
    if item.wanted and not has_column_privilege('service_api', item.relation::oid, item.attname, 'select') then
      execute format('grant select (%I) on %s to service_api', item.attname, item.relation);
    elsif not item.wanted and has_column_privilege('service_api', item.relation::oid, item.attname, 'select') then
      execute format('revoke select (%I) on %s from service_api', item.attname, item.relation);
    end if;
  end loop;
end
$$;
comment on function api_meta.grant_reads() is
  'Lets service_api read the API views and exactly those columns of tables that the views read. Changes only what differs.';
--! EndIncluded functions/api_meta/grant_reads.sql
--! Included functions/api_meta/protect_reads.sql
create or replace view api_meta.read_policy as
select s.table_id, array_agg(distinct scope order by scope) as scopes,
  format('%s_select_api', c.relname) as policy,
  format('( SELECT auth.has_scope(VARIADIC %L::text[]) AS has_scope)', array_agg(distinct scope order by scope)) as qualifier
from (select distinct view, table_id from api_meta.view_column_source) s
join pg_catalog.pg_class c on c.oid = s.table_id
cross join lateral api_meta.view_tag(s.view, 'requiresScopes') tag
cross join lateral regexp_split_to_table(regexp_replace(tag, '^(anyOf|allOf):', ''), '\s+') scope
where scope <> '' and c.relkind in ('r', 'p')
group by s.table_id, c.relname;
comment on view api_meta.read_policy is
  'The row-level security policy that each table needs: readable by whoever holds a scope of a view that reads the table.';

create or replace function api_meta.protect_reads() returns void
language plpgsql set search_path = pg_catalog as $$
declare
  item record;
begin
  for item in
    select p.polname, p.polrelid::regclass as relation from pg_policy p left join api_meta.read_policy r on r.table_id = p.polrelid
    where p.polname like '%\_select\_api'
      and (r.policy is distinct from p.polname or pg_get_expr(p.polqual, p.polrelid) is distinct from r.qualifier)
  loop
    execute format('drop policy %I on %s', item.polname, item.relation);
  end loop;
  for item in
    select r.* from api_meta.read_policy r left join pg_policy p on p.polrelid = r.table_id and p.polname = r.policy where p.oid is null
  loop
    execute format('create policy %I on %s for select to service_api using ((select auth.has_scope(variadic %L::text[])))',
      item.policy, item.table_id::regclass, item.scopes);
  end loop;
end
$$;
comment on function api_meta.protect_reads() is
  'Makes the row-level security policies of service_api out of the @requiresScopes tags of the API views. The function call stands in a sub-select, so that it runs once per statement. Changes only what differs, for a change locks the table.';
--! EndIncluded functions/api_meta/protect_reads.sql
--! Included functions/api_meta/derive.sql
create or replace function api_meta.derive() returns void
language plpgsql set search_path = pg_catalog as $$
begin
  perform api_meta.describe();
  perform api_meta.grant_reads();
  perform api_meta.protect_reads();
end
$$;
comment on function api_meta.derive() is
  'Everything that follows from the API views: descriptions, grants, policies. Runs after each migration; running it again changes nothing.';
--! EndIncluded functions/api_meta/derive.sql
--! Included functions/api_meta/freeze.sql
create or replace function api_meta.freeze(source name, target name) returns void
language plpgsql set search_path = pg_catalog as $$
declare
  item record;
  from_prefix constant text := quote_ident(source) || '.';
  to_prefix constant text := quote_ident(target) || '.';
begin
  execute format('create schema %I', target);
  execute format('comment on schema %I is %L', target, 'Frozen clone of ' || source || '.');
  for item in
    select t.oid, t.typname, t.typtype, t.typrelid, obj_description(t.oid, 'pg_type') as note
    from pg_type t left join pg_class c on c.oid = t.typrelid
    where t.typnamespace = source::text::regnamespace and (t.typtype = 'e' or (t.typtype = 'c' and c.relkind = 'c')) order by t.oid
  loop
    if item.typtype = 'e' then
      execute format('create type %I.%I as enum (%s)', target, item.typname,
        (select string_agg(quote_literal(enumlabel), ', ' order by enumsortorder) from pg_enum where enumtypid = item.oid));
    else
      execute format('create type %I.%I as (%s)', target, item.typname,
        (select string_agg(format('%I %s', attname, replace(format_type(atttypid, atttypmod), from_prefix, to_prefix)), ', ' order by attnum)
         from pg_attribute where attrelid = item.typrelid and attnum > 0 and not attisdropped));
    end if;
    execute format('comment on type %I.%I is %L', target, item.typname, item.note);
  end loop;
  for item in
    select c.oid, c.relname, obj_description(c.oid, 'pg_class') as note from pg_class c
    where c.relnamespace = source::text::regnamespace and c.relkind = 'v' order by c.oid
  loop
    execute format('create view %I.%I with (security_invoker = true) as %s', target, item.relname,
      replace(pg_get_viewdef(item.oid), from_prefix, to_prefix));
    execute format('comment on view %I.%I is %L', target, item.relname, item.note);
  end loop;
  for item in
    select p.oid, pg_get_functiondef(p.oid) as definition, obj_description(p.oid, 'pg_proc') as note, p.proname,
      pg_get_function_identity_arguments(p.oid) as arguments, has_function_privilege('service_api', p.oid, 'execute') as granted
    from pg_proc p where p.pronamespace = source::text::regnamespace order by p.oid
  loop
    execute replace(item.definition, from_prefix, to_prefix);
    execute format('comment on function %I.%I(%s) is %L', target, item.proname, replace(item.arguments, from_prefix, to_prefix), item.note);
    if item.granted then
      execute format('grant execute on function %I.%I(%s) to service_api', target, item.proname, replace(item.arguments, from_prefix, to_prefix));
    end if;
  end loop;
  for item in
    select c.relname, c.relkind, a.attname, col_description(c.oid, a.attnum) as note
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = source::text::regnamespace and c.relkind in ('v', 'c') and col_description(c.oid, a.attnum) is not null
  loop
    execute format('comment on column %I.%I.%I is %L', target, item.relname, item.attname, item.note);
  end loop;
end
$$;
comment on function api_meta.freeze(name, name) is
  'Clones an API schema under a new name: types, views, functions, their comments and grants. A clone reads the same tables and never changes again by itself; views are bound to tables by identity, so renaming a table or a column does not touch it.';
--! EndIncluded functions/api_meta/freeze.sql
--! Included functions/api_meta/migration_count.sql
create or replace function api_meta.migration_count() returns integer
language sql stable security definer set search_path = pg_catalog
return (select count(*) from graphile_migrate.migrations)::integer;
comment on function api_meta.migration_count() is
  'How many migrations the database has had. The service asks at its start, as service_login, which may read nothing else.';
revoke all on function api_meta.migration_count() from public;
grant usage on schema api_meta to service_login;
grant execute on function api_meta.migration_count() to service_login;
--! EndIncluded functions/api_meta/migration_count.sql
