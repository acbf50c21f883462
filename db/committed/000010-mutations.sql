--! Previous: sha1:d6b7237625acfdc6614f1045211bc574eedf1e29
--! Hash: sha1:a408ff8f799de7db5db6a3161305f8f051ab75bf
--! Message: mutations

-- What writes: mutation.run, the one way in, and what all mutations have in common.

create table mutation.idempotency_key (
  credential_id uuid not null,
  key text collate "C" not null,
  request bytea not null,
  payload jsonb,
  created_at timestamptz not null default now(),
  primary key (credential_id, key)
);
create index idempotency_key_created_at_idx on mutation.idempotency_key (created_at);
alter table mutation.idempotency_key enable row level security;
comment on table mutation.idempotency_key is
  'Which mutations were called with a key in the last 24 hours, by the credential that did; written in '
  'the transaction of their effect.';
comment on column mutation.idempotency_key.request is
  'SHA-256 of the name of the mutation and of what its input means, by mutation.digest.';
comment on column mutation.idempotency_key.payload is
  'What the mutation answered: ids, not the things themselves; and its warnings.';
select api_meta.allow('service_writer', 'mutation.idempotency_key', 'select', 'insert', 'update', 'delete');

--! Included mutation/broken_rule.sql
create or replace function mutation.broken_rule(
  state text, input jsonb, violated_schema name, violated_table name, violated_column name,
    violated_constraint name
) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  error jsonb;
begin
  error := case
    -- The caller gave null for what must not be null
    when state = '23502' and input ? violated_column then
      mutation.user_error('REQUIRED', 'This must not be null.', array[violated_column])
    -- A foreign key says: on delete restrict
    when state = '23001' then
      mutation.user_error('REFERENCE_IN_USE', 'Something else still refers to it.')
    else mutation.violation(violated_schema, violated_table, violated_constraint)
  end;
  return case when error is not null then jsonb_build_array(error) end;
end
$$;
comment on function mutation.broken_rule(text, jsonb, name, name, name, name) is
  'The user errors that the violation of a constraint means, by its SQLSTATE and the constraint; null '
  'when it is a fault of ours.';
grant execute on function mutation.broken_rule(text, jsonb, name, name, name, name) to service_writer;
--! EndIncluded mutation/broken_rule.sql
--! Included mutation/caller.sql
create or replace function mutation.caller() returns uuid
language sql stable set search_path = pg_catalog, pg_temp
return coalesce(nullif(current_setting('service.credential_id', true), ''),
  '00000000-0000-0000-0000-000000000000')::uuid;
comment on function mutation.caller() is
  'The credential of the request, to which idempotency keys belong; the nil uuid when there is none.';
grant execute on function mutation.caller() to service_writer;
--! EndIncluded mutation/caller.sql
--! Included mutation/digest.sql
create or replace function mutation.digest(
  operation name, input_type regtype, input jsonb, takes_changes boolean
)
returns bytea
language plpgsql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
declare
  decoded jsonb;
  emptied jsonb;
begin
  -- Ids and moments have one spelling each when they come out of a column of their type
  execute format('select jsonb_strip_nulls(to_jsonb(jsonb_populate_record(null::%s, $1)))', input_type)
    into decoded using input;
  if takes_changes then
    select jsonb_agg(f.key order by f.key collate "C")
    into emptied
    from jsonb_each(input) f
    where f.value = 'null';
  end if;
  return sha256(convert_to(concat_ws(' ', operation, decoded, emptied), 'UTF8'));
end
$$;
comment on function mutation.digest(name, regtype, jsonb, boolean) is
  'What an idempotency key stands for: SHA-256 of the name of a mutation and of what its input means. '
  'Equal moments are equal however they are spelled; null is the same as left out, save in the fields '
  'of a mutation that takes changes, which null empties. The version has no part in it, nor have fields '
  'that a later one adds and a caller leaves out.';
