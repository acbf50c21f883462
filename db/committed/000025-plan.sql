--! Previous: sha1:0918a39b529fb59496a82c217e57a0fd41a153b0
--! Hash: sha1:3a35f4db60879acb065f78c46b1c4b651e676e0f
--! Message: plan

--! split: 1-current.sql
-- Enter migration here

--! split: 0100-plan.sql
-- The merchant's plan: whether the API may be used, whether it may be written by, and how much at once.
create table if not exists auth.plan (
  name text primary key constraint plan_is_none_read_only_or_full check (name in ('none', 'read_only', 'full')),
  is_current boolean not null default false,
  limits jsonb not null default '{}' constraint plan_limits_are_an_object check (jsonb_typeof(limits) = 'object')
);
alter table auth.plan enable row level security;
create unique index if not exists plan_is_one on auth.plan (is_current) where is_current;
comment on table auth.plan is 'The plans that a merchant can have, of which one is current.';
comment on column auth.plan.name is 'none: the API is switched off. read_only: queries only. full: everything.';
comment on column auth.plan.is_current is 'Whether it is the plan that the merchant has.';
comment on column auth.plan.limits is
  'Limits that differ from the settings of the service while the plan is current, by the names that src/limits/limits.ts gives them, for example {"cost": 4000}.';
insert into auth.plan (name, is_current)
select v.name, v.name = 'full' and not exists (select from auth.plan where is_current)
from (values ('none'), ('read_only'), ('full')) v (name)
on conflict (name) do nothing;
create or replace trigger announce_change after insert or update or delete on auth.plan
  for each statement execute function auth.announce_credential_change();

-- What clients have taken, where processes count together. Not worth a log: after a crash everybody may take anew.
create unlogged table if not exists auth.taken_points (
  key text primary key,
  points integer not null default 0,
  expire bigint
);
alter table auth.taken_points enable row level security;
comment on table auth.taken_points is 'What clients have taken in the present span of time, in the shape of the package rate-limiter-flexible.';
comment on column auth.taken_points.key is 'Of what rate, and which client.';
comment on column auth.taken_points.points is 'How much was taken.';
comment on column auth.taken_points.expire is 'End of the span of time, in milliseconds since 1970.';
grant usage on schema auth to service_limiter;
select api_meta.allow('service_limiter', 'auth.taken_points', 'select', 'insert', 'update', 'delete');

--! Included functions/auth/announce_credential_change.sql
create or replace function auth.announce_credential_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('service_credential_change', '');
  return null;
end
$$;
comment on function auth.announce_credential_change() is
  'Trigger: tells every process of the service to forget what it remembers about credentials and the plan, as soon as the change is committed.';
