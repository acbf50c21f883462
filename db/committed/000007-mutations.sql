--! Previous: sha1:1fe1bec6029c217c814826338217b1b87cf24513
--! Hash: sha1:2247f4f93467accc18de5c6b156a18cfc45db36d
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
comment on index mutation.idempotency_key_created_at_idx is 'For the removal of those that are too old.';
select api_meta.allow('service_writer', 'mutation.idempotency_key', 'select', 'insert', 'update', 'delete');

-- What a mutation needs to know about itself is written down when it is migrated.
create table mutation.operation (
  version name collate "C" not null,
  operation name collate "C" not null,
  routine regproc not null,
  input_type regtype not null,
  takes_changes boolean not null,
  scopes text[] not null,
  secrets text[] not null default '{}',
  constraint operation_pkey primary key (version, operation)
);
alter table mutation.operation enable row level security;
comment on table mutation.operation is
  'What mutation.run is to know of each mutation. Follows from the functions of the API schemas, after each '
  'migration.';
select api_meta.allow('service_writer', 'mutation.operation', 'select');

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
    -- The caller gave null for a required value
    when state = '23502' and input ? violated_column then
      mutation.user_error('REQUIRED', 'This must not be null.', array[violated_column])
    -- A foreign key with on delete restrict
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
-- In a form that becomes part of the statement that calls it
create or replace function mutation.caller() returns uuid
language sql stable
return coalesce(nullif(pg_catalog.current_setting('service.credential_id', true), ''),
  '00000000-0000-0000-0000-000000000000')::uuid;
comment on function mutation.caller() is
  'The credential of the request, to which idempotency keys belong; the nil uuid when there is none.';
grant execute on function mutation.caller() to service_writer;
--! EndIncluded mutation/caller.sql
--! Included mutation/defaults_of.sql
create or replace function mutation.defaults_of(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select format('jsonb_build_object(%s)',
    string_agg(format('%L, %s', a.attname, pg_get_expr(d.adbin, d.adrelid)), ', ' order by a.attnum))
  from pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = relation and a.attgenerated = '';
end;
comment on function mutation.defaults_of(regclass) is
  'SQL for an object of the defaults of a table''s columns, evaluated anew for each row.';
grant execute on function mutation.defaults_of(regclass) to service_writer;
--! EndIncluded mutation/defaults_of.sql
--! Included mutation/derive_operations.sql
create or replace function mutation.derive_operations() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from mutation.operation;
  insert into mutation.operation (
    version, operation, routine, input_type, takes_changes, scopes, secrets
  )
  select n.nspname, p.proname, p.oid, p.proargtypes[0], p.pronargs > 1, s.scopes,
    array(
      select a.attname::text from pg_type t
      join pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
      join pg_description d on d.objoid = a.attrelid and d.classoid = 'pg_class'::regclass
        and d.objsubid = a.attnum
      where t.oid = p.prorettype and d.description ~ '(?n)^@secret$')
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  cross join lateral (
    select regexp_split_to_array(
      substring(obj_description(p.oid, 'pg_proc') from '(?n)^@requiresScopes +(.*)$'), ' +'
    )
  ) s (scopes)
  where n.nspname ~ '^api_(unstable|\d)' and p.provolatile = 'v' and s.scopes is not null;
end
$$;
comment on function mutation.derive_operations() is
  'Writes down what mutation.run is to know of each mutation, from the functions of the API schemas and '
  'the tags of their comments. Runs after each migration.';
--! EndIncluded mutation/derive_operations.sql
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
  -- Ids and times have one spelling each after conversion to the type of their column
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
--! Included mutation/thing.sql
create or replace function mutation.thing(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
return (select replace(regexp_replace(c.relname, '^sales_', ''), '_', ' ') from pg_class c
  where c.oid = relation);
comment on function mutation.thing(regclass) is 'What people call a row of a table, for messages.';
grant execute on function mutation.thing(regclass) to service_writer;
--! EndIncluded mutation/thing.sql
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
grant execute on function mutation.user_error(text, text, text[], jsonb)
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/user_error.sql
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
--! Included mutation/faults_of_columns.sql
create or replace function mutation.faults_of_columns(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select string_agg(f.query, ' union all ')
  from (
    select format($q$select w._line, 'REQUIRED', 'This must not be null.', array[%1$L] from w
      where w.%1$I is null$q$, a.attname)
    from pg_attribute a
    where a.attrelid = relation and a.attnum > 0 and a.attnotnull and not a.attisdropped
      and has_column_privilege(relation, a.attnum, 'update')
    union all
    select format($q$select w._line, 'OUT_OF_RANGE', 'The text has more than 255 characters.', array[%1$L]
      from w where length(w.%1$I) > 255$q$, a.attname)
    from pg_attribute a
    where a.attrelid = relation and a.atttypid = 'text'::regtype and exists (
      select from pg_index i where i.indrelid = relation and a.attnum = any (i.indkey::smallint[]))
    union all
    select format($q$select w._line, 'NOT_FOUND', 'There is no such %3$s.', array[%1$L] from w
      where w._given ? %1$L and w.%1$I is not null
        and not exists (select from %2$s o where o.%4$I = w.%1$I)$q$,
      a.attname, c.confrelid::regclass, mutation.thing(c.confrelid), r.attname)
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    join pg_attribute r on r.attrelid = c.confrelid and r.attnum = c.confkey[1]
    where c.conrelid = relation and c.contype = 'f' and cardinality(c.conkey) = 1
    union all
    select format('select w._line, %L, %L, %L::text[] from w where not (%s)', e.error ->> 'code',
      e.error ->> 'message', array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))),
      pg_get_expr(c.conbin, c.conrelid))
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
    cross join mutation.violation(n.nspname, t.relname, c.conname) e (error)
    where c.conrelid = relation and c.contype = 'c' and e.error is not null
  ) f (query);