grant execute on function mutation.digest(name, regtype, jsonb, boolean) to service_writer;
--! EndIncluded mutation/digest.sql
--! Included mutation/find.sql
create or replace function mutation.find(
  version name, operation name,
  out routine regproc, out input_type regtype, out payload_type regtype, out takes_changes boolean
)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  scopes text[];
begin
  select p.oid::regproc, p.proargtypes[0]::regtype, p.prorettype::regtype, p.pronargs > 1,
    regexp_split_to_array(
      substring(obj_description(p.oid, 'pg_proc') from '(?n)^@requiresScopes +(.*)$'), ' +'
    )
  into routine, input_type, payload_type, takes_changes, scopes
  from pg_proc p
  where p.pronamespace = to_regnamespace(quote_ident(version)) and p.proname = operation
    and version ~ '^api_(unstable|\d)';
  if scopes is null then
    raise exception 'There is no mutation %.%.', version, operation using errcode = 'undefined_function';
  end if;
  if not auth.has_scope(variadic scopes) then
    raise exception '%.% needs the scope %.', version, operation, array_to_string(scopes, ' or ')
      using errcode = 'insufficient_privilege';
  end if;
end
$$;
comment on function mutation.find(name, name) is
  'The function of a mutation, its types, and whether it takes changes. Fails when there is none of '
  'that name, or the caller lacks its scope, which the tag @requiresScopes of its comment names.';
