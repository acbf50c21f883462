--! Previous: sha1:186d0eec4ad4784eb03d48168a6f3e8389f15f38
--! Hash: sha1:d9a1fb2d18010398e87fd2e83659ab1b7ee18188
--! Message: bulk-operations

-- Bulk operations: many rows at once, as background work.

create table bulk.operation (
  id uuid primary key default uuidv7(),
  credential_id uuid not null,
  scopes text[] not null,
  kind text not null,
  state text not null,
  resource text not null,
  format text not null,
  query text,
  variables jsonb,
  locale text,
  idempotency_key text,
  code text not null default replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
  claim uuid,
  claimed_until timestamptz,
  attempts smallint not null default 0,
  next_chunk integer not null default 0,
  stored_bytes bigint not null default 0,
  row_count integer,
  created_count integer not null default 0,
  updated_count integer not null default 0,
  done_count integer not null default 0,
  refused_count integer not null default 0,
  error_code text,
  error_message text,
  created_at timestamptz(0) not null default now(),
  started_at timestamptz(0),
  finished_at timestamptz(0),
  expires_at timestamptz(0)
);
create unique index operation_idempotency_key_is_unique on bulk.operation (credential_id, idempotency_key)
where idempotency_key is not null;
create index operation_created_at_idx on bulk.operation (created_at);
create index operation_id_idx on bulk.operation (id) where state in ('uploading', 'queued', 'running');
alter table bulk.operation enable row level security;
comment on table bulk.operation is
  'Bulk operations: files of rows that are taken in, and lists that are written to a file.';
comment on column bulk.operation.id is 'Id of the bulk operation.';
comment on column bulk.operation.credential_id is 'The credential that asked for it. Only that one sees it.';
comment on column bulk.operation.scopes is
  'Scopes of the token that asked for it; those count that the credential still has.';
comment on column bulk.operation.kind is 'Whether rows come in or go out.';
comment on column bulk.operation.state is 'How far it is.';
comment on column bulk.operation.resource is
  'What the rows are: products, customers, suppliers, warehouses or orders; of an export, the field of the '
  'query.';
comment on column bulk.operation.format is 'Format of the file: jsonl or csv.';
comment on column bulk.operation.query is 'Of an export: the GraphQL document whose list is written.';
comment on column bulk.operation.variables is 'Of an export: values of the variables.';
comment on column bulk.operation.locale is 'Of an export: the language of its texts.';
comment on column bulk.operation.idempotency_key is
  'Key by which the upload, or the mutation, can be repeated without a second operation.';
comment on column bulk.operation.code is 'Opens its files to whoever knows it.';
comment on column bulk.operation.claim is 'Who uploads it, or works on it; each time another.';
comment on column bulk.operation.claimed_until is 'When others may go on with it.';
comment on column bulk.operation.attempts is 'How often it was begun since it last got further.';
comment on column bulk.operation.next_chunk is
  'The chunk that comes next. What was done before it is committed.';
comment on column bulk.operation.stored_bytes is 'Bytes of its chunks.';
comment on column bulk.operation.row_count is
  'Rows of the file, known when it has arrived; of an export, rows of the list, known at its end.';
comment on column bulk.operation.created_count is 'Rows that made something new.';
comment on column bulk.operation.updated_count is 'Rows that changed something.';
comment on column bulk.operation.done_count is
  'Rows that were done: created, updated or unchanged; of an export, lines that are written.';
comment on column bulk.operation.refused_count is 'Rows that were refused. The errors say why.';
comment on column bulk.operation.error_code is 'Why it failed, for programs; null unless it did.';
comment on column bulk.operation.error_message is 'Why it failed, for people; null unless it did.';
comment on column bulk.operation.created_at is 'When it was asked for.';
comment on column bulk.operation.started_at is 'When work on it began.';
comment on column bulk.operation.finished_at is 'When it ended, in whatever way.';
comment on column bulk.operation.expires_at is 'When it is deleted with its files: 7 days after its end.';
comment on index bulk.operation_id_idx is 'For those that have not ended: who begins next.';
select api_meta.allow('service_writer', 'bulk.operation', 'select', 'insert', 'update', 'delete');
-- Others see nothing of it, whatever their scopes
create policy operation_of_caller on bulk.operation as restrictive for select to service_api
using (credential_id = (select nullif(current_setting('service.credential_id', true), '')::uuid));

