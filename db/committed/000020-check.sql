--! Previous: sha1:64422e0ddfdb873a7c0ebfea5ca9784c3a5a7a99
--! Hash: sha1:7ef1fb928ca02f6e927c5eec7ead6ed02c57873f
--! Message: check

--! split: 60-check.sql
-- Which fields of the API each credential uses, and when last: tells whom a change would break
create table if not exists auth.field_use (
  credential_id uuid not null references auth.credential on delete cascade,
  version text not null,
  field text not null,
  last_used_on date not null,
  primary key (credential_id, version, field)
);
alter table auth.field_use enable row level security;
comment on table auth.field_use is
  'When each credential last used each field of each version, by UTC: whom a change of it would break.';
comment on column auth.field_use.field is
  'Type.field, or Type.field(argument:) for an argument that was given.';
select api_meta.allow('service_registrar', 'auth.field_use', 'select', 'insert', 'update (last_used_on)');
--! Included auth/record_fields.sql
create or replace function auth.record_fields(entries jsonb) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with present as materialized (
    -- Those that were deleted meanwhile are left out; in one order, as auth.record_use has it
    select credential.id from auth.credential
    where credential.id in (select (e ->> 'credential_id')::uuid from jsonb_array_elements(entries) e)
    order by credential.id for key share
  )
  insert into auth.field_use as use (credential_id, version, field, last_used_on)
  select e.credential_id, e.version, e.field, max(e.day)
  from jsonb_to_recordset(entries) as e (credential_id uuid, version text, field text, day date)
  join present on present.id = e.credential_id
  group by 1, 2, 3
  order by 1, 2, 3
  on conflict on constraint field_use_pkey do update set last_used_on = excluded.last_used_on
  where use.last_used_on < excluded.last_used_on
$$;
comment on function auth.record_fields(jsonb) is
  'Notes the last day on which credentials used fields: an array of objects with credential_id, version, '
  'field, day.';
select api_meta.give('auth.record_fields(jsonb)', 'service_registrar');
grant execute on function auth.record_fields(jsonb) to service_auth;
--! EndIncluded auth/record_fields.sql
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