grant execute on function mutation.find(name, name) to service_writer;
--! EndIncluded mutation/find.sql
--! Included mutation/keep_answer.sql
create or replace function mutation.keep_answer(idempotency_key text, answer jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update mutation.idempotency_key k set payload = answer
  where k.credential_id = mutation.caller() and k.key = idempotency_key;
  -- Old keys go a few at a time, so that no call pays for many.
  delete from mutation.idempotency_key k where k.ctid = any (array(
    select o.ctid from mutation.idempotency_key o where o.created_at < now() - mutation.key_lifetime()
    order by o.created_at limit 5 for update skip locked));
end
$$;
comment on function mutation.keep_answer(text, jsonb) is
  'Keeps what the running mutation answers for repetitions with its key, and removes a few keys that '
  'are too old.';
grant execute on function mutation.keep_answer(text, jsonb) to service_writer;
--! EndIncluded mutation/keep_answer.sql
--! Included mutation/key_lifetime.sql
create or replace function mutation.key_lifetime() returns interval
language sql immutable set search_path = pg_catalog, pg_temp
return interval '24 hours';
comment on function mutation.key_lifetime() is
  'How long an idempotency key stands for the mutation that had it.';
grant execute on function mutation.key_lifetime() to service_writer;
--! EndIncluded mutation/key_lifetime.sql
--! Included mutation/path.sql
create or replace function mutation.path(list text, line bigint, variadic field text[] default '{}')
returns text[]
language sql immutable parallel safe
return array[list, (line - 1)::text] operator(pg_catalog.||) field;
comment on function mutation.path(text, bigint, text[]) is
  'The way to an element of a list in the input, or to a field of it, for user errors. Lines are '
  'counted from 1.';
grant execute on function mutation.path(text, bigint, text[]) to service_ledger, service_writer;
--! EndIncluded mutation/path.sql
--! Included mutation/user_error.sql
create or replace function mutation.user_error(
  code text, message text, field text[] default null, details jsonb default null
)
returns jsonb
language sql immutable parallel safe
return pg_catalog.jsonb_build_object(
  'code', code, 'message', message, 'field', pg_catalog.to_jsonb(field), 'details', details
);
comment on function mutation.user_error(text, text, text[], jsonb) is
  'One user error: a code of api_unstable.user_error_code, a sentence for people, the way to the input '
  'at fault in names of columns (such as {lines,0,quantity}), and further facts.';
grant execute on function mutation.user_error(text, text, text[], jsonb) to service_ledger, service_writer;
--! EndIncluded mutation/user_error.sql
--! Included mutation/refuse.sql
create or replace function mutation.refuse(errors jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if jsonb_array_length(errors) > 0 then
    raise exception using errcode = 'UE001', message = errors -> 0 ->> 'message', detail = errors::text;
  end if;
end
$$;
comment on function mutation.refuse(jsonb) is
  'Ends the mutation with an array of user errors; goes on when the array is empty or null. SQLSTATE '
  'UE001, the detail is the array.';
grant execute on function mutation.refuse(jsonb) to service_ledger, service_writer;

create or replace function mutation.refuse(
  code text, message text, field text[] default null, details jsonb default null
)
returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.refuse(jsonb_build_array(mutation.user_error(code, message, field, details)));
end;
comment on function mutation.refuse(text, text, text[], jsonb) is 'Ends the mutation with one user error.';
grant execute on function mutation.refuse(text, text, text[], jsonb) to service_ledger, service_writer;
--! EndIncluded mutation/refuse.sql
--! Included mutation/refuse_missing.sql
create or replace function mutation.refuse_missing(thing text, field text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform mutation.refuse('NOT_FOUND', format('There is no such %s.', thing), field);
end
$$;
comment on function mutation.refuse_missing(text, text[]) is
  'Ends the mutation, since an id in the input leads to nothing. User error NOT_FOUND.';
grant execute on function mutation.refuse_missing(text, text[]) to service_ledger, service_writer;
--! EndIncluded mutation/refuse_missing.sql
--! Included mutation/refuse_nulls.sql
create or replace function mutation.refuse_nulls(input_type regtype, input jsonb) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  if input @? '$.* ? (@ == null)' then
    select jsonb_agg(mutation.user_error('REQUIRED', 'Null is not an answer here: say it, or leave it out.',
      array[f.key])
      order by f.key)
    into errors
    from jsonb_each(input) f
    where f.value = 'null' and (f.key = 'validate_only' or exists (
      select from pg_type t join pg_attribute a on a.attrelid = t.typrelid
      where t.oid = input_type and a.attname = f.key
        and col_description(a.attrelid, a.attnum) ~ '(?n)^@neverNull$'));
    perform mutation.refuse(errors);
  end if;
end
$$;
comment on function mutation.refuse_nulls(regtype, jsonb) is
  'Refuses nulls in fields that hold something back when they are given, validate_only and columns with '
  'the tag @neverNull: a null there would pass for their default, and do what was perhaps to be held '
  'back. User error REQUIRED.';
grant execute on function mutation.refuse_nulls(regtype, jsonb) to service_writer;
--! EndIncluded mutation/refuse_nulls.sql
--! Included mutation/refuse_too_many.sql
create or replace function mutation.refuse_too_many(lines integer, maximum integer, field text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if lines > maximum then
    perform mutation.refuse('TOO_MANY_LINES',
      format('There are %s lines; %s are allowed at once.', lines, maximum),
      field, jsonb_build_object('lines', lines, 'maximum', maximum));
  end if;
end
$$;
comment on function mutation.refuse_too_many(integer, integer, text[]) is
  'Ends the mutation when a list of the input is longer than it may be. User error TOO_MANY_LINES.';
grant execute on function mutation.refuse_too_many(integer, integer, text[]) to service_ledger,
  service_writer;
--! EndIncluded mutation/refuse_too_many.sql
--! Included mutation/run.sql
create or replace function mutation.run(
  version name, operation name, input jsonb, idempotency_key text, validate_only boolean
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target record;
  repeated jsonb;
  result jsonb;
  errors jsonb;
  warnings jsonb := '[]';
  state text;
  detail text;
  violated_schema text; violated_table text; violated_column text; violated_constraint text;
begin
  select * into target from mutation.find(version, operation);
  -- The first fence stands before GraphQL, and may not have heard yet
  if (select p.name from auth.current_plan() p) is distinct from 'full' then
    raise exception 'The plan allows no mutations.' using errcode = 'UE003';
  end if;

  begin
    perform mutation.refuse_nulls(target.input_type,
      case when validate_only is null then input || '{"validate_only": null}' else input end);
    if idempotency_key is not null then
      repeated := mutation.take_key(idempotency_key,
        mutation.digest(operation, target.input_type, input, target.takes_changes),
        sha256(convert_to(operation || ' ' || input::text, 'UTF8')));
      if repeated is not null then
        return jsonb_build_object('payload', case when not validate_only then repeated end,
          'userErrors', '[]'::jsonb, 'warnings', coalesce(repeated -> 'warnings', '[]'));
      end if;
    end if;
    -- Events say what caused them
    perform set_config('service.idempotency_key', coalesce(idempotency_key, ''), true);
    perform set_config('service.warnings', '', true);

    execute format('select to_jsonb(r) from %s(jsonb_populate_record(null::%s, $1)%s) r',
      target.routine, target.input_type, case when target.takes_changes then ', $1' end)
    into result using input;
    set constraints all immediate;
    -- A variable keeps what the end of validate_only undoes
    warnings := mutation.warnings();
    if validate_only then
      raise exception 'It would have worked.' using errcode = 'UE002';
    end if;
    if idempotency_key is not null then
      perform mutation.keep_answer(idempotency_key,
        (result - mutation.secrets_of(target.payload_type)) || jsonb_build_object('warnings', warnings));
    end if;
    return jsonb_build_object('payload', result, 'userErrors', '[]'::jsonb, 'warnings', warnings);
  exception
    when sqlstate 'UE002' then
      return jsonb_build_object('payload', null, 'userErrors', '[]'::jsonb, 'warnings', warnings);
    when sqlstate 'UE001' then
      get stacked diagnostics detail = pg_exception_detail;
      errors := detail::jsonb;
    when numeric_value_out_of_range then
      errors := jsonb_build_array(mutation.user_error('OUT_OF_RANGE',
        'A quantity or an amount would become larger than can be kept.'));
    when integrity_constraint_violation then
      get stacked diagnostics state = returned_sqlstate,
        violated_schema = schema_name, violated_table = table_name,
        violated_column = column_name, violated_constraint = constraint_name;
      errors := mutation.broken_rule(
        state, input, violated_schema, violated_table, violated_column, violated_constraint);
      if errors is null then raise; end if;
  end;
  return jsonb_build_object('payload', null, 'userErrors', errors, 'warnings', '[]'::jsonb);
end
$$;
comment on function mutation.run(name, name, jsonb, text, boolean) is
  'Runs a mutation: the function of that name in the API schema of a version, with its input as JSON. '
  'The only way in for service_api: needs the scope in the tag @requiresScopes of the function''s '
  'comment. Answers {payload, userErrors, warnings}; with user errors nothing has been changed, and '
  'there are no warnings. A key makes a repetition within 24 hours answer the first payload and its '
  'warnings again. With validate_only everything is undone, and the payload is null. Other errors are '
  'raised: UE003 when the plan allows no mutations, faults, and collisions that are worth another try.';
select api_meta.give('mutation.run(name, name, jsonb, text, boolean)', 'service_writer');
grant execute on function mutation.run(name, name, jsonb, text, boolean) to service_api;
--! EndIncluded mutation/run.sql
--! Included mutation/secrets_of.sql
create or replace function mutation.secrets_of(payload_type oid) returns text[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select a.attname::text from pg_type t
    join pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
    where t.oid = payload_type and col_description(a.attrelid, a.attnum) ~ '(?n)^@secret$');
end;
comment on function mutation.secrets_of(oid) is
  'The columns of a payload with the tag @secret. They are shown once: not when a mutation is repeated, '
  'so they are not stored.';
grant execute on function mutation.secrets_of(oid) to service_writer;
--! EndIncluded mutation/secrets_of.sql
--! Included mutation/take_key.sql
create or replace function mutation.take_key(idempotency_key text, digest bytea, earlier_digest bytea)
returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  earlier record;
begin
  if length(idempotency_key) not between 1 and 255 then
    perform mutation.refuse(
      'OUT_OF_RANGE', 'An idempotency key has 1 to 255 characters.', '{idempotency_key}'
    );
  end if;
  -- Whoever comes with the same key at the same time waits here until the first has committed or failed.
  insert into mutation.idempotency_key as k (credential_id, key, request)
  values (mutation.caller(), idempotency_key, digest)
  on conflict (credential_id, key) do update
    set request = excluded.request, payload = null, created_at = excluded.created_at
    where k.created_at < now() - mutation.key_lifetime();
  if found then
    return null;
  end if;
  select k.request, k.payload into strict earlier
  from mutation.idempotency_key k where k.credential_id = mutation.caller() and k.key = idempotency_key;
  if earlier.request not in (digest, earlier_digest) then
    perform mutation.refuse('IDEMPOTENCY_KEY_MISMATCH',
      'The key was used for another input in the last 24 hours.', '{idempotency_key}');
  end if;
  return earlier.payload;
end
$$;
comment on function mutation.take_key(text, bytea, bytea) is
  'Takes a key for the running mutation. Null when it was free; otherwise what the mutation answered '
  'that had it before. A key that is taken by another request is refused: IDEMPOTENCY_KEY_MISMATCH. The '
  'second digest is that of keys from before mutation.digest was.';
grant execute on function mutation.take_key(text, bytea, bytea) to service_writer;
--! EndIncluded mutation/take_key.sql
--! Included mutation/violation.sql
create or replace function mutation.violation(
  constraint_schema name, constraint_table name, constraint_name name
)
returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with found (note) as (
    select obj_description(c.oid, 'pg_constraint') from pg_constraint c
    where c.conname = constraint_name
      and c.conrelid = to_regclass(format('%I.%I', constraint_schema, constraint_table))
    union all
    select obj_description(to_regclass(format('%I.%I', constraint_schema, constraint_name)), 'pg_class')
  )
  select mutation.user_error(m[1], m[3], string_to_array(nullif(m[2], ''), ','))
  from found cross join lateral regexp_match(found.note, '^@userError +([A-Z_]+) *([a-z_,]*)\s+(.*)$') m
  where m is not null limit 1;
end;
comment on function mutation.violation(name, name, name) is
  'The user error that a violated constraint means, from the constraint''s comment: @userError CODE '
  'column, and on the next line a sentence for people. Null when the comment says nothing: then the '
  'violation is a fault of ours.';
grant execute on function mutation.violation(name, name, name) to service_writer;
--! EndIncluded mutation/violation.sql
--! Included mutation/warn.sql
create or replace function mutation.warn(warnings jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if jsonb_array_length(warnings) > 0 then
    perform set_config('service.warnings', (mutation.warnings() || warnings)::text, true);
  end if;
end
$$;
comment on function mutation.warn(jsonb) is
  'Notes an array of warnings of the running mutation, each as mutation.user_error makes one; does '
  'nothing when the array is empty or null. mutation.run answers them when the mutation is done. What '
  'is rolled back to a savepoint takes its warnings with it.';
grant execute on function mutation.warn(jsonb) to service_ledger, service_writer;

create or replace function mutation.warn(
  code text, message text, field text[] default null, details jsonb default null
)
returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.warn(jsonb_build_array(mutation.user_error(code, message, field, details)));
end;
comment on function mutation.warn(text, text, text[], jsonb) is
  'Notes a warning of the running mutation: a code of api_unstable.warning_code, a sentence for people, '
  'the way to the input that it is about in names of columns (such as {lines,0,quantity}), and further '
  'facts.';
grant execute on function mutation.warn(text, text, text[], jsonb) to service_ledger, service_writer;
--! EndIncluded mutation/warn.sql
--! Included mutation/warnings.sql
create or replace function mutation.warnings() returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
return coalesce(nullif(current_setting('service.warnings', true), ''), '[]')::jsonb;
comment on function mutation.warnings() is
  'The warnings of the running mutation, as mutation.warn noted them. They live as long as its transaction.';
grant execute on function mutation.warnings() to service_ledger, service_writer;
--! EndIncluded mutation/warnings.sql