create table bulk.chunk (
  operation_id uuid not null references bulk.operation on delete cascade,
  number integer not null,
  -- It is compressed already
  content bytea storage external not null,
  primary key (operation_id, number)
);
alter table bulk.chunk enable row level security;
comment on table bulk.chunk is
  'A part of the file of a bulk operation, compressed: rows that are yet to be taken in, or lines of '
  'a result.';
select api_meta.allow('service_writer', 'bulk.chunk', 'select', 'insert', 'delete');

create table bulk.refusal (
  operation_id uuid not null references bulk.operation on delete cascade,
  line integer not null,
  number smallint not null,
  code text not null,
  message text not null,
  field text[],
  details jsonb,
  primary key (operation_id, line, number)
);
alter table bulk.refusal enable row level security;
comment on table bulk.refusal is 'Why a row of a bulk operation was refused, by its line in the file.';
select api_meta.allow('service_writer', 'bulk.refusal', 'select', 'insert', 'delete');

--! Included bulk/add_chunk.sql
create or replace function bulk.add_chunk(operation_id uuid, claim uuid, rows integer, content bytea,
  max_stored_bytes bigint)
returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  nth integer;
begin
  if (select coalesce(sum(o.stored_bytes), 0) from bulk.operation o) + length(content) > max_stored_bytes then
    return 'full';
  end if;
  update bulk.operation o
  set next_chunk = o.next_chunk + 1, row_count = o.row_count + rows,
    stored_bytes = o.stored_bytes + length(content), claimed_until = now() + bulk.upload_pause()
  where o.id = operation_id and o.claim = add_chunk.claim and o.state = 'uploading'
  returning o.next_chunk - 1 into nth;
  if not found then
    return 'gone';
  end if;
  insert into bulk.chunk (operation_id, number, content) values (operation_id, nth, content);
  return 'added';
end
$$;
comment on function bulk.add_chunk(uuid, uuid, integer, bytea, bigint) is
  'Adds a chunk to the file that is being uploaded. Answers added; full when all bulk operations together '
  'would take more room than they may; gone when the upload was cancelled, or began anew elsewhere.';
select api_meta.give('bulk.add_chunk(uuid, uuid, integer, bytea, bigint)', 'service_writer');
grant execute on function bulk.add_chunk(uuid, uuid, integer, bytea, bigint) to service_worker;
--! EndIncluded bulk/add_chunk.sql
--! Included bulk/add_result.sql
create or replace function bulk.add_result(operation_id uuid, claim uuid, lines integer, rows integer,
  content bytea, max_stored_bytes bigint, lease_ms integer)
returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  nth integer;
begin
  if (select coalesce(sum(o.stored_bytes), 0) from bulk.operation o) + length(content) > max_stored_bytes then
    return 'full';
  end if;
  update bulk.operation o
  set next_chunk = o.next_chunk + 1, done_count = o.done_count + lines,
    row_count = coalesce(o.row_count, 0) + rows, stored_bytes = o.stored_bytes + length(content),
    claimed_until = now() + lease_ms * interval '1 ms'
  where o.id = operation_id and o.claim = add_result.claim and o.state = 'running'
  returning o.next_chunk - 1 into nth;
  if not found then
    return 'gone';
  end if;
  insert into bulk.chunk (operation_id, number, content) values (operation_id, nth, content);
  return 'added';
end
$$;
comment on function bulk.add_result(uuid, uuid, integer, integer, bytea, bigint, integer) is
  'Adds lines to the file of an export. Answers added; full when all bulk operations together would take '
  'more room than they may; gone when somebody else works on it, or it was cancelled.';
select api_meta.give(
  'bulk.add_result(uuid, uuid, integer, integer, bytea, bigint, integer)', 'service_writer'
);
grant execute on function bulk.add_result(uuid, uuid, integer, integer, bytea, bigint, integer)
  to service_worker;