end;
comment on function mutation.faults_of_columns(regclass) is
  'SQL for the rows w of mutation.row_faults that break a rule of their own: columns that must not be '
  'null, of those that mutations change, checks, foreign keys that lead to nothing, and texts that are too '
  'long for an index.';
grant execute on function mutation.faults_of_columns(regclass) to service_writer;
--! EndIncluded mutation/faults_of_columns.sql
--! Included mutation/faults_of_keys.sql
create or replace function mutation.faults_of_keys(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- Of each unique key: its name, the columns that say where it applies, and when two rows have the same
  with unique_key as (
    select c.relname as name, n.nspname as schema, t.relname as owner,
      string_agg(format(case when a.attnotnull or not i.indnullsnotdistinct then 'o.%1$I = w.%1$I'
        else 'o.%1$I is not distinct from w.%1$I' end, a.attname), ' and ' order by k.n) as is_same
    from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_class t on t.oid = i.indrelid join pg_namespace n on n.oid = t.relnamespace
    cross join unnest(i.indkey::smallint[]) with ordinality k (attnum, n)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
    where i.indrelid = relation and i.indisunique and not i.indisprimary and i.indexprs is null
      and i.indpred is null
    group by c.relname, n.nspname, t.relname, i.indnullsnotdistinct
  )
  select string_agg(format($q$
    select w._line, %L, %L, %L::text[] from w
    where exists (select from %s o where %s and o.id <> w.id)
      or exists (select from w o where o._line < w._line and %s)$q$,
    e.error ->> 'code', e.error ->> 'message',
    array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))),
    relation, u.is_same, u.is_same), ' union all ' order by u.name)
  from unique_key u cross join mutation.violation(u.schema, u.owner, u.name) e (error);
end;
comment on function mutation.faults_of_keys(regclass) is
  'SQL for the rows w of mutation.row_faults with a unique key that another row has, be it one of the same '
  'call. Null when a table has no unique key.';
grant execute on function mutation.faults_of_keys(regclass) to service_writer;
--! EndIncluded mutation/faults_of_keys.sql
--! Included mutation/find.sql
create or replace function mutation.find(
  version name, operation name,
  out routine regproc, out input_type regtype, out takes_changes boolean, out secrets text[]
)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  scopes text[];
begin
  select o.routine, o.input_type, o.takes_changes, o.secrets, o.scopes
  into routine, input_type, takes_changes, secrets, scopes
  from mutation.operation o where o.version = find.version and o.operation = find.operation;
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
  'The function of a mutation, the type of its input, whether it takes changes, and the columns of its '
  'payload that are shown once, as mutation.derive_operations wrote them down. Fails when there is none of '
  'that name, or the caller lacks its scope.';
grant execute on function mutation.find(name, name) to service_writer;
--! EndIncluded mutation/find.sql
--! Included mutation/forget_keys.sql
create or replace function mutation.forget_keys() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  expired constant timestamptz := now() - mutation.key_lifetime();
begin
  -- A look at the oldest takes a fraction of what deleting none would
  if (select k.created_at from mutation.idempotency_key k order by k.created_at limit 1) >= expired then
    return;
  end if;
  -- Each call deletes a few old keys, so that none takes long.
  delete from mutation.idempotency_key k where k.ctid = any (array(
    select o.ctid from mutation.idempotency_key o where o.created_at < expired
    order by o.created_at limit 5 for update skip locked));
end
$$;
comment on function mutation.forget_keys() is 'Removes a few idempotency keys that are too old.';
grant execute on function mutation.forget_keys() to service_writer;
--! EndIncluded mutation/forget_keys.sql
--! Included mutation/joint_call.sql
drop type if exists mutation.joint_call cascade;
create type mutation.joint_call as (
  nth integer, operation name, input_type regtype, input jsonb, key text, caller uuid,
  cause jsonb, fits boolean, digest bytea, repeated jsonb
);
comment on type mutation.joint_call is
  'A call of a mutation that is to be run together with others; whether it can be; what its events go back '
  'to; and, if it has a key, its digest, and what the call answered that had the key before.';
