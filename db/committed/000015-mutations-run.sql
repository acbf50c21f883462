--! Previous: sha1:898bc1fe76608880b5f409b2a38370800cbed4dc
--! Hash: sha1:44acd2a10d0614334739287170e945cbd235231f
--! Message: mutations-run

--! split: 0100-roles-of-writing.sql
-- What writes: mutation.run, the one way in, and the roles that the functions behind it work as.
create schema if not exists mutation;
comment on schema mutation is 'What all mutations have in common: the way in, keys that make repetitions harmless, user errors.';

--! Included functions/api_meta/allow.sql
create or replace function api_meta.allow(audience regrole, relation regclass, variadic rights text[]) returns void
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
      case action when 'insert' then 'with check (true)' when 'update' then 'using (true) with check (true)' else 'using (true)' end);
  end loop;
end
$$;
comment on function api_meta.allow(regrole, regclass, text[]) is
  'Gives a role that runs functions rights on a table: select, insert, update or delete, each with a list of columns in parentheses if not all, and the policies that open the rows. Which rows it changes is up to the functions.';
--! EndIncluded functions/api_meta/allow.sql
--! Included functions/api_meta/give.sql
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
  'Makes a narrow role the owner of a function with the rights of its owner, so that it can do what that role may, and no more.';
--! EndIncluded functions/api_meta/give.sql
--! Included functions/api_meta/grant_mutations.sql
create or replace function api_meta.grant_mutations() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in select distinct schema from api_meta.api_view where not has_schema_privilege('service_writer', schema, 'usage') loop
    execute format('grant usage on schema %I to service_writer', item.schema);
  end loop;
  for item in
    select p.oid::regprocedure as routine from pg_proc p
    where p.pronamespace in (select schema::text::regnamespace from api_meta.api_view) and not has_function_privilege('service_writer', p.oid, 'execute')
  loop
    execute format('grant execute on function %s to service_writer', item.routine);
  end loop;
end
$$;
comment on function api_meta.grant_mutations() is
  'Lets service_writer, as which mutation.run works, execute the functions of the API schemas. Changes only what differs.';
--! EndIncluded functions/api_meta/grant_mutations.sql
--! Included functions/api_meta/derive.sql
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
  'Everything that follows from the API schemas: descriptions, grants, policies. Runs after each migration; running it again changes nothing.';
--! EndIncluded functions/api_meta/derive.sql

create table if not exists mutation.idempotency_key (
  credential_id uuid not null,
  key text collate "C" not null,
  request bytea not null,
  payload jsonb,
  created_at timestamptz not null default now(),
  primary key (credential_id, key)
);
create index if not exists idempotency_key_created_at_idx on mutation.idempotency_key (created_at);
alter table mutation.idempotency_key enable row level security;
comment on table mutation.idempotency_key is
  'Which mutations were called with a key in the last 24 hours, by the credential that did; written in the transaction of their effect.';
comment on column mutation.idempotency_key.request is 'SHA-256 of the name of the mutation and its input.';
comment on column mutation.idempotency_key.payload is 'What the mutation answered: ids, not the things themselves.';

--! Included functions/mutation/user_errors.sql
create or replace function mutation.user_error(code text, message text, field text[] default null, details jsonb default null) returns jsonb
language sql immutable parallel safe
return pg_catalog.jsonb_build_object('code', code, 'message', message, 'field', pg_catalog.to_jsonb(field), 'details', details);
comment on function mutation.user_error(text, text, text[], jsonb) is
  'One user error: a code of api_unstable.user_error_code, a sentence for people, the way to the input at fault in names of columns (such as {lines,0,quantity}), and further facts.';
grant execute on function mutation.user_error(text, text, text[], jsonb) to service_writer, service_ledger;

create or replace function mutation.refuse(errors jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if jsonb_array_length(errors) > 0 then
    raise exception using errcode = 'UE001', message = errors -> 0 ->> 'message', detail = errors::text;
  end if;
end
$$;
comment on function mutation.refuse(jsonb) is
  'Ends the mutation with an array of user errors; goes on when the array is empty or null. SQLSTATE UE001, the detail is the array.';
grant execute on function mutation.refuse(jsonb) to service_writer, service_ledger;

create or replace function mutation.refuse(code text, message text, field text[] default null, details jsonb default null) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.refuse(jsonb_build_array(mutation.user_error(code, message, field, details)));
end;
comment on function mutation.refuse(text, text, text[], jsonb) is 'Ends the mutation with one user error.';
grant execute on function mutation.refuse(text, text, text[], jsonb) to service_writer, service_ledger;

create or replace function mutation.violation(constraint_schema name, constraint_table name, constraint_name name) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with found (note) as (
    select obj_description(c.oid, 'pg_constraint') from pg_constraint c
    where c.conname = constraint_name and c.conrelid = to_regclass(format('%I.%I', constraint_schema, constraint_table))
    union all
    select obj_description(to_regclass(format('%I.%I', constraint_schema, constraint_name)), 'pg_class')
  )
  select mutation.user_error(m[1], m[3], string_to_array(nullif(m[2], ''), ','))
  from found cross join lateral regexp_match(found.note, '^@userError +([A-Z_]+) *([a-z_,]*)\s+(.*)$') m
  where m is not null limit 1;
end;
comment on function mutation.violation(name, name, name) is
  'The user error that a violated constraint means, from the constraint''s comment: @userError CODE column, and on the next line a sentence for people. Null when the comment says nothing: then the violation is a fault of ours.';
grant execute on function mutation.violation(name, name, name) to service_writer;
--! EndIncluded functions/mutation/user_errors.sql
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
  'Runs a mutation: the function of that name in the API schema of a version, with its input as JSON. The only way in for service_api: needs the scope in the tag @requiresScopes of the function''s comment. Answers {payload, userErrors}; with user errors nothing has been changed. A key makes a repetition within 24 hours answer the first payload again. With validate_only everything is undone. Other errors are raised: faults, and collisions that are worth another try.';
--! EndIncluded functions/mutation/run.sql
select api_meta.give('mutation.run(name, name, jsonb, text, boolean)', 'service_writer');
select api_meta.allow('service_writer', 'mutation.idempotency_key', 'select', 'insert', 'update', 'delete');
grant usage on schema mutation to service_api, service_writer, service_ledger;
grant usage on schema auth, erp, ledger to service_writer;
grant usage on schema erp, ledger to service_ledger;
grant execute on function auth.has_scope(text[]) to service_writer;
grant execute on function mutation.run(name, name, jsonb, text, boolean) to service_api;

-- A temporary table or type of a caller must not take the place of one that a function means
do $$
declare routine regprocedure;
begin
  for routine in
    select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('erp', 'ledger', 'mutation', 'auth', 'events', 'api_meta') and 'search_path=pg_catalog' = any (p.proconfig)
  loop
    execute format('alter function %s set search_path = pg_catalog, pg_temp', routine);
  end loop;
end
$$;