--! EndIncluded bulk/add_result.sql
--! Included bulk/begin_result.sql
create or replace function bulk.begin_result(operation_id uuid, claim uuid, resource text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update bulk.operation o
  set next_chunk = 0, stored_bytes = 0, done_count = 0, row_count = null, resource = begin_result.resource
  where o.id = operation_id and o.claim = begin_result.claim and o.state = 'running';
  if found then
    delete from bulk.chunk c where c.operation_id = begin_result.operation_id;
    return true;
  end if;
  return false;
end
$$;
comment on function bulk.begin_result(uuid, uuid, text) is
  'Begins to write the file of an export, perhaps anew: what a killed process has written is of another '
  'moment. Answers whether it is ours.';
select api_meta.give('bulk.begin_result(uuid, uuid, text)', 'service_writer');
grant execute on function bulk.begin_result(uuid, uuid, text) to service_worker;
--! EndIncluded bulk/begin_result.sql
--! Included bulk/begin_upload.sql
create or replace function bulk.begin_upload(credential_id uuid, scopes text[], resource text, format text,
  idempotency_key text, claim uuid)
returns table (id uuid, is_ours boolean, is_same boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_variable
declare
  present bulk.operation;
begin
  if idempotency_key is not null then
    perform pg_advisory_xact_lock(mutation.key_lock(credential_id, 'bulk ' || idempotency_key));
    select * into present from bulk.operation o
    where o.credential_id = begin_upload.credential_id
      and o.idempotency_key = begin_upload.idempotency_key;
  end if;
  if present.id is null then
    insert into bulk.operation as o (credential_id, scopes, kind, state, resource, format, idempotency_key,
      claim, claimed_until, row_count)
    values (credential_id, scopes, 'import', 'uploading', resource, format, idempotency_key, claim,
      now() + bulk.upload_pause(), 0)
    returning o.id into id;
    return query select id, true, true;
    return;
  end if;
  is_same := (present.kind, present.resource, present.format) = ('import', resource, format);
  is_ours := is_same and present.state = 'uploading';
  if is_ours then
    -- That upload was cut off, or is about to be: its next chunk will be refused
    delete from bulk.chunk c where c.operation_id = present.id;
    update bulk.operation o
    set claim = begin_upload.claim, claimed_until = now() + bulk.upload_pause(), scopes = begin_upload.scopes,
      next_chunk = 0, stored_bytes = 0, row_count = 0
    where o.id = present.id;
  end if;
  return query select present.id, is_ours, is_same;
end
$$;
comment on function bulk.begin_upload(uuid, text[], text, text, text, uuid) is
  'Begins the upload of a file. With a key that was used before: begins it again if the file has not '
  'arrived, or else answers the operation that it has made. is_ours: the file is to be sent; is_same: the '
  'key was used for the same kind of file.';

create or replace function bulk.upload_pause() returns interval
language sql immutable set search_path = pg_catalog, pg_temp
return interval '10 minutes';
comment on function bulk.upload_pause() is
  'After what time without anything new an upload counts as cut off.';
grant execute on function bulk.upload_pause() to service_writer;
select api_meta.give('bulk.begin_upload(uuid, text[], text, text, text, uuid)', 'service_writer');
grant execute on function bulk.begin_upload(uuid, text[], text, text, text, uuid) to service_worker;
--! EndIncluded bulk/begin_upload.sql
--! Included bulk/cancel.sql
create or replace function bulk.cancel(operation_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update bulk.operation o
  set state = 'cancelled', claim = null, claimed_until = null, finished_at = now(),
    expires_at = now() + bulk.lifetime()
  where o.id = operation_id and o.credential_id = mutation.caller()
    and o.state in ('uploading', 'queued', 'running');
  if found then
    return operation_id;
  elsif exists (
    select from bulk.operation o where o.id = operation_id and o.credential_id = mutation.caller()
  ) then
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'It has ended already.', '{id}');
  end if;
  perform mutation.refuse_missing('bulk_operation', '{id}');
end
$$;
comment on function bulk.cancel(uuid) is
  'Stops a bulk operation of the caller. A chunk that is being taken in is undone. User errors NOT_FOUND, '
  'INVALID_STATE_TRANSITION.';
grant execute on function bulk.cancel(uuid) to service_writer;
--! EndIncluded bulk/cancel.sql
--! Included bulk/due_at.sql
create or replace function bulk.due_at() returns timestamptz
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select min(case when o.state = 'running' then o.claimed_until else '-infinity' end)
  from bulk.operation o
  where o.state = 'running' or o.state = 'queued' and not exists (
    select from bulk.operation r
    where r.credential_id = o.credential_id and r.state = 'running' and r.claimed_until >= clock_timestamp());
end;
comment on function bulk.due_at() is
  'When bulk.take is next to find something: -infinity while an operation waits that could begin, else '
  'when those who work on others would have to be heard of; null if there is none.';
select api_meta.give('bulk.due_at()', 'service_writer');
grant execute on function bulk.due_at() to service_worker;
--! EndIncluded bulk/due_at.sql
--! Included bulk/end_upload.sql
create or replace function bulk.end_upload(operation_id uuid, claim uuid) returns integer
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  update bulk.operation o
  set state = 'queued', next_chunk = 0, claim = null, claimed_until = null
  where o.id = operation_id and o.claim = end_upload.claim and o.state = 'uploading'
  returning o.row_count;
end;
comment on function bulk.end_upload(uuid, uuid) is
  'The whole file has arrived: its rows wait for their turn. Answers how many they are, or null when the '
  'upload was cancelled, or began anew elsewhere.';
select api_meta.give('bulk.end_upload(uuid, uuid)', 'service_writer');
grant execute on function bulk.end_upload(uuid, uuid) to service_worker;

create or replace function bulk.drop_upload(operation_id uuid, claim uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  delete from bulk.operation o
  where o.id = operation_id and o.claim = drop_upload.claim and o.state = 'uploading';
end;
comment on function bulk.drop_upload(uuid, uuid) is 'Forgets an upload that was refused or cut off.';
select api_meta.give('bulk.drop_upload(uuid, uuid)', 'service_writer');
grant execute on function bulk.drop_upload(uuid, uuid) to service_worker;
--! EndIncluded bulk/end_upload.sql
--! Included bulk/take.sql
create or replace function bulk.take(claim uuid, at_once integer, lease_ms integer)
returns table (id uuid, kind text, resource text, format text, query text, variables jsonb, locale text,
  credential_id uuid, scopes text[], next_chunk integer)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  most_attempts constant integer := 10;
begin
  perform pg_advisory_xact_lock(hashtextextended('bulk.take', 0));
  update bulk.operation o
  set state = 'failed', error_code = 'INTERNAL_SERVER_ERROR', finished_at = now(),
    error_message = 'It failed again and again, through a fault of ours.',
    expires_at = now() + bulk.lifetime()
  where o.state = 'running' and o.claimed_until < now() and o.attempts >= most_attempts;
  return query
    update bulk.operation o
    set state = 'running', claim = take.claim, claimed_until = now() + lease_ms * interval '1 ms',
      started_at = coalesce(o.started_at, now()), attempts = o.attempts + 1
    where o.id = (
      select w.id
      from bulk.operation w
      where (w.state = 'queued' or w.state = 'running' and w.claimed_until < now())
        and not exists (
          select from bulk.operation r
          where r.credential_id = w.credential_id and r.state = 'running' and r.claimed_until >= now())
        and at_once > (
          select count(*) from bulk.operation r where r.state = 'running' and r.claimed_until >= now())
      order by w.id limit 1)
    returning o.id, o.kind, o.resource, o.format, o.query, o.variables, o.locale, o.credential_id,
      bulk.scopes_of(o.id), o.next_chunk;
end
$$;
comment on function bulk.take(uuid, integer, integer) is
  'Takes the bulk operation that is to be worked on next, for some milliseconds: the oldest that waits, or '
  'that somebody left. No more than so many are worked on at once, and of a credential one.';

create or replace function bulk.lifetime() returns interval
language sql stable
return greatest(interval '7 days',
  nullif(pg_catalog.current_setting('service.keep_bulk_results', true), '')::interval);
comment on function bulk.lifetime() is
  'How long a bulk operation is kept after its end: the setting service.keep_bulk_results, and at least the '
  '7 days that clients are promised.';
grant execute on function bulk.lifetime() to service_writer;
select api_meta.give('bulk.take(uuid, integer, integer)', 'service_writer');
grant execute on function bulk.take(uuid, integer, integer) to service_worker;
--! EndIncluded bulk/take.sql
--! Included bulk/finish.sql
create or replace function bulk.finish(operation_id uuid, claim uuid, error_code text, error_message text)
returns boolean
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  update bulk.operation o
  set state = case when finish.error_code is null then 'completed' else 'failed' end,
    error_code = finish.error_code, error_message = finish.error_message, claim = null, claimed_until = null,
    finished_at = now(), expires_at = now() + bulk.lifetime()
  where o.id = operation_id and o.claim = finish.claim and o.state = 'running'
  returning true;
end;
comment on function bulk.finish(uuid, uuid, text, text) is
  'Ends a bulk operation: it is completed, or has failed with an error. Answers whether it was still ours.';
select api_meta.give('bulk.finish(uuid, uuid, text, text)', 'service_writer');
grant execute on function bulk.finish(uuid, uuid, text, text) to service_worker;

create or replace function bulk.release(operation_id uuid, claim uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  update bulk.operation o
  set state = 'queued', claim = null, claimed_until = null, attempts = greatest(0, o.attempts - 1)
  where o.id = operation_id and o.claim = release.claim and o.state = 'running';
end;
comment on function bulk.release(uuid, uuid) is
  'Leaves a bulk operation to others, at once: this process is about to stop.';
select api_meta.give('bulk.release(uuid, uuid)', 'service_writer');
grant execute on function bulk.release(uuid, uuid) to service_worker;
--! EndIncluded bulk/finish.sql
--! Included bulk/import_chunk.sql
create or replace function bulk.import_chunk(operation_id uuid, claim uuid, number integer, version name,
  operation name, list text, rows jsonb, lines integer[], faults jsonb, lease_ms integer)
returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present bulk.operation;
  results jsonb := '[]';
begin
  select * into present from bulk.operation o
  where o.id = operation_id and o.claim = import_chunk.claim and o.state = 'running'
    and o.next_chunk = import_chunk.number;
  if not found then
    return 'gone';
  elsif (select p.name from auth.current_plan() p) is distinct from 'full' then
    return 'FORBIDDEN';
  end if;
  perform set_config('service.scopes',
    coalesce(array_to_string(bulk.scopes_of(operation_id), ' '), ''), true),
    set_config('service.credential_id', present.credential_id::text, true),
    set_config('service.request_id', operation_id::text, true);
  if not auth.has_scope(present.resource || ':write') then
    return 'SCOPE_MISSING';
  end if;
  if jsonb_array_length(rows) > 0 then
    results := bulk.upsert(version, operation, list, rows);
  end if;
  insert into bulk.refusal (operation_id, line, number, code, message, field, details)
  select operation_id, f.line, row_number() over (partition by f.line order by f.n), f.error ->> 'code',
    f.error ->> 'message', f.field, nullif(f.error -> 'details', 'null')
  from (
    select lines[r.place], e.error, e.n,
      -- Without the list and the place in it
      (array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))))[3:]
    from jsonb_array_elements(results) with ordinality r (result, place)
    cross join jsonb_array_elements(r.result -> 'user_errors') with ordinality e (error, n)
    union all
    select (e.error ->> 'line')::integer, e.error, e.n,
      array(select jsonb_array_elements_text(e.error -> 'field'))
    from jsonb_array_elements(faults) with ordinality e (error, n)
  ) f (line, error, n, field);
  update bulk.operation o
  set next_chunk = o.next_chunk + 1, attempts = 0, claimed_until = now() + lease_ms * interval '1 ms',
    created_count = o.created_count + c.created, updated_count = o.updated_count + c.updated,
    done_count = o.done_count + c.done,
    refused_count = o.refused_count + c.refused + (
      select count(distinct f -> 'line') from jsonb_array_elements(faults) f),
    stored_bytes = o.stored_bytes - (
      select length(k.content) from bulk.chunk k
      where k.operation_id = o.id and k.number = import_chunk.number)
  from (
    select count(*) filter (where r ->> 'outcome' = 'CREATED') as created,
      count(*) filter (where r ->> 'outcome' = 'UPDATED') as updated,
      count(*) filter (where r ->> 'outcome' <> 'REFUSED') as done,
      count(*) filter (where r ->> 'outcome' = 'REFUSED') as refused
    from jsonb_array_elements(results) r
  ) c
  where o.id = operation_id and o.claim = import_chunk.claim and o.state = 'running'
    and o.next_chunk = import_chunk.number;
  if not found then
    -- Cancelled, or taken by another process meanwhile: then nothing of this is to be done
    raise exception 'The bulk operation is no longer ours.' using errcode = 'serialization_failure';
  end if;
  delete from bulk.chunk k
  where k.operation_id = import_chunk.operation_id and k.number = import_chunk.number;
  return 'done';
end
$$;
comment on function
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer) is
  'Takes in the rows of a chunk, with the rights that the credential has now, notes refusals, and marks the '
  'chunk as done, in one transaction: no row is done twice. Faults are rows that can not be read. '
  'Answers done; gone when somebody else works on it, or it was cancelled; FORBIDDEN when the plan allows no '
  'mutations; SCOPE_MISSING when the credential may not write any more.';