--! EndIncluded functions/auth/announce_credential_change.sql
--! Included functions/auth/plan.sql
create or replace function auth.current_plan() returns table (name text, limits jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select plan.name, plan.limits from auth.plan where plan.is_current;
end;
comment on function auth.current_plan() is 'The plan that the merchant has, and the limits that come with it.';
grant execute on function auth.current_plan() to service_auth;
-- For mutation.run, the second fence
grant usage on schema auth to service_writer;
grant execute on function auth.current_plan() to service_writer;

create or replace function auth.set_plan(name text, limits jsonb default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from auth.plan p where p.name = set_plan.name) then
    raise exception 'There is no plan %.', name using errcode = 'no_data_found';
  end if;
  update auth.plan p set is_current = false where p.is_current and p.name <> set_plan.name;
  update auth.plan p set is_current = true, limits = coalesce(set_plan.limits, p.limits) where p.name = set_plan.name;
end
$$;
comment on function auth.set_plan(text, jsonb) is
  'Gives the merchant a plan, with other limits if these are named. Takes effect at once on every process. Raises no_data_found for a plan that does not exist.';
--! EndIncluded functions/auth/plan.sql
--! Included functions/mutation/run.sql
create or replace function mutation.run(version name, operation name, input jsonb, idempotency_key text, validate_only boolean) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lifetime constant interval := interval '24 hours';
  nobody constant text := '00000000-0000-0000-0000-000000000000';
  caller constant uuid := coalesce(nullif(current_setting('service.credential_id', true), ''), nobody)::uuid;
  digest constant bytea := sha256(convert_to(operation || ' ' || input::text, 'UTF8'));
  target record;
  earlier record;
  result jsonb;
  errors jsonb;
  state text; message text; detail text; violated_schema text; violated_table text; violated_column text; violated_constraint text;
begin
  select p.oid::regproc as routine, p.proargtypes[0]::regtype as input_type, p.pronargs > 1 as takes_changes,
    regexp_split_to_array(substring(obj_description(p.oid, 'pg_proc') from '(?n)^@requiresScopes +(.*)$'), ' +') as scopes
  into target
  from pg_proc p where p.pronamespace = to_regnamespace(quote_ident(version)) and p.proname = operation and version ~ '^api_(unstable|\d)';
  if target.scopes is null then
    raise exception 'There is no mutation %.%.', version, operation using errcode = 'undefined_function';
  end if;
  if not auth.has_scope(variadic target.scopes) then
    raise exception '%.% needs the scope %.', version, operation, array_to_string(target.scopes, ' or ') using errcode = 'insufficient_privilege';
  end if;

  -- The first fence stands before GraphQL, and may not have heard yet
  if (select p.name from auth.current_plan() p) is distinct from 'full' then
    raise exception 'The plan allows no mutations.' using errcode = 'UE003';
  end if;

  begin
    if idempotency_key is not null then
      if length(idempotency_key) not between 1 and 255 then
        perform mutation.refuse('OUT_OF_RANGE', 'An idempotency key has 1 to 255 characters.', '{idempotency_key}');
      end if;
      -- Whoever comes with the same key at the same time waits here until the first has committed or failed.
      insert into mutation.idempotency_key as k (credential_id, key, request) values (caller, idempotency_key, digest)
      on conflict (credential_id, key) do update set request = excluded.request, payload = null, created_at = excluded.created_at
        where k.created_at < now() - lifetime;
      if not found then
        select k.request, k.payload into strict earlier
        from mutation.idempotency_key k where k.credential_id = caller and k.key = idempotency_key;
        if earlier.request <> digest then
          perform mutation.refuse('IDEMPOTENCY_KEY_MISMATCH', 'The key was used for another input in the last 24 hours.', '{idempotency_key}');
        end if;
        return jsonb_build_object('payload', case when not validate_only then earlier.payload end, 'userErrors', '[]'::jsonb);
      end if;
    end if;

    execute format('select to_jsonb(r) from %s(jsonb_populate_record(null::%s, $1)%s) r',
      target.routine, target.input_type, case when target.takes_changes then ', $1' end)
    into result using input;
    set constraints all immediate;

    if validate_only then
      raise exception 'It would have worked.' using errcode = 'UE002';
    end if;
    if idempotency_key is not null then
      update mutation.idempotency_key k set payload = result where k.credential_id = caller and k.key = idempotency_key;
      -- Old keys go a few at a time, so that no call pays for many.
      delete from mutation.idempotency_key k where k.ctid = any (array(
        select o.ctid from mutation.idempotency_key o where o.created_at < now() - lifetime
        order by o.created_at limit 5 for update skip locked));
    end if;
    return jsonb_build_object('payload', result, 'userErrors', '[]'::jsonb);
  exception
    when sqlstate 'UE002' then
      errors := '[]';
    when sqlstate 'UE001' then
      get stacked diagnostics detail = pg_exception_detail;
      errors := detail::jsonb;
    when numeric_value_out_of_range then
      errors := jsonb_build_array(mutation.user_error('OUT_OF_RANGE', 'A quantity or an amount would become larger than can be kept.'));
    when integrity_constraint_violation then
      get stacked diagnostics state = returned_sqlstate, message = message_text, violated_schema = schema_name, violated_table = table_name,
        violated_column = column_name, violated_constraint = constraint_name;
      errors := jsonb_build_array(case
        -- The caller gave null for what must not be null
        when state = '23502' and input ? violated_column then
          mutation.user_error('REQUIRED', 'This must not be null.', array[violated_column])
        -- A foreign key says: on delete restrict
        when state = '23001' then
          mutation.user_error('REFERENCE_IN_USE', 'Something else still refers to it.')
        else mutation.violation(violated_schema, violated_table, violated_constraint)
      end);
      if errors -> 0 = 'null' then raise; end if;
  end;
  return jsonb_build_object('payload', null, 'userErrors', errors);
end
$$;
comment on function mutation.run(name, name, jsonb, text, boolean) is
  'Runs a mutation: the function of that name in the API schema of a version, with its input as JSON. The only way in for service_api: needs the scope in the tag @requiresScopes of the function''s comment. Answers {payload, userErrors}; with user errors nothing has been changed. A key makes a repetition within 24 hours answer the first payload again. With validate_only everything is undone. Other errors are raised: UE003 when the plan allows no mutations, faults, and collisions that are worth another try.';
--! EndIncluded functions/mutation/run.sql