--! EndIncluded mutation/joint_call.sql
--! Included mutation/joint_calls.sql
create or replace function mutation.joint_calls(calls jsonb) returns mutation.joint_call[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    select row (c.ordinality, o.operation, o.input_type, c.input, c.key,
      coalesce(c.credential_id, '00000000-0000-0000-0000-000000000000'),
      events.traced(events.cause(c.credential_id::text, c.request_id, c.key), c.traceparent),
      coalesce(o.scopes && string_to_array(c.scopes, ' ')
        and jsonb_array_length(c.input -> 'lines') = 1
        -- What isn't known here, or is seldom said, mutation.run sees to
        and jsonb_strip_nulls(c.input) - '{lines,comment}'::text[] = '{}'
        and jsonb_strip_nulls(l.line) - '{product_id,place,delta}'::text[] = '{}'
        and jsonb_strip_nulls(l.place) - '{warehouse_id,bin_location_id}'::text[] = '{}'
        and num_nonnulls(l.place ->> 'warehouse_id', l.place ->> 'bin_location_id') = 1
        and abs((l.line ->> 'delta')::bigint) between 1 and 1000000
        and (c.input ->> 'comment' is null or length(c.input ->> 'comment') <= 1000)
        and (c.key is null or length(c.key) between 1 and 255), false),
      null, null)::mutation.joint_call
    from rows from (jsonb_to_recordset(calls) as (version name, operation name, input jsonb, key text,
      credential_id uuid, request_id text, scopes text, traceparent text)) with ordinality c
    join mutation.operation o on o.version = c.version and o.operation = c.operation
    cross join lateral (select c.input #> '{lines,0}', c.input #> '{lines,0,place}') l (line, place)
    where c.operation = 'stock_adjust' order by c.ordinality
  );
end
$$;
comment on function mutation.joint_calls(jsonb) is
  'Of the calls that mutation.run_together is given, those of stock_adjust; they fit when they have one line '
  'that says what is usual, and come from callers that have the scope.';
grant execute on function mutation.joint_calls(jsonb) to service_writer;
--! EndIncluded mutation/joint_calls.sql
--! Included mutation/keep_answer.sql
create or replace function mutation.keep_answer(idempotency_key text, digest bytea, answer jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- One that is there is too old: mutation.take_key has the lock
  insert into mutation.idempotency_key (credential_id, key, request, payload)
  values (mutation.caller(), idempotency_key, digest, answer)
  on conflict (credential_id, key) do update
    set request = excluded.request, payload = excluded.payload, created_at = excluded.created_at;
  perform mutation.forget_keys();
end
$$;
comment on function mutation.keep_answer(text, bytea, jsonb) is
  'Keeps what the running mutation answers for repetitions with its key, with the digest of its input, and '
  'removes a few keys that are too old.';
grant execute on function mutation.keep_answer(text, bytea, jsonb) to service_writer;
--! EndIncluded mutation/keep_answer.sql
--! Included mutation/key_lifetime.sql
create or replace function mutation.key_lifetime() returns interval
language sql stable
return greatest(interval '24 hours',
  nullif(pg_catalog.current_setting('service.keep_idempotency_keys', true), '')::interval);
comment on function mutation.key_lifetime() is
  'How long an idempotency key stands for the mutation that had it: the setting '
  'service.keep_idempotency_keys, and at least the 24 hours that clients are promised.';
grant execute on function mutation.key_lifetime() to service_writer;
--! EndIncluded mutation/key_lifetime.sql
--! Included mutation/key_lock.sql
-- In a form that becomes part of the expression that calls it
create or replace function mutation.key_lock(credential_id uuid, key text) returns bigint
language sql immutable
return pg_catalog.hashtextextended(credential_id::text || ' ' || key, 17);
comment on function mutation.key_lock(uuid, text) is
  'The advisory lock of an idempotency key. Its holder knows whether the key is taken, without waiting '
  'for the transaction that takes it.';
grant execute on function mutation.key_lock(uuid, text) to service_writer;
--! EndIncluded mutation/key_lock.sql
--! Included mutation/match_of.sql
create or replace function mutation.match_of(relation regclass, matches text[]) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select format('case when r.id is not null then (select o.id from %s o where o.id = r.id) '
    'else coalesce(%s) end', relation,
    string_agg(format('(select o.id from %s o where %s)', relation, m.condition), ', ' order by m.n))
  from unnest(matches) with ordinality m (condition, n);
end;
comment on function mutation.match_of(regclass, text[]) is
  'SQL for the id of the row of a table that a given row r is about: the one with its id, else the first '
  'that a '
  'match finds.';
grant execute on function mutation.match_of(regclass, text[]) to service_writer;
--! EndIncluded mutation/match_of.sql
--! Included mutation/upsert_row.sql
drop type if exists mutation.upsert_row cascade;
create type mutation.upsert_row as (
  line bigint, id uuid, is_new boolean, given jsonb, present jsonb, wanted jsonb, is_changed boolean,
  errors jsonb
);
comment on type mutation.upsert_row is
  'A row of an upsert on its way: its place in the input, counted from 1; the id of the row that it is '
  'about, '
  'which may be new; what the caller gave; the row of the table as it is and as it is to be; whether '
  'something '
  'was written; the user errors that refuse it, null if none do.';

drop type if exists mutation.row_fault cascade;
create type mutation.row_fault as (line bigint, code text, message text, field text[], details jsonb);
comment on type mutation.row_fault is
  'Why a row of an upsert is refused: its place in the input, and a user error whose field begins in the '
  'row.';
--! EndIncluded mutation/upsert_row.sql
--! Included mutation/match_rows.sql
create or replace function mutation.match_rows(
  relation regclass, list text, given jsonb, keys text[], matches text[]
)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named constant text := format('jsonb_array_elements($1) with ordinality e (value, line) '
    'cross join lateral jsonb_populate_record(null::%s, e.value) r', relation);
  found constant text := mutation.match_of(relation, matches);
  result mutation.upsert_row[];
begin
  if coalesce(jsonb_array_length(given), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'There must be at least one row.', array[list]);
  end if;
  perform mutation.refuse_too_many(jsonb_array_length(given), 250, array[list]);
  execute format('select from %s t where t.id = any (array(select %s from %s)) order by t.id '
    'for no key update', relation, found, named) using given;
  execute format($q$
    with matched as materialized (
      select e.line, e.value as given, r.id as given_id, %2$s as id,
        num_nonnulls(r.id, %5$s) > 0 as is_named, %4$s as defaults
      from %3$s
    ),
    -- Not a join, which would read all of a table that is not large
    counted as materialized (
      select m.*, row_number() over (partition by m.id order by m.line) as nth,
        (select o from %1$s o where o.id = m.id) as present
      from matched m
    )
    select array_agg(row(c.line, coalesce(c.id, (c.defaults ->> 'id')::uuid), (c.present).id is null, c.given,
      case when (c.present).id is not null then to_jsonb(c.present) end,
      to_jsonb(jsonb_populate_record(case when (c.present).id is null
        then jsonb_populate_record(null::%1$s, c.defaults) else c.present end, c.given - 'id')), false,
      case
        when not c.is_named then jsonb_build_array(mutation.user_error('REQUIRED', $3,
          mutation.path($2, c.line)))
        when c.given_id is not null and c.id is null then jsonb_build_array(mutation.user_error('NOT_FOUND',
          $4, mutation.path($2, c.line, 'id')))
        when c.id is not null and c.nth > 1 then jsonb_build_array(mutation.user_error('NOT_UNIQUE',
          'An earlier row is about the same one.', mutation.path($2, c.line)))
      end)::mutation.upsert_row order by c.line)
    from counted c
    $q$, relation, found, named, mutation.defaults_of(relation),
    (select string_agg(format('r.%I', k), ', ') from unnest(keys) k))
  into result
  using given, list, format('A row is known by one of these: id, %s.', array_to_string(keys, ', ')),
    format('There is no such %s.', mutation.thing(relation));
  return result;
end
$$;
comment on function mutation.match_rows(regclass, text, jsonb, text[], text[]) is
  'The rows of an upsert into a table, each with the row that it is about: the one with its id, else the '
  'first '
  'that a match finds, a condition on a row o of the table and the given row r. What was left out stays '
  'as it '
  'is, or gets its default. Locks what is there, by id. Keys are the columns by which a row can be known '
  'instead of its id. User errors REQUIRED and TOO_MANY_LINES; rows are refused with REQUIRED, NOT_FOUND and '
  'NOT_UNIQUE.';
grant execute on function mutation.match_rows(regclass, text, jsonb, text[], text[]) to service_writer;
--! EndIncluded mutation/match_rows.sql
--! Included mutation/order_of_keys.sql
create or replace function mutation.order_of_keys(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(string_agg(format('r.%I', a.attname), ', ' order by k.conname, k.n), 'r.id')
  from (
    select c.conname, x.attnum, x.n
    from pg_constraint c cross join unnest(c.conkey) with ordinality x (attnum, n)
    where c.conrelid = relation and c.contype = 'u'
  ) k
  join pg_attribute a on a.attrelid = relation and a.attnum = k.attnum;
end;
comment on function mutation.order_of_keys(regclass) is
  'SQL for the order in which rows r are to be inserted into a table: by its unique keys.';
grant execute on function mutation.order_of_keys(regclass) to service_writer;
--! EndIncluded mutation/order_of_keys.sql
--! Included mutation/path.sql
create or replace function mutation.path(list text, line bigint, variadic field text[] default '{}')
returns text[]
language sql immutable parallel safe
return array[list, (line - 1)::text] operator(pg_catalog.||) field;
comment on function mutation.path(text, bigint, text[]) is
  'The way to an element of a list in the input, or to a field of it, for user errors. Lines are '
  'counted from 1.';
grant execute on function mutation.path(text, bigint, text[])
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/path.sql
--! Included mutation/prune_keys.sql
create or replace function mutation.prune_keys(batch integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  deleted integer;
begin
  delete from mutation.idempotency_key k where k.ctid = any (array(
    select o.ctid from mutation.idempotency_key o
    where o.created_at < now() - mutation.key_lifetime()
    order by o.created_at limit batch for update skip locked));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
comment on function mutation.prune_keys(integer) is
  'Removes idempotency keys that are too old, at most as many as the batch: those that no mutation has '
  'removed along with its own. Answers how many: to be called again until that is 0.';
select api_meta.give('mutation.prune_keys(integer)', 'service_writer');
grant execute on function mutation.prune_keys(integer) to service_worker;
--! EndIncluded mutation/prune_keys.sql
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
grant execute on function mutation.refuse(jsonb)
  to service_ledger, service_booker, service_writer;

create or replace function mutation.refuse(
  code text, message text, field text[] default null, details jsonb default null
)
returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.refuse(jsonb_build_array(mutation.user_error(code, message, field, details)));
end;
comment on function mutation.refuse(text, text, text[], jsonb) is 'Ends the mutation with one user error.';
grant execute on function mutation.refuse(text, text, text[], jsonb)
  to service_ledger, service_booker, service_writer;
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
grant execute on function mutation.refuse_missing(text, text[])
  to service_ledger, service_booker, service_writer;
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
--! Included mutation/require_rows.sql
create or replace function mutation.require_rows(rows mutation.upsert_row[], partial boolean) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- A trial has no results, so its user errors name the rows
  if not coalesce(partial, false) or current_setting('service.validate_only', true) = 'true' then
    perform mutation.refuse((
      select jsonb_agg(e.error order by u.line, e.n)
      from unnest(rows) u cross join jsonb_array_elements(u.errors) with ordinality e (error, n)
    ));
  end if;
end
$$;
comment on function mutation.require_rows(mutation.upsert_row[], boolean) is
  'Ends an upsert that has refused rows, unless it is to do what it can.';
grant execute on function mutation.require_rows(mutation.upsert_row[], boolean) to service_writer;
--! EndIncluded mutation/require_rows.sql
--! Included mutation/row_faults.sql
create or replace function mutation.row_faults(
  relation regclass, rows mutation.upsert_row[], matches text[] default '{}'
)
returns mutation.row_fault[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  result mutation.row_fault[];
  is_late boolean := false;
begin
  execute format($q$
    with w as materialized (
      select u.line as _line, u.given as _given, r.*
      from unnest($1) u cross join lateral jsonb_populate_record(null::%s, u.wanted) r
      where u.errors is null
    )
    select array_agg(row(f.line, f.code, f.message, f.field, null)::mutation.row_fault)
    from (%s) f (line, code, message, field)
    $q$, relation,
    concat_ws(' union all ', mutation.faults_of_columns(relation), mutation.faults_of_keys(relation)))
  into result using rows;
  -- Somebody has just made what a row is about: another try will find it
  if matches <> '{}' and exists (
    select from unnest(result) f join unnest(rows) u on u.line = f.line
    where f.code = 'NOT_UNIQUE' and u.is_new
  ) then
    execute format('select exists (select from unnest($1) u
      cross join lateral jsonb_populate_record(null::%s, u.given) r
      where u.is_new and u.errors is null and %s is not null)',
      relation, mutation.match_of(relation, matches))
    into is_late using rows;
  end if;
  if is_late then
    raise exception 'Another transaction has made a row of these keys.'
      using errcode = 'serialization_failure';
  end if;
  return result;
end
$$;
comment on function mutation.row_faults(regclass, mutation.upsert_row[], text[]) is
  'What the rules of a table say against the rows of an upsert: not null, checks, foreign and unique '
  'keys, with '
  'the user errors that their comments name. One statement, made of the catalog, for all rows and rules.';
grant execute on function mutation.row_faults(regclass, mutation.upsert_row[], text[]) to service_writer;
--! EndIncluded mutation/row_faults.sql
--! Included mutation/run.sql
create or replace function mutation.run(
  version name, operation name, input jsonb, idempotency_key text, validate_only boolean
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target record;
  digest bytea;
  repeated jsonb;
  result jsonb;
  errors jsonb;
  warnings jsonb := '[]';
  state text;
  detail text;
  violated_schema text; violated_table text; violated_column text; violated_constraint text;
begin
  select * into target from mutation.find(version, operation);
  -- GraphQL checks scopes first, but may not know of a change yet
  if (select p.name from auth.current_plan() p) is distinct from 'full' then
    raise exception 'The plan allows no mutations.' using errcode = 'UE003';
  end if;

  begin
    perform mutation.refuse_nulls(target.input_type,
      case when validate_only is null then input || '{"validate_only": null}' else input end);
    if idempotency_key is not null then
      digest := mutation.digest(operation, target.input_type, input, target.takes_changes);
      repeated := mutation.take_key(idempotency_key, digest, operation, input);
      if repeated is not null then
        return jsonb_build_object('payload', case when not validate_only then repeated end,
          'userErrors', '[]'::jsonb, 'warnings', coalesce(repeated -> 'warnings', '[]'));
      end if;
    end if;
    -- For the cause of events, and for upserts: a trial doesn't show their results
    perform set_config('service.idempotency_key', coalesce(idempotency_key, ''), true), set_config(
      'service.validate_only', validate_only::text, true), set_config('service.warnings', '', true);

    execute format('select to_jsonb(r) from %s(jsonb_populate_record(null::%s, $1)%s) r',
      target.routine, target.input_type, case when target.takes_changes then ', $1' end)
    into result using input;
    set constraints all immediate;
    -- A variable survives the rollback of validate_only
    warnings := mutation.warnings();
    if validate_only then
      raise exception 'It would have worked.' using errcode = 'UE002';
    end if;
    if idempotency_key is not null then
      perform mutation.keep_answer(idempotency_key, digest,
        (result - target.secrets) || jsonb_build_object('warnings', warnings));
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
--! Included mutation/run_together.sql
create or replace function mutation.run_together(calls jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  joint mutation.joint_call[];
  answers jsonb;
begin
  if (select p.name from auth.current_plan() p) = 'full' then
    joint := mutation.take_keys(mutation.joint_calls(calls));
  end if;
  with booked as materialized (
    select * from ledger.book_singles(array(
      select row (c.nth,
        -- Without a quantity it isn't booked, and nothing of its product after it
        ledger.adjustment_of(null, (l.line ->> 'product_id')::uuid,
          case when c.fits then (l.line ->> 'delta')::integer end, null, p.type, p.place),
        c.input ->> 'comment', c.cause)::ledger.single
      from unnest(joint) c cross join lateral (select c.input #> '{lines,0}') l (line)
      cross join lateral ledger.place_of(
        (l.line #>> '{place,warehouse_id}')::uuid, (l.line #>> '{place,bin_location_id}')::uuid) p
      where not (c.fits and c.repeated is not null) order by c.nth
    ))
  ),
  done as materialized (
    select c.nth, c.caller, c.key, c.digest, b.nth is not null as is_new,
      coalesce(c.repeated, jsonb_build_object('stock_movements', array[b.movement_id],
        'stocks', array[b.stock_id], 'user_errors', null, 'warnings', '[]'::jsonb)) as payload
    from unnest(joint) c left join booked b on b.nth = c.nth
    where c.fits and c.repeated is not null or b.nth is not null
  ),
  kept as (
    insert into mutation.idempotency_key (credential_id, key, request, payload)
    select d.caller, d.key, d.digest, d.payload from done d where d.key is not null and d.is_new
  )
  select jsonb_agg(case when d.nth is not null then jsonb_build_object('payload', d.payload,
    'userErrors', '[]'::jsonb, 'warnings', coalesce(d.payload -> 'warnings', '[]')) end order by n.nth)
  into answers
  from generate_series(1, jsonb_array_length(calls)) n (nth) left join done d on d.nth = n.nth;
  if exists (select from unnest(joint) c where c.key is not null) then
    perform mutation.forget_keys();
    -- As in mutation.take_key
    perform pg_logical_emit_message(true, 'service', '')
    from unnest(joint) c where c.repeated is not null limit 1;
  end if;
  return coalesce(answers, '[]');
end
$$;
comment on function mutation.run_together(jsonb) is
  'Runs calls of mutations together, as if each were run by mutation.run, one after the other: an array of '
  'objects with version, operation, input, key, credential_id, request_id and scopes. Answers an array: '
  'for each call what mutation.run would answer, or null when it was not run, and has to be, by '
  'mutation.run: whatever is not plain, will perhaps be refused, or would have to wait for a key; and '
  'whatever concerns the same product and comes after such a call.';
select api_meta.give('mutation.run_together(jsonb)', 'service_writer');
grant execute on function mutation.run_together(jsonb) to service_api;
--! EndIncluded mutation/run_together.sql
--! Included mutation/take_key.sql
create or replace function mutation.take_key(
  idempotency_key text, digest bytea, operation name, input jsonb
)
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
  -- A concurrent call with the same key waits here until the first has committed or failed.
  perform pg_advisory_xact_lock(mutation.key_lock(mutation.caller(), idempotency_key));
  select k.request, k.payload, k.created_at into earlier
  from mutation.idempotency_key k where k.credential_id = mutation.caller() and k.key = idempotency_key;
  if not found or earlier.created_at < now() - mutation.key_lifetime() then
    return null;
  end if;
  -- The second digest is that of keys from before mutation.digest was
  if earlier.request <> digest
    and earlier.request <> sha256(convert_to(operation || ' ' || input::text, 'UTF8')) then
    perform mutation.refuse('IDEMPOTENCY_KEY_MISMATCH',
      'The key was used for another input in the last 24 hours.', '{idempotency_key}');
  end if;
  -- Something is written, so that this waits for the synchronous standby as the first call may not have done
  perform pg_logical_emit_message(true, 'service', '');
  return earlier.payload;
end
$$;
comment on function mutation.take_key(text, bytea, name, jsonb) is
  'Takes a key for the running mutation, by a lock: mutation.keep_answer writes it down. Null when it was '
  'free; otherwise what the mutation answered that had it before. A key that is taken by another request is '
  'refused: IDEMPOTENCY_KEY_MISMATCH.';
grant execute on function mutation.take_key(text, bytea, name, jsonb) to service_writer;
--! EndIncluded mutation/take_key.sql
--! Included mutation/take_keys.sql
create or replace function mutation.take_keys(calls mutation.joint_call[]) returns mutation.joint_call[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  locked integer[];
begin
  -- A key that another transaction is taking is not waited for; of calls with the same key, the first is run
  locked := array(
    select c.nth from (
      select distinct on (c.caller, c.key) c.* from unnest(calls) c where c.key is not null
      order by c.caller, c.key, c.nth
    ) c where c.fits and pg_try_advisory_xact_lock(mutation.key_lock(c.caller, c.key))
  );
  return array(
    select row (c.nth, c.operation, c.input_type, c.input, c.key, c.caller, c.cause,
      c.fits and (c.key is null or c.nth = any (locked) and (k.key is null or k.request = d.digest
        and k.payload is not null and k.created_at >= now() - mutation.key_lifetime())),
      d.digest, k.payload)::mutation.joint_call
    from unnest(calls) c
    cross join lateral (
      select case when c.key is not null then
        mutation.digest(c.operation, c.input_type, c.input, false) end offset 0
    ) d (digest)
    left join mutation.idempotency_key k on k.credential_id = c.caller and k.key = c.key
    order by c.nth
  );
end
$$;
comment on function mutation.take_keys(mutation.joint_call[]) is
  'The calls, of which those fit that have no key, or one that is free, or repeat what was answered already. '
  'Keys that stand for something else, or are too old, are left to mutation.run.';
grant execute on function mutation.take_keys(mutation.joint_call[]) to service_writer;
--! EndIncluded mutation/take_keys.sql
--! Included mutation/upserted.sql
create or replace function mutation.upserted(rows mutation.upsert_row[], out results jsonb, out ids uuid[])
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(jsonb_build_object(
    'index', u.line - 1,
    'outcome', case when u.errors is not null then 'REFUSED' when u.is_new then 'CREATED'
      when u.is_changed then 'UPDATED' else 'UNCHANGED' end,
    'id', case when u.errors is null or not u.is_new then u.id end,
    'user_errors', coalesce(u.errors, '[]')) order by u.line),
    coalesce(array_agg(u.id order by u.line) filter (where u.errors is null), '{}')
  from unnest(rows) u;
end;
comment on function mutation.upserted(mutation.upsert_row[]) is
  'What became of each row of an upsert, in the form of upsert_result, and the ids of those that are not '
  'refused, in their order.';
grant execute on function mutation.upserted(mutation.upsert_row[]) to service_writer;
--! EndIncluded mutation/upserted.sql
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
grant execute on function mutation.warn(jsonb)
  to service_ledger, service_booker, service_writer;

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
grant execute on function mutation.warn(text, text, text[], jsonb)
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/warn.sql
--! Included mutation/warnings.sql
-- In a form that becomes part of the expression that calls it
create or replace function mutation.warnings() returns jsonb
language sql stable
return coalesce(nullif(pg_catalog.current_setting('service.warnings', true), ''), '[]')::jsonb;
comment on function mutation.warnings() is
  'The warnings of the running mutation, as mutation.warn noted them. They live as long as its transaction.';
grant execute on function mutation.warnings()
  to service_ledger, service_booker, service_writer;
--! EndIncluded mutation/warnings.sql
--! Included mutation/with_changes.sql
create or replace function mutation.with_changes(rows mutation.upsert_row[], changed uuid[])
returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row(u.line, u.id, u.is_new, u.given, u.present, u.wanted,
    u.is_changed or u.errors is null and u.id = any (changed), u.errors)::mutation.upsert_row order by u.line)
  from unnest(rows) u;
end;
comment on function mutation.with_changes(mutation.upsert_row[], uuid[]) is
  'The rows of an upsert, those with these ids noted as changed: something that belongs to them was.';
grant execute on function mutation.with_changes(mutation.upsert_row[], uuid[]) to service_writer;
--! EndIncluded mutation/with_changes.sql
--! Included mutation/with_faults.sql
create or replace function mutation.with_faults(
  rows mutation.upsert_row[], list text, faults mutation.row_fault[]
)
returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with found (line, errors) as (
    select f.line, jsonb_agg(mutation.user_error(f.code, f.message,
      mutation.path(list, f.line, variadic coalesce(f.field, '{}')), f.details)
      order by f.field, f.code, f.message)
    from unnest(faults) f group by f.line
  )
  select array_agg(row(u.line, u.id, u.is_new, u.given, u.present, u.wanted, u.is_changed,
    case when u.errors is null then f.errors else u.errors || coalesce(f.errors, '[]') end
  )::mutation.upsert_row order by u.line)
  from unnest(rows) u left join found f on f.line = u.line;
end;
comment on function mutation.with_faults(mutation.upsert_row[], text, mutation.row_fault[]) is
  'Refuses rows of an upsert for these faults, beside those that are noted already.';
grant execute on function mutation.with_faults(mutation.upsert_row[], text, mutation.row_fault[])
  to service_writer;
--! EndIncluded mutation/with_faults.sql
--! Included mutation/with_values.sql
create or replace function mutation.with_values(rows mutation.upsert_row[], changes jsonb)
returns mutation.upsert_row[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, u.id, u.is_new, u.given, u.present,
    u.wanted || coalesce(changes -> u.line::text, '{}'), u.is_changed, u.errors)::mutation.upsert_row
    order by u.line)
  from unnest(rows) u;
end;
comment on function mutation.with_values(mutation.upsert_row[], jsonb) is
  'The rows of an upsert with other values of columns, which an object names by the places of rows.';
grant execute on function mutation.with_values(mutation.upsert_row[], jsonb) to service_writer;
--! EndIncluded mutation/with_values.sql
--! Included mutation/write_rows.sql
create or replace function mutation.write_rows(relation regclass, rows mutation.upsert_row[])
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changed constant text[] := array(select distinct w.key
    from unnest(rows) u cross join jsonb_each(u.wanted) w join pg_attribute a on a.attname = w.key
    where u.errors is null and not u.is_new and w.value is distinct from u.present -> w.key
      and a.attrelid = relation and a.attgenerated = '' order by w.key);
  source constant text := format(
    'unnest($1) u cross join lateral jsonb_populate_record(null::%s, u.wanted) r', relation);
begin
  if changed <> '{}' then
    execute format('update %s t set (%s) = row(%s) from %s
      where t.id = u.id and u.errors is null and not u.is_new and u.wanted <> u.present',
      relation, (select string_agg(format('%I', c), ', ' order by c) from unnest(changed) c),
      (select string_agg(format('r.%I', c), ', ' order by c) from unnest(changed) c), source) using rows;
  end if;
  if exists (select from unnest(rows) u where u.errors is null and u.is_new) then
    execute (select format('insert into %s (%s) select %s from %s where u.errors is null and u.is_new '
      'order by %s', relation, string_agg(format('%I', a.attname), ', ' order by a.attnum),
      string_agg(format('r.%I', a.attname), ', ' order by a.attnum), source, mutation.order_of_keys(relation))
      from pg_attribute a
      where a.attrelid = relation and a.attnum > 0 and a.attgenerated = '' and not a.attisdropped) using rows;
  end if;
  return array(
    select row(u.line, u.id, u.is_new, u.given, u.present, u.wanted,
      u.errors is null and (u.is_new or u.wanted <> u.present), u.errors)::mutation.upsert_row
    from unnest(rows) u order by u.line);
exception
  -- The keys were free a moment ago: somebody else has just taken one. Another try will find theirs.
  when unique_violation then
    raise exception 'Another transaction has taken a key of these rows.'
      using errcode = 'serialization_failure';
end
$$;
comment on function mutation.write_rows(regclass, mutation.upsert_row[]) is
  'Writes the rows of an upsert that are not refused: what is new in the order of its unique key, so that '
  'two '
  'calls never wait for each other in a circle, and what is different. Rows that are as they should be '
  'are not '
  'touched.';
grant execute on function mutation.write_rows(regclass, mutation.upsert_row[]) to service_writer;
--! EndIncluded mutation/write_rows.sql