select api_meta.give(
  'bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer)',
  'service_writer'
);
grant execute on function
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer)
  to service_worker;
--! EndIncluded bulk/import_chunk.sql
--! Included bulk/open_errors.sql
create or replace function bulk.is_code(operation_id uuid, presented_hash bytea) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
begin
  -- As in erp.open_document: the time of the comparison reveals nothing about the code
  return sha256(nonce || presented_hash) = sha256(nonce || coalesce((
    select sha256(convert_to(o.code, 'UTF8')) from bulk.operation o where o.id = operation_id
  ), nonce));
end
$$;
comment on function bulk.is_code(uuid, bytea) is
  'Whether this is the SHA-256 of the code that opens the files of a bulk operation.';
grant execute on function bulk.is_code(uuid, bytea) to service_writer;

create or replace function bulk.open_errors(operation_id uuid, presented_hash bytea, after_line integer,
  after_number integer)
returns table (line integer, number smallint, code text, message text, field text[], details jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  if not bulk.is_code(open_errors.operation_id, presented_hash) then
    raise exception 'There is no such file.' using errcode = 'no_data_found';
  end if;
  return query select r.line, r.number, r.code, r.message, r.field, r.details
    from bulk.refusal r
    where r.operation_id = open_errors.operation_id and (r.line, r.number) > (after_line, after_number)
    order by r.line, r.number limit 1000;
end
$$;
comment on function bulk.open_errors(uuid, bytea, integer, integer) is
  'Why rows of a bulk operation were refused: up to 1,000 behind a place, for clients that have the code. '
  'Fails with P0002 when the id or the code is wrong.';
select api_meta.give('bulk.open_errors(uuid, bytea, integer, integer)', 'service_writer');
grant execute on function bulk.open_errors(uuid, bytea, integer, integer) to service_worker;
--! EndIncluded bulk/open_errors.sql
--! Included bulk/open_result.sql
create or replace function bulk.open_result(operation_id uuid, presented_hash bytea, after_number integer)
returns table (number integer, content bytea, format text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  if not bulk.is_code(open_result.operation_id, presented_hash) or not exists (
    select from bulk.operation o
    where o.id = open_result.operation_id and o.kind = 'export' and o.state = 'completed'
  ) then
    raise exception 'There is no such file.' using errcode = 'no_data_found';
  end if;
  return query select c.number, c.content, o.format
    from bulk.operation o left join bulk.chunk c on c.operation_id = o.id and c.number > after_number
    where o.id = open_result.operation_id order by c.number limit 1;
end
$$;
comment on function bulk.open_result(uuid, bytea, integer) is
  'The next part of the file of an export, for clients that have the code; without content behind the '
  'last one. Fails with P0002 when the id or the code is wrong.';
select api_meta.give('bulk.open_result(uuid, bytea, integer)', 'service_writer');
grant execute on function bulk.open_result(uuid, bytea, integer) to service_worker;
--! EndIncluded bulk/open_result.sql
--! Included bulk/prune.sql
create or replace function bulk.prune() returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  count integer := 0;
  deleted integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('bulk.prune', 0)) then
    return 0;
  end if;
  -- Files that nobody will read any more
  delete from bulk.chunk c where c.ctid = any (array(
    select k.ctid from bulk.chunk k join bulk.operation o on o.id = k.operation_id
    where o.expires_at < now() or o.kind = 'import' and o.state in ('failed', 'cancelled')
      or o.state = 'uploading' and o.claimed_until < now()
    limit 200));
  get diagnostics deleted = row_count;
  count := count + deleted;
  delete from bulk.refusal r where r.ctid = any (array(
    select f.ctid from bulk.refusal f join bulk.operation o on o.id = f.operation_id
    where o.expires_at < now() limit 5000));
  get diagnostics deleted = row_count;
  count := count + deleted;
  update bulk.operation o set stored_bytes = 0
  where o.kind = 'import' and o.state in ('failed', 'cancelled') and o.stored_bytes > 0;
  delete from bulk.operation o
  where (o.expires_at < now() or o.state = 'uploading' and o.claimed_until < now())
    and not exists (select from bulk.chunk c where c.operation_id = o.id)
    and not exists (select from bulk.refusal r where r.operation_id = o.id);
  get diagnostics deleted = row_count;
  return count + deleted;
end
$$;
comment on function bulk.prune() is
  'Deletes bulk operations that have expired, uploads that were cut off, and what failed and cancelled ones '
  'leave, a part at a time. Answers how much; 0 when nothing is left.';
select api_meta.give('bulk.prune()', 'service_writer');
grant execute on function bulk.prune() to service_worker;
--! EndIncluded bulk/prune.sql
--! Included bulk/read_chunk.sql
create or replace function bulk.read_chunk(operation_id uuid, claim uuid, number integer) returns bytea
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select c.content
  from bulk.operation o join bulk.chunk c on c.operation_id = o.id
  where o.id = read_chunk.operation_id and o.claim = read_chunk.claim and c.number = read_chunk.number;
end;
comment on function bulk.read_chunk(uuid, uuid, integer) is
  'A chunk of a file, for the process that works on it; null behind the last one.';
select api_meta.give('bulk.read_chunk(uuid, uuid, integer)', 'service_writer');
grant execute on function bulk.read_chunk(uuid, uuid, integer) to service_worker;
--! EndIncluded bulk/read_chunk.sql
--! Included bulk/scopes_of.sql
create or replace function bulk.scopes_of(operation_id uuid) returns text[]
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select array(select unnest(o.scopes) intersect select unnest(c.scopes))
  from bulk.operation o join auth.credential c on c.id = o.credential_id and c.deactivated_at is null
    and (c.expires_at is null or c.expires_at > now())
  where o.id = scopes_of.operation_id;
end;
comment on function bulk.scopes_of(uuid) is
  'The rights of a bulk operation now: the scopes of the token that asked for it which its credential still '
  'has. Null when the credential is gone, has ended or is deactivated.';
grant execute on function bulk.scopes_of(uuid) to service_writer;
--! EndIncluded bulk/scopes_of.sql
--! Included bulk/renew.sql
create or replace function bulk.renew(operation_id uuid, claim uuid, lease_ms integer) returns text[]
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  update bulk.operation o set claimed_until = now() + lease_ms * interval '1 ms'
  where o.id = operation_id and o.claim = renew.claim and o.state = 'running'
  returning coalesce(bulk.scopes_of(o.id), '{}');
end;
comment on function bulk.renew(uuid, uuid, integer) is
  'Keeps a bulk operation for some more milliseconds. Answers the scopes that it has now, or null when '
  'somebody else works on it, or it was cancelled.';
select api_meta.give('bulk.renew(uuid, uuid, integer)', 'service_writer');
grant execute on function bulk.renew(uuid, uuid, integer) to service_worker;
--! EndIncluded bulk/renew.sql
--! Included bulk/run_export.sql
create or replace function bulk.run_export(query text, variables jsonb, format text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most_waiting constant integer := 10;
  id uuid;
begin
  if format not in ('jsonl', 'csv') then
    perform mutation.refuse('INVALID', 'A format is jsonl or csv.', '{format}');
  elsif length(query) > 10000 then
    perform mutation.refuse('OUT_OF_RANGE', 'A query has up to 10,000 characters.', '{query}');
  elsif jsonb_typeof(variables) <> 'object' then
    perform mutation.refuse('INVALID', 'Variables are an object.', '{variables}');
  elsif most_waiting <= (
    select count(*) from bulk.operation o
    where o.credential_id = mutation.caller() and o.state in ('uploading', 'queued', 'running')
  ) then
    perform mutation.refuse('OUT_OF_RANGE',
      format('%s bulk operations have not ended. Wait until one has.', most_waiting));
  end if;
  insert into bulk.operation as o (credential_id, scopes, kind, state, resource, format, query, variables,
    locale)
  values (mutation.caller(), string_to_array(current_setting('service.scopes', true), ' '), 'export',
    'queued', 'list', format, query, variables, nullif(current_setting('service.locale', true), ''))
  returning o.id into id;
  return id;
end
$$;
comment on function bulk.run_export(text, jsonb, text) is
  'Asks for an export: the list of a query is to be written to a file. User errors INVALID, OUT_OF_RANGE.';
grant execute on function bulk.run_export(text, jsonb, text) to service_writer;
--! EndIncluded bulk/run_export.sql
--! Included bulk/upsert.sql
create or replace function bulk.upsert(version name, operation name, list text, rows jsonb) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  answer constant jsonb := mutation.run(version, operation,
    jsonb_build_object(list, rows, 'partial', true), null, false);
  count constant integer := jsonb_array_length(rows);
  half constant integer := count / 2;
  results jsonb := answer #> '{payload,results}';
  late integer[];
begin
  if answer -> 'userErrors' <> '[]' then
    if count = 1 then
      return jsonb_build_array(
        jsonb_build_object('outcome', 'REFUSED', 'user_errors', answer -> 'userErrors'));
    end if;
    return bulk.upsert(version, operation, list, jsonb_path_query_array(rows, '$[0 to $last]',
        jsonb_build_object('last', half - 1)))
      || bulk.upsert(version, operation, list, jsonb_path_query_array(rows, '$[$first to last]',
        jsonb_build_object('first', half)));
  end if;
  late := array(
    select r.place - 1 from jsonb_array_elements(results) with ordinality r (result, place)
    where r.result ->> 'outcome' = 'REFUSED'
      and not r.result @? '$.user_errors[*] ? (@.code != "NOT_UNIQUE")' order by r.place);
  if cardinality(late) not between 1 and count - 1 then
    return results;
  end if;
  select jsonb_agg(coalesce(l.result, r.result) order by r.place) into results
  from jsonb_array_elements(results) with ordinality r (result, place)
  left join (
    select late[a.nth] + 1 as place, a.result
    from jsonb_array_elements(bulk.upsert(version, operation, list, (
      select jsonb_agg(rows -> l.place order by l.nth) from unnest(late) with ordinality l (place, nth)
    ))) with ordinality a (result, nth)
  ) l on l.place = r.place;
  return results;
end
$$;
comment on function bulk.upsert(name, name, text, jsonb) is
  'Runs the upsert of a version with many rows, and answers what became of each. When it is refused as a '
  'whole, halves are tried, so that only the rows are refused that are to blame. Rows of which an earlier '
  'one in the same call speaks already come after it, as they would in a call of their own.';
grant execute on function bulk.upsert(name, name, text, jsonb) to service_writer;
--! EndIncluded bulk/upsert.sql
