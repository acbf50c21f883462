--! Previous: sha1:d840e0f151ce3c9353a84cc07c89b5e4fab739c1
--! Hash: sha1:21839db47c217df2c4c01182dc776d332bfb5e8f
--! Message: what fresh cases found

--! split: 16-security.sql
--! Message: what fresh cases found

-- Rights are asked again wherever something long runs: files, work on them, subscriptions.
--! Included auth/may_send.sql
create or replace function auth.may_send(credential_id uuid, document text) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select not exists (
    select from auth.credential c
    where c.id = may_send.credential_id and c.stored_operations_only
      and not exists (
        select from auth.stored_operation o
        where o.sha256 = sha256(convert_to(may_send.document, 'UTF8'))
          and (o.credential_id is null or o.credential_id = c.id)
      )
  );
end;
comment on function auth.may_send(uuid, text) is
  'Whether a credential may have a GraphQL document run: any, unless it may send stored operations only; '
  'then those that are stored for it, in whatever version. Null is a document that can not be stored.';
select api_meta.give('auth.may_send(uuid, text)', 'service_registrar');
grant execute on function auth.may_send(uuid, text) to service_writer;
--! EndIncluded auth/may_send.sql
--! Included bulk/scopes_of.sql
create or replace function bulk.scopes_of(operation_id uuid) returns text[]
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select array(select unnest(o.scopes) intersect select unnest(c.scopes))
  from bulk.operation o join auth.credential c on c.id = o.credential_id and c.deactivated_at is null
    and (c.expires_at is null or c.expires_at > now())
  where o.id = scopes_of.operation_id and auth.may_send(o.credential_id, o.query)
    and (select p.name from auth.current_plan() p) <> 'none';
end;
comment on function bulk.scopes_of(uuid) is
  'The rights of a bulk operation now: the scopes of the token that asked for it which its credential still '
  'has. Null when the credential is gone, has ended or is deactivated, when it may send stored operations '
  'only and this is none, or while the plan of the merchant has no API.';
grant execute on function bulk.scopes_of(uuid) to service_writer;
--! EndIncluded bulk/scopes_of.sql
--! Included bulk/open_errors.sql
create or replace function bulk.is_code(operation_id uuid, presented_hash bytea) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
begin
  -- As in erp.open_document: the time of the comparison reveals nothing about the code
  return sha256(nonce || presented_hash) = sha256(nonce || coalesce((
    select sha256(convert_to(o.code, 'UTF8')) from bulk.operation o
    where o.id = operation_id and (o.expires_at is null or o.expires_at > now())
  ), nonce));
end
$$;
comment on function bulk.is_code(uuid, bytea) is
  'Whether this is the SHA-256 of the code that opens the files of a bulk operation, until they expire.';
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
--! Included bulk/rights_to_files.sql
create or replace function bulk.rights_to_files(operation_id uuid, presented_hash bytea)
returns table (resource text, query text, variables jsonb, scopes text[])
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  if bulk.is_code(operation_id, presented_hash) then
    return query select o.resource, o.query, o.variables, bulk.scopes_of(o.id)
      from bulk.operation o where o.id = rights_to_files.operation_id;
  end if;
end
$$;
comment on function bulk.rights_to_files(uuid, bytea) is
  'The bulk operation whose files somebody opens who has the code, and the scopes that it has now, as '
  'bulk.scopes_of. No row when the id or the code is wrong, or the files have expired.';
select api_meta.give('bulk.rights_to_files(uuid, bytea)', 'service_writer');
grant execute on function bulk.rights_to_files(uuid, bytea) to service_worker;
--! EndIncluded bulk/rights_to_files.sql
--! Included bulk/run_export.sql
create or replace function bulk.run_export(query text, variables jsonb, format text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most_waiting constant integer := 10;
  id uuid;
begin
  -- Concurrent exports count each other: from here on, everything committed is visible
  perform pg_advisory_xact_lock(hashtextextended('bulk.run_export ' || mutation.caller(), 0));
  -- As PHP writes an empty object
  if variables = '[]' then
    variables := '{}';
  end if;
  if format not in ('jsonl', 'csv', 'csv_raw') then
    perform mutation.refuse('INVALID', 'A format is jsonl, csv or csv_raw.', '{format}');
  elsif length(query) > 10000 then
    perform mutation.refuse('OUT_OF_RANGE', 'A query has up to 10,000 characters.', '{query}');
  elsif jsonb_typeof(variables) <> 'object' then
    perform mutation.refuse('INVALID', 'Variables are an object.', '{variables}');
  elsif not auth.may_send(mutation.caller(), query) then
    perform mutation.refuse('INVALID',
      'The token may send stored operations only, and this query is not stored for it.', '{query}');
  elsif most_waiting <= (
    select count(*) from bulk.operation o
    where o.credential_id = mutation.caller() and o.state in ('uploading', 'queued', 'running')
  ) then
    perform mutation.refuse('OUT_OF_RANGE',
      format('%s bulk operations have not ended. Wait until one has.', most_waiting));
  end if;
  insert into bulk.operation as o (credential_id, scopes, kind, state, resource, format, query, variables,
    locale, traceparent)
  values (mutation.caller(), string_to_array(current_setting('service.scopes', true), ' '), 'export',
    'queued', 'list', format, query, variables, nullif(current_setting('service.locale', true), ''),
    nullif(current_setting('service.traceparent', true), ''))
  returning o.id into id;
  return id;
end
$$;
comment on function bulk.run_export(text, jsonb, text) is
  'Asks for an export: the list of a query is to be written to a file. User errors INVALID, OUT_OF_RANGE.';
grant execute on function bulk.run_export(text, jsonb, text) to service_writer;
--! EndIncluded bulk/run_export.sql
--! Included events/require_settings.sql
create or replace function events.require_settings(subscription events.webhook_subscription) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  known constant text[] := array(
    select f.name from events.topic t
    join events.occasion o on o.topic = t.name and o.operation = 'update'
    join events.field f on f.subject_type = t.subject_type
      and f.column_name <> all ('{id,created_at,updated_at}')
    where t.name = subscription.topic order by f.position);
  unknown constant text[] := array(select unnest(subscription.fields) except select unnest(known) order by 1);
begin
  if to_regnamespace('api_' || replace(subscription.api_version, '-', '_')) is null
    or subscription.api_version !~ '^(unstable|\d[\w-]*)$' then
    perform mutation.refuse('INVALID', 'There is no such version of the API.', '{api_version}');
  elsif subscription.fields = '{}' then
    perform mutation.refuse(
      'INVALID', 'Name fields, or leave them out to be told of every change.', '{fields}'
    );
  elsif unknown <> '{}' then
    perform mutation.refuse('INVALID',
      format(
        'Events of the topic %s tell of no changes of %s.', subscription.topic, array_to_string(unknown, ', ')
      ),
        '{fields}',
      jsonb_build_object('fields', known));
  elsif erp.is_blank(subscription.payload_query) then
    perform mutation.refuse('INVALID', 'The query is empty.', '{payload_query}');
  elsif subscription.payload_query is not null
    and not auth.may_send(events.caller(), subscription.payload_query) then
    perform mutation.refuse('INVALID',
      'The token may send stored operations only, and this query is not stored for it.', '{payload_query}');
  elsif subscription.url ~ '^https?://' and events.is_forbidden_host(events.host_of(subscription.url)) then
    perform mutation.refuse(
      'URL_FORBIDDEN', 'Nothing is sent to this host: it is none of the public internet. '
      'Who runs the service can allow it by the setting WEBHOOK_ALLOW.', '{url}'
    );
  end if;
end
$$;
comment on function events.require_settings(events.webhook_subscription) is
  'Checks what was entered about a subscription, beyond its constraints. User errors INVALID, URL_FORBIDDEN.';
grant execute on function events.require_settings(events.webhook_subscription) to service_writer;
--! EndIncluded events/require_settings.sql
--! Included events/scopes_of_subscription.sql
create or replace function events.scopes_of_subscription(subscription_id uuid) returns text[]
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select case when s.credential_id is null then array(select auth.known_scopes()) else c.scopes end
  from events.webhook_subscription s join events.topic t on t.name = s.topic
  left join auth.credential c on c.id = s.credential_id and c.deactivated_at is null
    and (c.expires_at is null or c.expires_at > now())
  where s.id = scopes_of_subscription.subscription_id
    and (s.credential_id is null or t.scope = any (c.scopes))
    and (s.payload_query is null or auth.may_send(s.credential_id, s.payload_query));
end;
comment on function events.scopes_of_subscription(uuid) is
  'What may be sent to a subscriber, to be asked at every attempt: the scopes that the credential '
  'behind the subscription has now; all of them where an administrator made it. Null when the '
  'credential is gone or deactivated, has ended or lost the scope of the topic, or may send stored '
  'operations only and the query of the subscription is none: then nothing may be sent.';
grant execute on function events.scopes_of_subscription(uuid) to service_delivery;
--! EndIncluded events/scopes_of_subscription.sql

-- Webhook subscriptions belong to the credential that they are on the account of, as bulk operations do
--! Included auth/known_scopes.sql
create or replace function auth.known_scopes() returns setof text
language sql stable parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  with api_object (oid) as (
    select pg_class.oid from pg_class
    join pg_namespace on pg_namespace.oid = pg_class.relnamespace
    where pg_namespace.nspname ^@ 'api_' and pg_class.relkind = 'v'
    union all
    select pg_proc.oid from pg_proc
    join pg_namespace on pg_namespace.oid = pg_proc.pronamespace
    where pg_namespace.nspname ^@ 'api_'
  ), named (resource, level) as (
    select scope.match[1], scope.match[2]
    from api_object
    join pg_description on pg_description.objoid = api_object.oid
      and pg_description.classoid in ('pg_class'::regclass, 'pg_proc'::regclass)
    cross join lateral regexp_matches(
      pg_description.description, '@(?:requiresScopes|scopesOfAll)\s+([^\n|]+)', 'g'
    ) as tag (match)
    cross join lateral regexp_matches(tag.match[1], '([a-z][a-z_]*):([a-z]+)', 'g') as scope (match)
  )
  select scope.resource || ':' || scope.level
  from (
    select named.resource, 'read' as level from named
    union
    select named.resource, named.level from named
  ) scope
  order by scope.resource, scope.level;
end;
comment on function auth.known_scopes() is
  'Every scope that a credential can have: those that the tags @requiresScopes and @scopesOfAll name in an '
  'API schema, and reading of what can be written. So a scope is declared in one place, beside the view '
  'that it protects or the mutation that needs it, and nobody is offered to write what no mutation writes.';
grant execute on function auth.known_scopes() to service_registrar;
--! EndIncluded auth/known_scopes.sql
drop view if exists api_unstable.webhook_subscriptions;
--! Included api/webhook_subscriptions.sql
create view api_unstable.webhook_subscriptions with (security_invoker = true) as
select id, topic, url, api_version, fields, payload_query, enabled, health, health_reason, backlog_count,
  created_at, updated_at,
  last_sequence, last_delivered_at, failing_since, disabled_at
from events.webhook_subscription;
comment on view api_unstable.webhook_subscriptions is $$
@primaryKey id
@requiresScopes webhook_subscriptions:read
@scopesOfAll all_webhook_subscriptions:read all_webhook_subscriptions:write
@filters *
@fullLists fields
Who is told when something happens. Each credential sees its own; with all_webhook_subscriptions:read, all.$$;
--! EndIncluded api/webhook_subscriptions.sql

drop policy if exists webhook_subscription_of_caller on events.webhook_subscription;
create policy webhook_subscription_of_caller on events.webhook_subscription
as restrictive for select to service_api
using (credential_id = (select nullif(current_setting('service.credential_id', true), '')::uuid)
  or (select auth.has_scope('all_webhook_subscriptions:read')));
-- Without a caller it is the administration, or SQL. Locking a row counts as changing it
drop policy if exists webhook_subscription_updated_by_caller on events.webhook_subscription;
create policy webhook_subscription_updated_by_caller on events.webhook_subscription
as restrictive for update to service_writer
using (credential_id = (select events.caller()) or (select events.caller()) is null
  or (select auth.has_scope('all_webhook_subscriptions:write')));
drop policy if exists webhook_subscription_deleted_by_caller on events.webhook_subscription;
create policy webhook_subscription_deleted_by_caller on events.webhook_subscription
as restrictive for delete to service_writer
using (credential_id = (select events.caller()) or (select events.caller()) is null
  or (select auth.has_scope('all_webhook_subscriptions:write')));
-- What belongs to a subscription is seen where it is
drop policy if exists delivery_of_caller on events.delivery;
create policy delivery_of_caller on events.delivery as restrictive for select to service_api
using (subscription_id = any ((select array_agg(s.id) from events.webhook_subscription s)::uuid[]));
drop policy if exists delivery_attempt_of_caller on events.delivery_attempt;
-- waive costly-policy events.delivery_attempt: attempts are read by their delivery, a handful each
create policy delivery_attempt_of_caller on events.delivery_attempt as restrictive for select to service_api
using ((select d.subscription_id from events.delivery d where d.id = delivery_id) is not null);

comment on policy webhook_subscription_of_caller on events.webhook_subscription is
  'A credential sees its own subscriptions only, without the scope for all.';
comment on policy delivery_of_caller on events.delivery is
  'Deliveries are seen where their subscription is.';
comment on policy delivery_attempt_of_caller on events.delivery_attempt is
  'Attempts are seen where their delivery is.';

-- Credentials that may read, or write, everything keep that
with known as (
  select array_agg(scope) filter (where scope like '%:read') as readable,
    array_agg(scope) filter (where scope like '%:write') as writable
  from auth.known_scopes() scope where scope not like 'all\_webhook%'
)
update auth.credential c
set scopes = c.scopes || '{all_webhook_subscriptions:read}'
  || case when c.scopes @> k.writable then '{all_webhook_subscriptions:write}' else '{}' end::text[]
from known k
where c.scopes @> k.readable and not c.scopes @> '{all_webhook_subscriptions:read}';

-- CSV without the apostrophes before formulas
--! Included api/bulk_operation_run.sql
drop type if exists api_unstable.bulk_operation_run_input cascade;
create type api_unstable.bulk_operation_run_input as (query text, variables jsonb, format text);
comment on type api_unstable.bulk_operation_run_input is 'A list to be written to a file.';
comment on column api_unstable.bulk_operation_run_input.query is
  E'@notNull\nA GraphQL document with one query of one list, up to 10,000 characters. Its pages and those of '
  'lists within it don''t count: all rows are written.';
comment on column api_unstable.bulk_operation_run_input.variables is
  'Values of the variables of the query: an object.';
comment on column api_unstable.bulk_operation_run_input.format is
  'Format of the file: jsonl, which is meant when it is left out, or csv. In csv, an apostrophe stands'
  ' before texts that a spreadsheet would run as formulas; in csv_raw it does not.';

drop type if exists api_unstable.bulk_operation_run_payload cascade;
create type api_unstable.bulk_operation_run_payload
  as (bulk_operation uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.bulk_operation_run_payload is 'What asking for an export answers.';
comment on column api_unstable.bulk_operation_run_payload.bulk_operation is
  E'@entity BulkOperation\nThe bulk operation; null when it was refused.';
comment on column api_unstable.bulk_operation_run_payload.user_errors is
  'Why it was refused; empty when it was not.';

create function api_unstable.bulk_operation_run(input api_unstable.bulk_operation_run_input)
returns api_unstable.bulk_operation_run_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (bulk.run_export(input.query, coalesce(input.variables, '{}'), coalesce(input.format, 'jsonl')),
    null)::api_unstable.bulk_operation_run_payload
$$;
comment on function api_unstable.bulk_operation_run(api_unstable.bulk_operation_run_input) is
  E'@requiresScopes bulk_operations:write\n'
  '@userErrors INVALID OUT_OF_RANGE SCOPE_MISSING\n'
  'Writes all rows of a list to a file, as background work, as they are at one moment: a line for each row, '
  'and for each row of lists within it a line with __parentId.';
--! EndIncluded api/bulk_operation_run.sql
comment on column bulk.operation.format is 'Format of the file: jsonl, csv or csv_raw.';

--! split: 20-clients.sql
alter table bulk.operation add column if not exists content_sha256 bytea;
comment on column bulk.operation.content_sha256 is
  'SHA-256 of the text of an uploaded file, in UTF-8: another file with the same key is refused. Null of '
  'exports, and of files that have arrived before this was kept.';

drop function if exists bulk.begin_upload(uuid, text[], text, text, text, uuid, text);
--! Included bulk/begin_upload.sql
create or replace function bulk.begin_upload(credential_id uuid, scopes text[], resource text, format text,
  idempotency_key text, claim uuid, traceparent text default null)
returns table (id uuid, is_ours boolean, is_same boolean, content_sha256 bytea)
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
      claim, claimed_until, row_count, traceparent)
    values (credential_id, scopes, 'import', 'uploading', resource, format, idempotency_key, claim,
      now() + bulk.upload_pause(), 0, traceparent)
    returning o.id into id;
    return query select id, true, true, null::bytea;
    return;
  end if;
  is_same := (present.kind, present.resource, present.format) = ('import', resource, format);
  is_ours := is_same and present.state = 'uploading';
  if is_ours then
    -- That upload was cut off, or is about to be: its next chunk will be refused
    delete from bulk.chunk c where c.operation_id = present.id;
    update bulk.operation o
    set claim = begin_upload.claim, claimed_until = now() + bulk.upload_pause(), scopes = begin_upload.scopes,
      traceparent = begin_upload.traceparent, next_chunk = 0, stored_bytes = 0, row_count = 0
    where o.id = present.id;
  end if;
  return query select present.id, is_ours, is_same, present.content_sha256;
end
$$;
comment on function bulk.begin_upload(uuid, text[], text, text, text, uuid, text) is
  'Begins the upload of a file. With a key that was used before: begins it again if the file has not '
  'arrived, or else answers the operation that it has made. is_ours: the file is to be sent; is_same: the '
  'key was used for the same kind of file; content_sha256: of the text of the file that has arrived, null '
  'when nothing keeps it.';

create or replace function bulk.upload_pause() returns interval
language sql immutable set search_path = pg_catalog, pg_temp
return interval '10 minutes';
comment on function bulk.upload_pause() is
  'After what time without anything new an upload counts as cut off.';
grant execute on function bulk.upload_pause() to service_writer;
select api_meta.give('bulk.begin_upload(uuid, text[], text, text, text, uuid, text)', 'service_writer');
grant execute on function bulk.begin_upload(uuid, text[], text, text, text, uuid, text) to service_worker;
--! EndIncluded bulk/begin_upload.sql
drop function if exists bulk.end_upload(uuid, uuid);
--! Included bulk/end_upload.sql
create or replace function bulk.end_upload(operation_id uuid, claim uuid, content_sha256 bytea default null)
returns integer
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  update bulk.operation o
  set state = 'queued', next_chunk = 0, claim = null, claimed_until = null,
    content_sha256 = end_upload.content_sha256
  where o.id = operation_id and o.claim = end_upload.claim and o.state = 'uploading'
  returning o.row_count;
end;
comment on function bulk.end_upload(uuid, uuid, bytea) is
  'The whole file has arrived: its rows wait for their turn. Answers how many they are, or null when the '
  'upload was cancelled, or began anew elsewhere.';
select api_meta.give('bulk.end_upload(uuid, uuid, bytea)', 'service_writer');
grant execute on function bulk.end_upload(uuid, uuid, bytea) to service_worker;

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
--! Included bulk/run_export.sql
create or replace function bulk.run_export(query text, variables jsonb, format text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most_waiting constant integer := 10;
  id uuid;
begin
  -- Concurrent exports count each other: from here on, everything committed is visible
  perform pg_advisory_xact_lock(hashtextextended('bulk.run_export ' || mutation.caller(), 0));
  -- As PHP writes an empty object
  if variables = '[]' then
    variables := '{}';
  end if;
  if format not in ('jsonl', 'csv', 'csv_raw') then
    perform mutation.refuse('INVALID', 'A format is jsonl, csv or csv_raw.', '{format}');
  elsif length(query) > 10000 then
    perform mutation.refuse('OUT_OF_RANGE', 'A query has up to 10,000 characters.', '{query}');
  elsif jsonb_typeof(variables) <> 'object' then
    perform mutation.refuse('INVALID', 'Variables are an object.', '{variables}');
  elsif not auth.may_send(mutation.caller(), query) then
    perform mutation.refuse('INVALID',
      'The token may send stored operations only, and this query is not stored for it.', '{query}');
  elsif most_waiting <= (
    select count(*) from bulk.operation o
    where o.credential_id = mutation.caller() and o.state in ('uploading', 'queued', 'running')
  ) then
    perform mutation.refuse('OUT_OF_RANGE',
      format('%s bulk operations have not ended. Wait until one has.', most_waiting));
  end if;
  insert into bulk.operation as o (credential_id, scopes, kind, state, resource, format, query, variables,
    locale, traceparent)
  values (mutation.caller(), string_to_array(current_setting('service.scopes', true), ' '), 'export',
    'queued', 'list', format, query, variables, nullif(current_setting('service.locale', true), ''),
    nullif(current_setting('service.traceparent', true), ''))
  returning o.id into id;
  return id;
end
$$;
comment on function bulk.run_export(text, jsonb, text) is
  'Asks for an export: the list of a query is to be written to a file. User errors INVALID, OUT_OF_RANGE.';
grant execute on function bulk.run_export(text, jsonb, text) to service_writer;
--! EndIncluded bulk/run_export.sql

--! split: 25-refusal.sql
-- A refusal holds its idempotency key for calls that arrived before it
alter table mutation.idempotency_key add column if not exists refused_at timestamptz;
comment on table mutation.idempotency_key is
  'Which mutations were called with a key in the last 24 hours, by the credential that did; written in the '
  'transaction of their effect, or of their refusal.';
comment on column mutation.idempotency_key.payload is
  'What the mutation answered: ids, not the things themselves; and its warnings. Of one that was refused: '
  'its user errors.';
comment on column mutation.idempotency_key.refused_at is
  'When the mutation was refused; null when it was done. A call that arrived later may use the key again.';

drop function if exists mutation.broken_rule(text, jsonb, name, name, name, name);
drop function if exists mutation.run(name, name, jsonb, text, boolean);
drop function if exists mutation.take_key(text, bytea, name, jsonb);
drop function if exists mutation.keep_answer(text, bytea, jsonb);
--! Included mutation/broken_rule.sql
create or replace function mutation.broken_rule(
  state text, detail text, input jsonb, violated_schema name, violated_table name, violated_column name,
  violated_constraint name
) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  error jsonb;
  referring text[];
begin
  if state = 'UE001' then
    return detail::jsonb;
  end if;
  error := case
    when state = '22003' then
      mutation.user_error('OUT_OF_RANGE', 'A quantity or an amount would become larger than can be kept.')
    -- The caller gave null for a required value
    when state = '23502' and input ? violated_column then
      mutation.user_error('REQUIRED', 'This must not be null.', array[violated_column])
    -- A foreign key with on delete restrict
    when state = '23001' then
      mutation.user_error('REFERENCE_IN_USE', 'Something else still refers to it.')
    else mutation.violation(violated_schema, violated_table, violated_constraint)
  end;
  if error is null and state = '23503' then
    -- The input names it, so the caller has chosen something that isn't there
    select array_agg(a.attname::text) into referring
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
    where c.contype = 'f' and c.conname = violated_constraint
      and c.conrelid = to_regclass(format('%I.%I', violated_schema, violated_table))
      and coalesce(obj_description(c.oid, 'pg_constraint'), '') !~ '^@internal'
      and jsonb_path_exists(input, format('$.**.%s', to_json(a.attname))::jsonpath);
    if referring is not null then
      error := mutation.user_error('NOT_FOUND', 'What this refers to does not exist.',
        case when input ?& referring then referring end);
    end if;
  end if;
  return case when error is not null then jsonb_build_array(error) end;
end
$$;
comment on function mutation.broken_rule(text, text, jsonb, name, name, name, name) is
  'The user errors that an exception of a mutation means: those of mutation.refuse, which are its detail, or '
  'by its SQLSTATE and the constraint that was violated; null when it is a fault of ours. A foreign key '
  'needs no comment if its column is called as in the input.';
grant execute on function mutation.broken_rule(text, text, jsonb, name, name, name, name) to service_writer;
--! EndIncluded mutation/broken_rule.sql
--! Included mutation/keep_answer.sql
create or replace function mutation.keep_answer(
  idempotency_key text, digest bytea, answer jsonb, refused_at timestamptz default null
) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if length(idempotency_key) not between 1 and 255 then
    return;
  end if;
  -- One that is there is too old, or was refused, unless this refuses a key that stands for something else
  insert into mutation.idempotency_key as k (credential_id, key, request, payload, refused_at)
  values (mutation.caller(), idempotency_key, coalesce(digest, ''), answer, keep_answer.refused_at)
  on conflict (credential_id, key) do update
    set request = excluded.request, payload = excluded.payload, refused_at = excluded.refused_at,
      created_at = excluded.created_at
    where k.refused_at is not null or k.created_at < now() - mutation.key_lifetime();
  -- Looking for old ones takes a hundredth of a short call, so one in eight does
  if hashtext(idempotency_key) % 8 = 0 then
    perform mutation.forget_keys();
  end if;
end
$$;
comment on function mutation.keep_answer(text, bytea, jsonb, timestamptz) is
  'Keeps the answer of the running mutation for repetitions with its key, with the digest of its input: its '
  'payload, or, with the moment, its user errors. One call in eight removes some keys that are too old.';
grant execute on function mutation.keep_answer(text, bytea, jsonb, timestamptz) to service_writer;
--! EndIncluded mutation/keep_answer.sql
--! Included mutation/take_key.sql
create or replace function mutation.take_key(
  idempotency_key text, digest bytea, operation name, input jsonb, validate_only boolean,
  newer_than timestamptz
)
returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp
-- The plan is kept while the table grows, so it must suit many keys from the first call on
set enable_seqscan = off as $$
declare
  earlier record;
  errors jsonb := '[]';
begin
  if length(idempotency_key) not between 1 and 255 then
    perform mutation.refuse(
      'OUT_OF_RANGE', 'An idempotency key has 1 to 255 characters.', '{idempotency_key}'
    );
  end if;
  -- The second digest is that of keys from before mutation.digest was
  select k.payload, k.created_at, k.refused_at, k.request = digest
    or k.request = sha256(convert_to(operation || ' ' || input::text, 'UTF8')) as is_same into earlier
  from mutation.idempotency_key k where k.credential_id = mutation.caller() and k.key = idempotency_key;
  if not found or earlier.created_at < now() - mutation.key_lifetime()
    or earlier.refused_at = newer_than or earlier.refused_at is not null and validate_only then
    return null;
  end if;
  if not earlier.is_same then
    errors := jsonb_build_array(mutation.user_error('IDEMPOTENCY_KEY_MISMATCH',
      'The key was used for another input in the last 24 hours.', '{idempotency_key}'));
  elsif earlier.refused_at is not null then
    errors := earlier.payload;
  end if;
  if earlier.refused_at is not null and newer_than is distinct from '-infinity' then
    return jsonb_build_object('payload', null, 'userErrors', errors, 'warnings', '[]'::jsonb,
      'refusal', jsonb_build_object('at', earlier.refused_at,
        'ageMs', trim_scale(1000 * extract(epoch from clock_timestamp() - earlier.refused_at))));
  end if;
  -- Something is written, so that this waits for the synchronous standby as the first call may not have done
  perform pg_logical_emit_message(true, 'service', '');
  if errors <> '[]' then
    return jsonb_build_object('payload', null, 'userErrors', errors, 'warnings', '[]'::jsonb);
  end if;
  return jsonb_build_object('payload', case when not validate_only then earlier.payload end,
    'userErrors', '[]'::jsonb, 'warnings', coalesce(earlier.payload -> 'warnings', '[]'));
end
$$;
comment on function mutation.take_key(text, bytea, name, jsonb, boolean, timestamptz) is
  'Takes a key for the running mutation, which holds its lock; mutation.keep_answer writes it down. Null '
  'when it is free; otherwise the answer of mutation.run: that of the call that had the key before, or '
  'IDEMPOTENCY_KEY_MISMATCH when that had another input. A refusal holds the key for calls that arrived '
  'before it. Only the caller can know whether its own did: so the answer has a field refusal, with the '
  'moment and the age of the refusal, and the caller asks again: with this moment as newer_than, to go on as '
  'a new try, or with -infinity, to get the refusal for good. A trial looks at no refusal.';
grant execute on function
  mutation.take_key(text, bytea, name, jsonb, boolean, timestamptz) to service_writer;
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
    select row (c.nth, c.operation, c.input_type, c.input, c.line, c.key, c.caller, c.cause,
      c.fits and (c.key is null or c.nth = any (locked) and (k.key is null or k.request = d.digest
        and k.payload is not null and k.refused_at is null
        and k.created_at >= now() - mutation.key_lifetime())),
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
select api_meta.plan_by_index('mutation.take_keys(mutation.joint_call[])');
grant execute on function mutation.take_keys(mutation.joint_call[]) to service_writer;
--! EndIncluded mutation/take_keys.sql
--! Included mutation/run.sql
create or replace function mutation.run(
  version name, operation name, input jsonb, idempotency_key text, validate_only boolean,
  refusals jsonb default null, newer_than timestamptz default null
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target record;
  digest bytea;
  earlier jsonb;
  result jsonb;
  errors jsonb;
  warnings jsonb := '[]';
  state text; detail text;
  violated_schema text; violated_table text; violated_column text; violated_constraint text;
begin
  target := mutation.find(version, operation);
  -- GraphQL checks scopes first, but may not know of a change yet
  if target.plan is distinct from 'full' then
    raise exception 'The plan allows no mutations.' using errcode = 'UE003';
  end if;

  if idempotency_key is not null then
    -- A concurrent call with the same key waits here until the first has committed or failed. A lock that the
    -- block below takes would be free as soon as that is undone, and so before a refusal is kept.
    perform pg_advisory_xact_lock(mutation.key_lock(mutation.caller(), idempotency_key));
  end if;
  begin
    if validate_only is null or input @? '$.* ? (@ == null)' then
      perform mutation.refuse_nulls(target.input_type, input, validate_only);
    end if;
    if idempotency_key is not null then
      digest := mutation.digest(operation, target.input_type, input, target.takes_changes);
      earlier := mutation.take_key(idempotency_key, digest, operation, input, validate_only, newer_than);
      if earlier is not null then return earlier; end if;
    end if;
    perform mutation.refuse(refusals) where refusals is not null;
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
    when sqlstate 'UE001' or numeric_value_out_of_range or integrity_constraint_violation then
      get stacked diagnostics state = returned_sqlstate, detail = pg_exception_detail,
        violated_schema = schema_name, violated_table = table_name,
        violated_column = column_name, violated_constraint = constraint_name;
      errors := mutation.broken_rule(
        state, detail, input, violated_schema, violated_table, violated_column, violated_constraint);
      if errors is null then raise; end if;
  end;
  perform mutation.keep_answer(idempotency_key, digest, errors, clock_timestamp())
  where idempotency_key is not null and validate_only is not true;
  return jsonb_build_object('payload', null, 'userErrors', errors, 'warnings', '[]'::jsonb);
end
$$;
comment on function mutation.run(name, name, jsonb, text, boolean, jsonb, timestamptz) is
  'Runs a mutation: the function of that name in the API schema of a version, with its input as JSON. '
  'The only way in for service_api: needs the scope in the tag @requiresScopes of the function''s '
  'comment. Answers {payload, userErrors, warnings}; with user errors nothing has been changed, and '
  'there are no warnings. A key makes a repetition within 24 hours answer the first payload and its '
  'warnings again. A refusal with a key is kept too: a call with that key then gets it again, with a field '
  'refusal, unless newer_than is its moment (see mutation.take_key). refusals are user errors of checks '
  'that were made before. With validate_only everything is undone, and the payload is null. Other errors are '
  'raised: UE003 when the plan allows no mutations, faults, and collisions that are worth another try.';
select api_meta.give('mutation.run(name, name, jsonb, text, boolean, jsonb, timestamptz)', 'service_writer');
grant execute on function
  mutation.run(name, name, jsonb, text, boolean, jsonb, timestamptz) to service_api;
--! EndIncluded mutation/run.sql

-- Several messages of a queue are sent in one turn
--! Included events/next_delivery.sql
create or replace view events.next_delivery with (security_invoker = true) as
select q.subscription_id, q.entity_id, q.claimed_by as claim, q.attempts as failures, d.id as delivery_id,
  d.event_id, m.topic, m.body,
  s.url, s.api_version, s.payload_query, s.credential_id, a.scopes,
  case when a.scopes is null then
    format(
      'The credential behind it has been deactivated or deleted, or no longer has the scope %s.', (
        select t.scope from events.topic t where t.name = s.topic
      )
    )
  end as withheld,
  k.secrets,
  q.next_attempt_at > clock_timestamp() as is_early,
  k.ids as secret_ids,
  (select e.traceparent from events.event e where e.sequence = d.sequence) as traceparent,
  -- Most queues have one, so the count saves the look
  case when q.pending > 1 then (
    select jsonb_agg(jsonb_build_object('delivery_id', f.id, 'event_id', f.event_id, 'topic', m.topic,
      'body', m.body, 'traceparent', f.traceparent) order by f.nth)
    from (
      select o.id, o.event_id, row_number() over (order by o.sequence nulls first, o.id) as nth,
        (select e.traceparent from events.event e where e.sequence = o.sequence) as traceparent
      from events.delivery o
      where o.subscription_id = q.subscription_id and o.entity_id = q.entity_id and o.state = 'pending'
      order by o.sequence nulls first, o.id offset 1 limit 9
    ) f
    join events.message m on m.delivery_id = f.id
  ) end as following
from events.delivery_queue q
join events.webhook_subscription s on s.id = q.subscription_id
cross join lateral (
  select d.id, d.event_id, d.sequence
  from events.delivery d
  where d.subscription_id = q.subscription_id and d.entity_id = q.entity_id and d.state = 'pending'
  order by d.sequence nulls first, d.id limit 1
) d
join events.message m on m.delivery_id = d.id
cross join lateral (
  select coalesce(array_agg(w.secret order by w.expires_at desc nulls first, w.id), '{}') as secrets,
    coalesce(array_agg(w.id order by w.expires_at desc nulls first, w.id), '{}') as ids
  from events.webhook_secret w
  where w.subscription_id = s.id and (w.expires_at is null or w.expires_at > now())
) k
cross join lateral (
  -- An administrator's subscription may send everything; the scopes take long to list, and only a query needs
  -- them
  select case
    when s.credential_id is null and s.payload_query is null then '{}'
    else events.scopes_of_subscription(s.id) end as scopes
) a;
comment on view events.next_delivery is
  'The delivery whose turn it is in each queue, with all that sending it needs: secrets as they are '
  'kept, with their ids. withheld says why it must not be sent; null when it may. is_early says that '
  'the queue was taken before its schedule, to try whether the receiver is back. following are the next '
  'ones of the queue, nine at most: they are sent, one after the other, once those before are accepted.';
grant select on events.next_delivery to service_delivery;
--! EndIncluded events/next_delivery.sql
--! Included events/claimed_delivery.sql
create or replace function events.claimed_delivery(subscription uuid, entity uuid, claim text)
returns setof events.next_delivery
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return query select d.* from events.next_delivery d
  join events.webhook_subscription s on s.id = d.subscription_id and s.enabled
  where d.subscription_id = subscription and d.entity_id = entity and d.claim = claimed_delivery.claim
    and (select p.name <> 'none' from auth.current_plan() p);
end
$$;
comment on function events.claimed_delivery(uuid, uuid, text) is
  'The first delivery of a claimed queue whose outcome is not noted yet, with those that follow; none while '
  'the subscription is disabled or the plan has no API. It locks nothing.';
grant execute on function events.claimed_delivery(uuid, uuid, text) to service_delivery;
--! EndIncluded events/claimed_delivery.sql
--! Included events/next_deliveries.sql
create or replace function events.next_deliveries(results jsonb) returns setof events.next_delivery
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select d.*
  from jsonb_to_recordset(results) as r (subscription uuid, entity uuid, claim text, go_on boolean)
  -- One by one: for all queues at once it would take long with a large backlog
  cross join lateral (
    select * from events.next_delivery d
    where d.subscription_id = r.subscription and d.entity_id = r.entity and d.claim = r.claim limit 1
  ) d
  where r.go_on;
end;
comment on function events.next_deliveries(jsonb) is
  'The next deliveries of the queues that go on after events.record_attempts.';
grant execute on function events.next_deliveries(jsonb) to service_delivery;
--! EndIncluded events/next_deliveries.sql
--! Included events/record_attempts.sql
create or replace function events.record_attempts(results jsonb, states jsonb, lease interval)
returns setof events.next_delivery
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  now constant timestamptz(3) := clock_timestamp();
  has_api constant boolean := (select p.name <> 'none' from auth.current_plan() p);
begin
  with result as (
    select r.*, a.nth, now + r.delay_ms * interval '1 ms' as next_at
    from jsonb_array_elements(results) with ordinality a (result, nth)
    cross join lateral jsonb_to_record(a.result) as r (delivery uuid, subscription uuid, entity uuid,
      claim text, state text, tried boolean, counted boolean, delay_ms bigint, go_on boolean, attempt jsonb)
  ), told as (
    update events.delivery d set state = r.state, attempts = d.attempts + r.tried::integer,
      next_attempt_at = case when r.state = 'pending' then coalesce(r.next_at, d.next_attempt_at) end,
      delivered_at = case when r.state = 'delivered' then now end
    from result r
    -- Pending, in a form that keeps Postgres from reading the whole index of pending deliveries
    where d.id = r.delivery and d.state not in ('delivered', 'failed', 'cancelled')
    returning d.id, d.subscription_id, d.attempts, d.state
  ), noted as (
    insert into events.delivery_attempt (delivery_id, number, at, duration_ms, status, error,
      request_headers, response_headers, response_body)
    select t.id, t.attempts, a.at, a.duration_ms, a.status, a.error,
      a.request_headers, a.response_headers, a.response_body
    from told t join result r on r.delivery = t.id
    cross join lateral jsonb_populate_record(null::events.delivery_attempt, r.attempt) a
    where r.tried
  ), latest as (
    -- Earlier ones in the queue were delivered
    select distinct on (r.subscription, r.entity) r.subscription, r.entity, r.claim, r.go_on, r.next_at,
      t.state, (r.counted and t.id is not null)::integer as counted,
      count(*) filter (where t.state <> 'pending') over (partition by r.subscription, r.entity) as done
    from result r left join told t on t.id = r.delivery
    order by r.subscription, r.entity, r.nth desc
  ), moved as (
    update events.delivery_queue q set pending = q.pending - r.done,
      attempts = case when q.claimed_by is distinct from r.claim then q.attempts
        when r.done > 0 then r.counted else q.attempts + r.counted end,
      next_attempt_at = case when q.claimed_by = r.claim and r.state = 'pending'
        then greatest(q.next_attempt_at, r.next_at) else q.next_attempt_at end,
      claimed_until = case when q.claimed_by is distinct from r.claim then q.claimed_until
        when r.go_on and s.enabled and has_api then now + lease end,
      claimed_by = case when q.claimed_by is distinct from r.claim then q.claimed_by
        when r.go_on and s.enabled and has_api then r.claim end
    from latest r join events.webhook_subscription s on s.id = r.subscription
    where q.subscription_id = r.subscription and q.entity_id = r.entity
  )
  update events.webhook_subscription s set
    health = n.health, health_reason = n.reason, consecutive_failures = n.failures,
    failing_since = n.failing_since, payload_failures = coalesce(n.payload_failures, 0),
    next_probe_at = now + n.probe_after_ms * interval '1 ms', paused_until = case
      when n.stays_paused then s.paused_until else now + n.paused_for_ms * interval '1 ms' end,
    disabled_at = case when n.health = 'DISABLED' then coalesce(s.disabled_at, now) else s.disabled_at end,
    enabled = s.enabled and n.health <> 'DISABLED', backlog_count = greatest(s.backlog_count - d.done, 0),
    last_delivered_at = case when d.delivered > 0 then now else s.last_delivered_at end
  from jsonb_to_recordset(states)
    as n (id uuid, health text, reason text, failures integer, failing_since timestamptz,
      probe_after_ms bigint, payload_failures integer, paused_for_ms bigint, stays_paused boolean)
  cross join lateral (
    select count(*) filter (where t.state <> 'pending') as done,
      count(*) filter (where t.state = 'delivered') as delivered
    from told t where t.subscription_id = n.id
  ) d
  where s.id = n.id;
  perform events.settle_delivery_queues(results, states, now);
  return query select * from events.next_deliveries(results);
end
$$;
comment on function events.record_attempts(jsonb, jsonb, interval) is
  'Notes what came of deliveries, several of a queue if all but the last were delivered, and how their '
  'subscriptions are doing by now; the caller holds the locks of these. Queues that go on stay claimed, '
  'unless the plan has no API any more, for another lease, and it answers their next deliveries. A delay_ms '
  'of null leaves the next attempt when it was to be. What a claim that was lost says about a delivery still '
  'counts, for the receiver has it; about the queue it says nothing any more.';
grant execute on function events.record_attempts(jsonb, jsonb, interval) to service_delivery;
--! EndIncluded events/record_attempts.sql

--! split: 30-load.sql
-- Exports that are requested at the same time count each other
--! Included bulk/run_export.sql
create or replace function bulk.run_export(query text, variables jsonb, format text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most_waiting constant integer := 10;
  id uuid;
begin
  -- Concurrent exports count each other: from here on, everything committed is visible
  perform pg_advisory_xact_lock(hashtextextended('bulk.run_export ' || mutation.caller(), 0));
  -- As PHP writes an empty object
  if variables = '[]' then
    variables := '{}';
  end if;
  if format not in ('jsonl', 'csv', 'csv_raw') then
    perform mutation.refuse('INVALID', 'A format is jsonl, csv or csv_raw.', '{format}');
  elsif length(query) > 10000 then
    perform mutation.refuse('OUT_OF_RANGE', 'A query has up to 10,000 characters.', '{query}');
  elsif jsonb_typeof(variables) <> 'object' then
    perform mutation.refuse('INVALID', 'Variables are an object.', '{variables}');
  elsif not auth.may_send(mutation.caller(), query) then
    perform mutation.refuse('INVALID',
      'The token may send stored operations only, and this query is not stored for it.', '{query}');
  elsif most_waiting <= (
    select count(*) from bulk.operation o
    where o.credential_id = mutation.caller() and o.state in ('uploading', 'queued', 'running')
  ) then
    perform mutation.refuse('OUT_OF_RANGE',
      format('%s bulk operations have not ended. Wait until one has.', most_waiting));
  end if;
  insert into bulk.operation as o (credential_id, scopes, kind, state, resource, format, query, variables,
    locale, traceparent)
  values (mutation.caller(), string_to_array(current_setting('service.scopes', true), ' '), 'export',
    'queued', 'list', format, query, variables, nullif(current_setting('service.locale', true), ''),
    nullif(current_setting('service.traceparent', true), ''))
  returning o.id into id;
  return id;
end
$$;
comment on function bulk.run_export(text, jsonb, text) is
  'Asks for an export: the list of a query is to be written to a file. User errors INVALID, OUT_OF_RANGE.';
grant execute on function bulk.run_export(text, jsonb, text) to service_writer;
--! EndIncluded bulk/run_export.sql

--! split: 37-keys.sql
-- A key by which rows are found is never blank: an empty one would be the same for all that have none
--! Included erp/is_blank.sql
create or replace function erp.is_blank(words text) returns boolean
language sql immutable parallel safe
-- The first character decides of nearly all texts, for a sixth of the time
return case when ascii(words) between 33 and 126 then false else
  words !~ U&'[^\0009-\000D\0020\0085\00A0\1680\2000-\200D\2028\2029\202F\205F\2060\3000\FEFF]' end;
comment on function erp.is_blank(text) is
  'Whether a text has nothing but white space, or nothing at all: that of Unicode, and characters '
  'without a width.';
-- For the roles that write rows with such a rule
grant execute on function erp.is_blank(text) to service_writer, service_ledger, service_booker;
--! EndIncluded erp/is_blank.sql
alter table erp.batch drop constraint if exists batch_number_is_not_blank;
alter table erp.batch add constraint batch_number_is_not_blank check (not erp.is_blank(number)) not enforced;
comment on constraint batch_number_is_not_blank on erp.batch is
  '@internal check_goods_receipt_lines() refuses it';

alter table erp.product drop constraint if exists product_number_is_not_blank;
alter table erp.product add constraint product_number_is_not_blank
  check (not erp.is_blank(product_number)) not enforced;
comment on constraint product_number_is_not_blank on erp.product is
  E'@userError INVALID product_number\nThe number is blank.';

alter table erp.tag drop constraint if exists tag_name_is_not_blank;
alter table erp.tag add constraint tag_name_is_not_blank check (not erp.is_blank(name)) not valid;
comment on constraint tag_name_is_not_blank on erp.tag is
  E'@userError INVALID name\nThe name of the tag is blank.';

alter table erp.supplier drop constraint if exists supplier_number_is_not_blank;
alter table erp.supplier add constraint supplier_number_is_not_blank
  check (not erp.is_blank(number)) not valid;
comment on constraint supplier_number_is_not_blank on erp.supplier is
  E'@userError INVALID number\nThe number is blank.';

alter table erp.customer drop constraint if exists customer_number_is_not_blank;
alter table erp.customer drop constraint if exists customer_storefront_id_is_not_blank;
alter table erp.customer drop constraint if exists customer_email_is_not_blank;
alter table erp.customer add constraint customer_number_is_not_blank
  check (not erp.is_blank(customer_number)) not valid;
alter table erp.customer add constraint customer_storefront_id_is_not_blank
  check (not erp.is_blank(storefront_id)) not valid;
alter table erp.customer add constraint customer_email_is_not_blank
  check (not erp.is_blank(email)) not valid;
comment on constraint customer_number_is_not_blank on erp.customer is
  E'@userError INVALID customer_number\nThe number is blank.';
comment on constraint customer_storefront_id_is_not_blank on erp.customer is
  E'@userError INVALID storefront_id\nThe id is blank. Leave it out, or give null, if there is none.';
comment on constraint customer_email_is_not_blank on erp.customer is
  E'@userError INVALID email\nThe address is blank.';

alter table erp.sales_order drop constraint if exists order_number_is_not_blank;
alter table erp.sales_order drop constraint if exists order_storefront_id_is_not_blank;
alter table erp.sales_order add constraint order_number_is_not_blank
  check (not erp.is_blank(order_number)) not enforced;
alter table erp.sales_order add constraint order_storefront_id_is_not_blank
  check (not erp.is_blank(storefront_id)) not enforced;
comment on constraint order_number_is_not_blank on erp.sales_order is
  E'@userError INVALID order_number\nThe number is blank. Leave it out, or give null, if there is none.';
comment on constraint order_storefront_id_is_not_blank on erp.sales_order is
  E'@userError INVALID storefront_id\nThe id is blank. Leave it out, or give null, if there is none.';

alter table erp.sales_order_line_item
  drop constraint if exists order_line_item_storefront_id_is_not_blank;
alter table erp.sales_order_line_item
  drop constraint if exists order_line_item_identifier_is_not_blank;
alter table erp.sales_order_line_item add constraint order_line_item_storefront_id_is_not_blank
  check (not erp.is_blank(storefront_id)) not enforced;
alter table erp.sales_order_line_item add constraint order_line_item_identifier_is_not_blank
  check (not erp.is_blank(identifier)) not enforced;
comment on constraint order_line_item_storefront_id_is_not_blank on erp.sales_order_line_item is
  E'@userError INVALID storefront_id\nThe id is blank. Leave it out, or give null, if there is none.';
comment on constraint order_line_item_identifier_is_not_blank on erp.sales_order_line_item is
  E'@userError INVALID identifier\nThe identifier is blank. Leave it out if there is none.';

comment on constraint idempotency_key_pkey on mutation.idempotency_key is
  '@internal take_key() refuses keys without a character, and another input with the same key';
comment on index bulk.operation_idempotency_key_is_unique is
  '@internal begin_upload() answers the operation that has the key, if it is the same upload';
--! Included erp/check_goods_receipt_lines.sql
create or replace function erp.check_goods_receipt_lines(
  target erp.goods_receipt, lines erp.goods_receipt_line[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  perform mutation.refuse_too_many(cardinality(lines), 250, '{line_items}');
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('line_items', e.line, e.field)) order by e.line
  )
  into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must not be 0.', 'quantity'
    from unnest(lines) with ordinality l
    where l.quantity = 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The price must not be negative.', 'unit_price'
    from unnest(lines) with ordinality l
    where l.unit_price < 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'An amount must be less than 1,000,000,000,000,000.', 'unit_price'
    from unnest(lines) with ordinality l
    where l.unit_price >= 1e15
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The tax rate is in percent, from 0 to 100.', 'tax_rate'
    from unnest(lines) with ordinality l where l.tax_rate not between 0 and 100
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'No more can be thrown away than comes in.',
      'planned_disposal_quantity'
    from unnest(lines) with ordinality l
    where l.planned_disposal_quantity not between 0 and greatest(l.quantity, 0)
    union all
    select l.ordinality, 'INVALID', 'A batch has a number.', 'batch_number'
    from unnest(lines) with ordinality l where erp.is_blank(l.batch_number)
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The text has more than 255 characters.', 'batch_number'
    from unnest(lines) with ordinality l where length(l.batch_number) > 255
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such product.', 'product_id'
    from unnest(lines) with ordinality l
    where not exists (select from erp.product p where p.id = l.product_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'The goods receipt has no such line.', 'id'
    from unnest(lines) with ordinality l where l.id is not null
      and not exists (
        select from erp.goods_receipt_line_item i where i.id = l.id and i.goods_receipt_id = target.id
      )
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line has this id.', 'id'
    from (
      select i.*, row_number() over (partition by i.id order by i.ordinality) as nth
      from unnest(lines) with ordinality i
    ) l
    where l.id is not null and l.nth > 1
    union all
    select e.line, e.code, e.message, e.field from erp.faults_of_things_named(target, lines) e
    union all
    select e.line, e.code, e.message, e.field from erp.faults_of_orders_named(target, lines) e
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Refuses lines that do not fit their goods receipt. User errors TOO_MANY_LINES, OUT_OF_RANGE, '
  'NOT_FOUND, NOT_UNIQUE, BATCH_MISMATCH, INVALID.';
grant execute on function erp.check_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/check_goods_receipt_lines.sql

-- Blank keys that are there: null where that means none, and for lines what they would have got without. A
-- new database has none
-- A blank number names nobody, so the id takes its place. An address can't be made up: such a customer is left
select api_meta.backfill('blank keys of customers', 'erp.customer', '{customer_number,storefront_id}',
  'case when erp.is_blank(customer_number) then id::text else customer_number end, '
  'case when not erp.is_blank(storefront_id) then storefront_id end',
  '(erp.is_blank(customer_number) or erp.is_blank(storefront_id)) and not erp.is_blank(email)')
where exists (select from erp.customer);
select api_meta.backfill('blank keys of orders', 'erp.sales_order', '{order_number,storefront_id}',
  'case when not erp.is_blank(order_number) then order_number end, '
  'case when not erp.is_blank(storefront_id) then storefront_id end',
  'erp.is_blank(order_number) or erp.is_blank(storefront_id)') where exists (select from erp.sales_order);
select api_meta.backfill('blank keys of order lines', 'erp.sales_order_line_item',
  '{storefront_id,identifier}', 'case when not erp.is_blank(storefront_id) then storefront_id end, '
  'case when erp.is_blank(identifier) then id::text else identifier end',
  'erp.is_blank(storefront_id) or erp.is_blank(identifier)')
where exists (select from erp.sales_order_line_item);

-- Unique keys are judged as they are after a call, so rows may exchange them
--! Included events/retract.sql
create or replace function events.retract(subjects uuid[], after bigint) returns void
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  delete from events.outbox o where o.position > after and o.subject_id = any (subjects);
end;
comment on function events.retract(uuid[], bigint) is
  'Takes back what the running transaction has written about these subjects after a position, for it changes '
  'them again. It holds their locks, so nobody else has written about them since.';
select api_meta.give('events.retract(uuid[],bigint)', 'service_recorder');
grant execute on function events.retract(uuid[], bigint) to service_writer;
--! EndIncluded events/retract.sql
grant select on sequence events.outbox_position_seq to service_writer;
drop function if exists mutation.match_of(regclass, text[]);
--! Included mutation/match_of.sql
create or replace function mutation.match_of(relation regclass, matches text[], others text) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select format('case when r.id is not null then (select o.id from %s o where o.id = r.id) '
    'else coalesce(%s) end', relation,
    string_agg(format('(select o.id from %s o where (%s) and o.id <> all (%s))', relation, m.condition,
      others), ', ' order by m.n))
  from unnest(matches) with ordinality m (condition, n);
end;
comment on function mutation.match_of(regclass, text[], text) is
  'SQL for the id of the row of a table that a given row r is about: the one with its id, else the first '
  'that a match finds, which is not among others, an array of ids.';
grant execute on function mutation.match_of(regclass, text[], text) to service_writer;
--! EndIncluded mutation/match_of.sql
--! Included mutation/match_rows.sql
create or replace function mutation.match_rows(
  relation regclass, list text, given jsonb, keys text[], matches text[]
)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named constant text := format('jsonb_array_elements($1) with ordinality e (value, line) '
    'cross join lateral jsonb_populate_record(null::%s, e.value) r', relation);
  found constant text := mutation.match_of(relation, matches, '$2');
  leaving uuid[] := '{}';
  result mutation.upsert_row[];
begin
  if coalesce(jsonb_array_length(given), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'There must be at least one row.', array[list]);
  end if;
  perform mutation.refuse_too_many(jsonb_array_length(given), 250, array[list]);
  -- Rows that are named by their id, and get another key: the one that they have is free
  execute format('select array(select g.id from (select (e ->> %L)::uuid as id, e from '
    'jsonb_array_elements($1) e where e ?| $2) g where (select %s from %s o where o.id = g.id))', 'id',
    (select string_agg(format('g.e ? %1$L and o.%1$I is distinct from g.e ->> %1$L', k), ' or ')
      from unnest(keys) k), relation)
  into leaving using given, keys;
  execute format('select from %s t where t.id = any (array(select %s from %s)) order by t.id '
    'for no key update', relation, found, named) using given, leaving;
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
        when not c.is_named then jsonb_build_array(mutation.user_error('REQUIRED', $4,
          mutation.path($3, c.line)))
        when c.given_id is not null and c.id is null then jsonb_build_array(mutation.user_error('NOT_FOUND',
          $5, mutation.path($3, c.line, 'id')))
        when c.id is not null and c.nth > 1 then jsonb_build_array(mutation.user_error('NOT_UNIQUE',
          'An earlier row is about the same one.', mutation.path($3, c.line)))
      end)::mutation.upsert_row order by c.line)
    from counted c
    $q$, relation, found, named, mutation.defaults_of(relation),
    (select string_agg(format('r.%I', k), ', ') from unnest(keys) k))
  into result
  using given, leaving, list, format('A row is known by one of these: id, %s.',
      (select string_agg(lower(left(c.camel, 1)) || substr(c.camel, 2), ', ' order by k.n)
        from unnest(keys) with ordinality k (name, n)
        cross join lateral (select replace(initcap(replace(k.name, '_', ' ')), ' ', '')) c (camel))),
    format('There is no such %s.', mutation.thing(relation));
  return result;
end
$$;
comment on function mutation.match_rows(regclass, text, jsonb, text[], text[]) is
  'The rows of an upsert into a table, each with the row that it is about: the one with its id, else the '
  'first that a match finds, a condition on a row o of the table and the given row r, unless another row of '
  'the call names that one by its id, and gives it another key. What was left out stays as it is, or gets '
  'its default. Locks what is there, by id. Keys are the columns by which a row can be known '
  'instead of its id. User errors REQUIRED and TOO_MANY_LINES; rows are refused with REQUIRED, NOT_FOUND and '
  'NOT_UNIQUE.';
grant execute on function mutation.match_rows(regclass, text, jsonb, text[], text[]) to service_writer;
--! EndIncluded mutation/match_rows.sql
--! Included mutation/faults_of_keys.sql
create or replace function mutation.faults_of_keys(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- Of each unique key: its name, its columns, when a row of the table has that of one of the call, when it
  -- keeps it, and when an earlier row of the call has the same
  with unique_key as (
    select c.relname as name, n.nspname as schema, t.relname as owner,
      format('_nth %s', i.indexrelid) as nth,
      string_agg(format(e.pattern, a.attname, 'o', 'w'), ' and ' order by k.n) as is_same,
      string_agg(format(e.pattern, a.attname, 'x', 'o'), ' and ' order by k.n) as is_kept,
      string_agg(format('r.%I', a.attname), ', ' order by k.n) as columns,
      concat_ws(' and ', format('w."_nth %s" > 1', i.indexrelid), string_agg(
        case when not i.indnullsnotdistinct then format('w.%I is not null', a.attname) end, ' and '))
        as is_late
    from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_class t on t.oid = i.indrelid join pg_namespace n on n.oid = t.relnamespace
    cross join unnest(i.indkey::smallint[]) with ordinality k (attnum, n)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
    cross join lateral (
      select case when a.attnotnull or not i.indnullsnotdistinct then '%2$s.%1$I = %3$s.%1$I'
        else '%2$s.%1$I is not distinct from %3$s.%1$I' end as pattern
    ) e
    where i.indrelid = relation and i.indisunique and not i.indisprimary and i.indexprs is null
      and i.indpred is null
    group by i.indexrelid, i.indnullsnotdistinct, c.relname, n.nspname, t.relname
  )
  -- Rows are compared with all others, so without the rest of what they have
  select format('(with w as materialized (select u.line as _line, r.id, %s, %s from unnest($1) u '
    'cross join lateral jsonb_populate_record(null::%s, u.wanted) r where u.errors is null) ',
    (select string_agg(distinct c, ', ') from unique_key o cross join string_to_table(o.columns, ', ') c
      where c <> 'r.id'),
    string_agg(format('row_number() over (partition by %s order by u.line) as %I', u.columns, u.nth), ', '),
    relation)
  -- One that keeps its key is in nobody's way but of those that take it
  || string_agg(format($q$
    select w._line, %1$L, %2$L, %3$L::text[] from w
    where exists (select from %4$s o where %5$s and o.id <> w.id
        and coalesce((select coalesce(%6$s, false) from w x where x.id = o.id), true))
      or %7$s and not exists (select from %4$s o where o.id = w.id and %5$s)$q$,
    e.error ->> 'code', e.error ->> 'message',
    array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))),
    relation, u.is_same, u.is_kept, u.is_late), ' union all ' order by u.name) || ')'
  from unique_key u cross join mutation.violation(u.schema, u.owner, u.name) e (error);
end;
comment on function mutation.faults_of_keys(regclass) is
  'SQL for the rows of mutation.row_faults with a unique key that another row has after the call. What rows '
  'of the call give up is free. Null when a table has no unique key.';
grant execute on function mutation.faults_of_keys(regclass) to service_writer;
--! EndIncluded mutation/faults_of_keys.sql
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
    select array_agg(row(f.line, f.code, f.message, f.field, null)::mutation.row_fault)
    from (%s) f (line, code, message, field)
    $q$, concat_ws(' union all ', format($q$
      select w._line, f.*
      from (
        select u.line as _line, u.given as _given, r.*
        from unnest($1) u cross join lateral jsonb_populate_record(null::%s, u.wanted) r
        where u.errors is null
      ) w
      cross join lateral (%s) f
      $q$, relation, mutation.faults_of_columns(relation)), mutation.faults_of_keys(relation)))
  into result using rows;
  -- Somebody has just made what a row is about: another try will find it
  if matches <> '{}' and exists (
    select from unnest(result) f join unnest(rows) u on u.line = f.line
    where f.code = 'NOT_UNIQUE' and u.is_new
  ) then
    execute format('select exists (select from unnest($1) u
      cross join lateral jsonb_populate_record(null::%s, u.given) r
      where u.is_new and u.errors is null and %s is not null)',
      relation, mutation.match_of(relation, matches, '$2'))
    into is_late
    using rows, array(select u.id from unnest(rows) u where u.given ->> 'id' is not null);
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
--! Included mutation/with_faults_of_taken_keys.sql
create or replace function mutation.with_faults_of_taken_keys(
  relation regclass, rows mutation.upsert_row[], list text, partial boolean
)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  faults mutation.row_fault[];
begin
  -- Without partial nothing is done at all
  while coalesce(partial, false) and exists (
    select from unnest(rows) u where u.errors is not null and u.wanted <> u.present
  ) loop
    execute format('select array_agg(row(f.*, null)::mutation.row_fault) '
      'from (%s) f (line, code, message, field)', mutation.faults_of_keys(relation)) into faults using rows;
    exit when faults is null;
    rows := mutation.with_faults(rows, list, faults);
  end loop;
  return rows;
end
$$;
comment on function mutation.with_faults_of_taken_keys(regclass, mutation.upsert_row[], text, boolean) is
  'Refuses rows of a partial upsert whose unique key another row would have given up that is refused itself.';
grant execute on function mutation.with_faults_of_taken_keys(regclass, mutation.upsert_row[], text, boolean)
  to service_writer;
--! EndIncluded mutation/with_faults_of_taken_keys.sql
--! Included mutation/free_keys.sql
create or replace function mutation.free_keys(relation regclass, rows mutation.upsert_row[], changed text[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
  holders uuid[];
  told bigint;
begin
  for item in
    select min(a.attname) filter (where a.atttypid = 'text'::regtype) as name,
      string_agg(format('%%1$s -> %L', a.attname), ', ') as parts
    from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey::smallint[])
    where i.indrelid = relation and i.indisunique and i.indexprs is null and i.indpred is null
    group by i.indexrelid having array_agg(a.attname::text) && changed
  loop
    execute format($q$
      with w as materialized (
        select u.id, jsonb_build_array(%s) as present, jsonb_build_array(%s) as wanted
        from unnest($1) u where u.errors is null and not u.is_new and u.present ->> %L is not null
      )
      select array_agg(o.id) from w o
      where o.present <> o.wanted and exists (select from w where w.wanted = o.present)
      $q$, format(item.parts, 'u.present'), format(item.parts, 'u.wanted'), item.name)
    into holders using rows;
    if holders is not null then
      select s.last_value into told from events.outbox_position_seq s;
      execute format('update %s set %I = id::text where id = any ($1)', relation, item.name) using holders;
      perform events.retract(holders, told);
    end if;
  end loop;
end
$$;
comment on function mutation.free_keys(regclass, mutation.upsert_row[], text[]) is
  'Frees unique keys that rows of an upsert take from each other: Postgres looks at each row by itself, so '
  'one of a circle would be refused. Their holders have their own id as a key until they are written, which '
  'no event tells.';
grant execute on function mutation.free_keys(regclass, mutation.upsert_row[], text[]) to service_writer;
--! EndIncluded mutation/free_keys.sql
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
    perform mutation.free_keys(relation, rows, changed);
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
--! Included erp/upsert_products.sql
create or replace function erp.with_parents(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- The parent may come in the same call, and numbers are those after it
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('parent_id', coalesce(
      (
        select r.id from unnest(rows) r
        where r.wanted ->> 'product_number' = u.given ->> 'parent_product_number' limit 1
      ),
      (
        select o.id from erp.product o
        where o.product_number = u.given ->> 'parent_product_number'
          and o.id <> all (array(select r.id from unnest(rows) r))
      )
    )))
    from unnest(rows) u where u.given ? 'parent_product_number'
  ));
end;
comment on function erp.with_parents(mutation.upsert_row[]) is
  'The rows of an upsert of products with the ids of parents that they name by number.';
grant execute on function erp.with_parents(mutation.upsert_row[]) to service_writer;

create or replace function erp.with_storefront_variants(rows mutation.upsert_row[])
returns mutation.upsert_row[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  -- Clients are promised both keys. What is no list of objects is refused
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('storefront_variants', (
      select coalesce(jsonb_agg('{"variantId": null}' || e.entry order by e.n), '[]')
      from jsonb_array_elements(u.given -> 'storefront_variants') with ordinality e (entry, n)
    )))
    from unnest(rows) u
    where jsonb_typeof(u.given -> 'storefront_variants') = 'array'
      and not u.given @? '$.storefront_variants[*] ? (@.type() != "object")'
  ));
end;
comment on function erp.with_storefront_variants(mutation.upsert_row[]) is
  'The rows of an upsert of products with a variantId, null when it is left out, in each entry of '
  'storefront_variants.';
grant execute on function erp.with_storefront_variants(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_products(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with product as (
    select u.line, u.id, u.given, u.present, (u.wanted ->> 'parent_id')::uuid as parent_id,
      case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end as field,
      (u.wanted ->> 'is_batch_managed')::boolean as is_batch_managed
    from unnest(rows) u
  ),
  -- What stands for variants after the call
  parent as (
    select p.parent_id as id from product p
    union
    select v.parent_id
    from erp.product v
    where v.parent_id = any (array(select p.id from product p))
      and v.id <> all (array(select p.id from product p))
  )
  select array_agg(row (f.line, f.code, f.message, array[f.field], f.details)::mutation.row_fault)
  from (
    select p.line, 'NOT_FOUND', 'There is no product of this number.', p.field, null::jsonb
    from product p where p.given ->> 'parent_product_number' is not null and p.parent_id is null
    union all
    select p.line, 'INVALID', 'A product that stands for its variants is no variant itself.', p.field, null
    from product p where p.parent_id <> p.id and p.id in (select x.id from parent x)
    union all
    select p.line, 'INVALID', 'The parent is a variant itself.', p.field, null
    from product p join erp.product o on o.id = p.parent_id
    where o.parent_id is not null and o.id <> all (array(select x.id from product x))
    union all
    select p.line, 'NOT_EDITABLE', 'This can change only while there is no stock.',
      'is_batch_managed', jsonb_build_object('quantity', p.present -> 'physical_stock')
    from product p
    where p.is_batch_managed is distinct from (p.present ->> 'is_batch_managed')::boolean
      and (p.present ->> 'physical_stock')::int > 0
    union all
    select p.line, 'INVALID', 'Each entry has a productId, perhaps a variantId, and nothing else.',
      'storefront_variants', null
    from product p
    where erp.are_storefront_variants(p.given -> 'storefront_variants') and p.given @? ('strict '
      || '$.storefront_variants[*].keyvalue() ? (@.key != "productId" && @.key != "variantId" '
      || '|| @.value == "")')::jsonpath
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_products(mutation.upsert_row[]) is
  'What is wrong with rows of an upsert of products beyond the rules of the table: variants of variants, '
  'batches that begin while there is stock, and other keys of storefront_variants than clients are promised.';
grant execute on function erp.faults_of_products(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_orphans(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, 'NOT_FOUND', 'The row of its parent is refused.',
    array[case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end],
    null)::mutation.row_fault)
  from unnest(rows) u
  join unnest(rows) p on p.id = (u.wanted ->> 'parent_id')::uuid and p.errors is not null
    and (p.is_new or p.present ->> 'product_number' <> u.given ->> 'parent_product_number')
  where u.errors is null;
end;
comment on function erp.faults_of_orphans(mutation.upsert_row[]) is
  'Refuses rows of an upsert of products whose parent, or its number, comes of a row that is refused.';
grant execute on function erp.faults_of_orphans(mutation.upsert_row[]) to service_writer;

create or replace function erp.warnings_of_parents(rows mutation.upsert_row[]) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(mutation.user_error('PRODUCT_HAS_VARIANTS',
    format('Product %s only stands for its variants now: %s units of it in stock cannot be sold, and open '
      'orders promise %s.', p.product_number, p.physical_stock, p.reserved_stock),
    mutation.path('products', f.line, f.field), jsonb_build_object('productNumber', p.product_number,
      'physicalStock', p.physical_stock, 'reservedStock', p.reserved_stock)) order by f.line)
  from (
    select (u.wanted ->> 'parent_id')::uuid as id, min(u.line) as line,
      min(case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end)
        as field
    from unnest(rows) u
    where u.errors is null and u.wanted ->> 'parent_id' is distinct from u.present ->> 'parent_id'
    group by 1
  ) f
  join erp.product p on p.id = f.id
  where p.physical_stock > 0 or p.reserved_stock > 0;
end;
comment on function erp.warnings_of_parents(mutation.upsert_row[]) is
  'Warns of products that get variants while they are in stock or on open orders themselves.';
grant execute on function erp.warnings_of_parents(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_products(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.product_number = r.product_number}';
  rows mutation.upsert_row[];
  refused integer;
begin
  rows := erp.with_storefront_variants(erp.with_translations(erp.with_parents(
    mutation.match_rows('erp.product', 'products', given, '{product_number}', matches))));
  rows := mutation.with_faults(rows, 'products', mutation.row_faults('erp.product', rows, matches)
    || erp.faults_of_products(rows) || erp.faults_of_prices(rows, 'price')
    || erp.faults_of_prices(rows, 'purchase_prices') || erp.faults_of_translations(rows)
    || erp.faults_of_images(rows) || erp.faults_of_tags(rows));
  loop
    refused := (select count(*) from unnest(rows) u where u.errors is not null);
    rows := mutation.with_faults(rows, 'products', erp.faults_of_orphans(rows));
    rows := mutation.with_faults_of_taken_keys('erp.product', rows, 'products', partial);
    exit when refused = (select count(*) from unnest(rows) u where u.errors is not null);
  end loop;
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.product', rows);
  perform mutation.warn(erp.warnings_of_parents(rows));
  rows := mutation.with_changes(rows, erp.set_prices('erp.product_price', rows, 'price')
    || erp.set_prices('erp.product_purchase_price', rows, 'purchase_prices') || erp.set_images(rows));
  return mutation.with_changes(rows, erp.set_tags('erp.product_tag', 'product_id', rows));
end
$$;
comment on function erp.upsert_products(jsonb, boolean) is
  'Makes and changes products, with their prices, images and tags: the objects of the list, fields named as '
  'columns. Answers what became of each.';
grant execute on function erp.upsert_products(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_products.sql
--! Included erp/upsert_customers.sql
create or replace function erp.with_terms_of_channel(rows mutation.upsert_row[])
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  unnumbered constant bigint := count(*) from unnest(rows) u
    where u.is_new and u.errors is null and not u.given ? 'customer_number';
  last_number bigint;
  pattern text;
begin
  if unnumbered > 0 then
    update erp.number_range r set last_number = r.last_number + unnumbered
    where r.technical_name = 'customer'
    returning r.last_number, r.pattern into strict last_number, pattern;
  end if;
  return mutation.with_values(rows, (
    select jsonb_object_agg(n.line, jsonb_strip_nulls(jsonb_build_object('customer_number', n.number,
      'group_id', case when not n.given ? 'group_id' then c.customer_group_id end)))
    from (
      select u.line, u.given, u.wanted, case when not u.given ? 'customer_number' then replace(pattern, '{n}',
        (last_number + 1 - row_number() over (
          partition by u.given ? 'customer_number' order by u.line desc))::text) end as number
      from unnest(rows) u where u.is_new and u.errors is null
    ) n
    left join erp.sales_channel c on c.id = (n.wanted ->> 'sales_channel_id')::uuid));
end
$$;
comment on function erp.with_terms_of_channel(mutation.upsert_row[]) is
  'The rows of an upsert of customers, of which new ones without a number have the next of its range, and '
  'those '
  'without a group the group of their sales channel.';
grant execute on function erp.with_terms_of_channel(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_customers(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := array[
    'o.storefront_id = r.storefront_id and o.sales_channel_id = r.sales_channel_id',
    'o.customer_number = r.customer_number and (r.storefront_id is null '
    'or coalesce(o.storefront_id, r.storefront_id) = r.storefront_id)'];
  rows mutation.upsert_row[];
begin
  -- By its number, a customer is found who is not imported yet
  rows := erp.with_terms_of_channel(mutation.match_rows('erp.customer', 'customers', given,
    '{storefront_id,customer_number}', matches));
  rows := mutation.with_faults(rows, 'customers',
    mutation.row_faults('erp.customer', rows, matches) || erp.faults_of_tags(rows));
  rows := mutation.with_faults_of_taken_keys('erp.customer', rows, 'customers', partial);
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.customer', rows);
  return mutation.with_changes(rows, erp.set_tags('erp.customer_tag', 'customer_id', rows));
end
$$;
comment on function erp.upsert_customers(jsonb, boolean) is
  'Makes and changes customers, with their tags: the objects of the list, fields named as columns. '
  'Answers what became of each.';
grant execute on function erp.upsert_customers(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_customers.sql
--! Included erp/upsert_suppliers.sql
create or replace function erp.upsert_suppliers(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.number = r.number}';
  rows mutation.upsert_row[];
begin
  rows := mutation.match_rows('erp.supplier', 'suppliers', given, '{number}', matches);
  rows := mutation.with_faults(rows, 'suppliers', mutation.row_faults('erp.supplier', rows, matches)
    || erp.faults_of_addresses(rows));
  rows := mutation.with_faults_of_taken_keys('erp.supplier', rows, 'suppliers', partial);
  perform mutation.require_rows(rows, partial);
  return mutation.write_rows('erp.supplier', rows);
end
$$;
comment on function erp.upsert_suppliers(jsonb, boolean) is
  'Makes and changes suppliers: the objects of the list, fields named as columns. Answers what became of '
  'each.';
grant execute on function erp.upsert_suppliers(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_suppliers.sql
--! Included erp/upsert_warehouses.sql
create or replace function erp.faults_of_defaults(rows mutation.upsert_row[], mark text)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with taker as (
    select u.line, row_number() over (order by u.line) as nth from unnest(rows) u
    where u.errors is null and u.given ->> mark = 'true'
  )
  select array_agg(row (f.line, f.code, f.message, array[mark], null)::mutation.row_fault)
  from (
    select t.line, 'NOT_UNIQUE', 'An earlier row takes this mark already.' from taker t where t.nth > 1
    union all
    select u.line, 'INVALID', 'One warehouse must have this mark. Give it to another one.'
    from unnest(rows) u
    where u.present ->> mark = 'true' and u.wanted ->> mark = 'false' and not exists (select from taker)
  ) f (line, code, message);
end;
comment on function erp.faults_of_defaults(mutation.upsert_row[], text) is
  'What is wrong with rows of an upsert of warehouses that take the mark of being a default, or lay it down: '
  'exactly one warehouse has it.';
grant execute on function erp.faults_of_defaults(mutation.upsert_row[], text) to service_writer;

create or replace function erp.upsert_warehouses(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.code = r.code}';
  rows mutation.upsert_row[];
begin
  -- A new default affects all warehouses
  lock table erp.warehouse in share row exclusive mode;
  rows := mutation.match_rows('erp.warehouse', 'warehouses', given, '{code}', matches);
  rows := mutation.with_faults(rows, 'warehouses', mutation.row_faults('erp.warehouse', rows, matches));
  rows := mutation.with_faults(rows, 'warehouses', erp.faults_of_addresses(rows)
    || erp.faults_of_defaults(rows, 'is_default') || erp.faults_of_defaults(rows, 'is_default_receiving'));
  rows := mutation.with_faults_of_taken_keys('erp.warehouse', rows, 'warehouses', partial);
  perform mutation.require_rows(rows, partial);
  if not exists (select from erp.warehouse) then
    rows := mutation.with_values(rows, (
      select jsonb_build_object(min(u.line), jsonb_object_agg(m.mark, true))
      from unnest(rows) u cross join unnest('{is_default,is_default_receiving}'::text[]) m (mark)
      where u.errors is null and not exists (
        select from unnest(rows) t where t.errors is null and t.wanted ->> m.mark = 'true')));
  end if;
  perform erp.hand_over_defaults(u.id, (u.wanted ->> 'is_default')::boolean,
    (u.wanted ->> 'is_default_receiving')::boolean)
  from unnest(rows) u
  where u.errors is null and exists (
    select from unnest('{is_default,is_default_receiving}'::text[]) m (mark)
    where u.wanted -> m.mark = 'true' and u.present -> m.mark is distinct from 'true');
  rows := mutation.write_rows('erp.warehouse', rows);
  insert into erp.location (name, warehouse_id)
  select u.wanted ->> 'name', u.id from unnest(rows) u where u.errors is null and u.is_new order by u.line;
  -- A location with its own name keeps it
  update erp.location l set name = u.wanted ->> 'name'
  from unnest(rows) u
  where u.errors is null and l.warehouse_id = u.id and l.name = u.present ->> 'name'
    and l.name <> u.wanted ->> 'name';
  return rows;
end
$$;
comment on function erp.upsert_warehouses(jsonb, boolean) is
  'Makes and changes warehouses, with the locations that orders are fulfilled from: the objects of the '
  'list, fields named as columns. The first one is the default for everything, unless a row says otherwise. '
  'Answers what became of each.';
grant execute on function erp.upsert_warehouses(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_warehouses.sql

-- A line of an order keeps its position, unless a call gives another
--! Included erp/match_order_lines.sql
create or replace function erp.match_order_lines(orders mutation.upsert_row[])
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  result mutation.upsert_row[];
begin
  execute format($q$
    with given as materialized (
      select o.line * 1000 + l.n as line, o.id as order_id, l.value as given, %s as defaults
      from unnest($1) o
      cross join jsonb_array_elements(nullif(o.given -> 'line_items', 'null')) with ordinality l (value, n)
      where o.errors is null and l.n <= 250
    ),
    matched as (
      select g.*, case
        when r.id is not null
          then (select p.id from erp.sales_order_line_item p where p.id = r.id and p.order_id = g.order_id)
        when r.storefront_id is not null then (
          select p.id from erp.sales_order_line_item p
          where p.order_id = g.order_id and p.storefront_id = r.storefront_id order by p.id limit 1)
        when r.identifier is not null then (
          select p.id from erp.sales_order_line_item p
          where p.order_id = g.order_id and p.identifier = r.identifier order by p.id limit 1) end as id,
        case when g.given ? 'product_number' and g.given ->> 'product_number' is not null
          then (select p.id from erp.product p where p.product_number = g.given ->> 'product_number')
          else r.product_id end as product_id
      from given g cross join lateral jsonb_populate_record(null::erp.sales_order_line_item, g.given) r
    ),
    -- Not joins, which would read all of tables that are not large
    known as materialized (
      select m.*, (select p from erp.sales_order_line_item p where p.id = m.id) as p,
        (select i from erp.product i where i.id = m.product_id) as i
      from matched m
    ),
    -- Lines without a position come after those that have one
    placed as (
      select k.*, k.place is null as is_last, coalesce(max(k.place) over (partition by k.order_id), 0) as last
      from (
        select m.*, coalesce((m.given ->> 'position')::integer, (m.p).position) as place from known m
      ) k
    ),
    numbered as (
      select m.*, m.last + row_number() over (partition by m.order_id, m.is_last order by m.line) as next
      from placed m
    )
    select array_agg(row(m.line, coalesce((m.p).id, (m.defaults ->> 'id')::uuid), (m.p).id is null, m.given,
      to_jsonb(m.p), to_jsonb(w) || jsonb_build_object('order_id', m.order_id) || case
        when num_nonnulls(m.product_id, m.given ->> 'product_number') > 0
          then jsonb_build_object('product_id', m.product_id) else '{}' end || case
        when (m.p).id is not null then '{}'
        else jsonb_build_object(
          'position', case when m.given ? 'position' then w.position else m.next end,
          'type', case when m.given ? 'type' then w.type when m.product_id is null then 'custom'
            else 'product' end,
          'label', coalesce(w.label, (m.i).name, (m.i).product_number, m.given ->> 'product_number'),
          'identifier', coalesce(w.identifier,
            case when not erp.is_blank(w.storefront_id) then w.storefront_id end, (m.i).product_number,
            case when not erp.is_blank(w.label) then w.label end, m.defaults ->> 'id')) end || case
        when m.given ? 'total_price' then jsonb_build_object('total_price', erp.rounded(w.total_price))
        when m.given ?| '{unit_price,quantity}' and w.unit_price is not null
          then jsonb_build_object('total_price', erp.rounded(w.unit_price * w.quantity)) else '{}' end,
      false, null)::mutation.upsert_row order by m.line)
    from numbered m cross join lateral jsonb_populate_record(case when (m.p).id is null
      then jsonb_populate_record(null::erp.sales_order_line_item, m.defaults) else m.p end, m.given - 'id') w
    $q$, mutation.defaults_of('erp.sales_order_line_item'))
  into result using orders;
  return result;
end
$$;
comment on function erp.match_order_lines(mutation.upsert_row[]) is
  'The lines that rows of an upsert of orders give, as rows of an upsert themselves; the place of a line '
  'is a thousand times that of its order, and its own. A line is known by its id, its storefrontId or its '
  'identifier, within its order. A new one without a position comes after those that are there.';
grant execute on function erp.match_order_lines(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/match_order_lines.sql
--! Included erp/faults_of_order_lines.sql
create or replace function erp.units_at_work(order_ids uuid[])
returns table (id uuid, order_id uuid, label text, shipped integer, assigned integer, invoiced integer)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select l.id, l.order_id, l.label, l.shipped_quantity, coalesce((
    select sum(a.quantity - a.fulfilled_quantity)
    from erp.fulfillment_order_line_item a join erp.fulfillment_order f on f.id = a.fulfillment_order_id
    where a.destination_order_line_item_id = l.id and f.state in ('Open', 'InProgress', 'OnHold')
  ), 0), l.invoiced_quantity
  from erp.sales_order_line_item l where l.order_id = any (order_ids);
end;
comment on function erp.units_at_work(uuid[]) is
  'Of each line of orders the units that are shipped, that open fulfillment orders have, and that are '
  'invoiced.';
grant execute on function erp.units_at_work(uuid[]) to service_writer;

create or replace function erp.faults_of_order_lines(
  orders mutation.upsert_row[], lines mutation.upsert_row[]
)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with line as (
    select l.*, o.present ->> 'state' as state, w.shipped + w.assigned as taken, w.shipped, w.assigned,
      w.invoiced, row_number() over (partition by l.id order by l.line) as nth,
      array(
        select c.key from jsonb_each(l.wanted) c
        where not l.is_new and c.value <> l.present -> c.key
      ) as changes
    from unnest(lines) l join unnest(orders) o on o.line = l.line / 1000
    left join erp.units_at_work(array(select x.id from unnest(orders) x where not x.is_new)) w on w.id = l.id
  )
  select array_agg(row (f.line, f.code, f.message, f.field, f.details)::mutation.row_fault)
  from (
    select l.line, 'NOT_FOUND', 'The order has no such line.', array['id'], null::jsonb
    from line l where l.is_new and l.given ->> 'id' is not null
    union all
    select l.line, 'NOT_FOUND', 'There is no product of this number.', array['product_number'], null
    from line l where l.given ->> 'product_number' is not null and l.wanted ->> 'product_id' is null
    union all
    select l.line, 'NOT_UNIQUE', 'An earlier line is the same one.', null, null from line l where l.nth > 1
    union all
    select l.line, 'NOT_EDITABLE', format('The order is %s: its lines cannot change.', l.state), null,
      jsonb_build_object('state', l.state)
    from line l where l.state in ('completed', 'cancelled') and (l.is_new or l.changes <> '{}')
    union all
    select l.line, 'NOT_EDITABLE', format('%s units are shipped or assigned to be.', l.taken),
      array['quantity'], jsonb_build_object('shipped', l.shipped, 'assigned', l.assigned)
    from line l where (l.wanted ->> 'quantity')::int < l.taken and (l.wanted ->> 'quantity')::int >= l.shipped
    union all
    select l.line, 'NOT_EDITABLE', 'Units of the line are shipped, assigned to be, or invoiced.',
      array[c.name], jsonb_build_object('shipped', l.shipped, 'assigned', l.assigned, 'invoiced', l.invoiced)
    from line l cross join unnest(l.changes) c (name)
    where c.name in ('product_id', 'type') and l.taken + l.invoiced > 0
    union all
    select l.line, 'NOT_EDITABLE', 'Units of the line are invoiced.', array[c.name],
      jsonb_build_object('invoiced', l.invoiced)
    from line l cross join unnest(l.changes) c (name)
    where c.name in ('unit_price', 'tax_rate') and l.invoiced > 0
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'What is wrong with lines of an upsert of orders: what is shipped, assigned or invoiced stays as it is.';
grant execute on function erp.faults_of_order_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.faults_of_orders(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with work as (
    select w.*, o.line, o.present ->> 'state' as state,
      o.given ? 'line_items' and not exists (select from unnest(lines) l where l.id = w.id) as is_left_out
    from unnest(orders) o join erp.units_at_work(array(
      select x.id from unnest(orders) x where not x.is_new
    )) w on w.order_id = o.id
    where not o.is_new
  )
  select array_agg(row (f.line, f.code, f.message, f.field, f.details)::mutation.row_fault)
  from (
    -- The errors of lines, by the place of their order
    select l.line / 1000, e.error ->> 'code', e.error ->> 'message', array['line_items'] || (
      select array_agg(case when p.n = 1 then ((l.line % 1000) - 1)::text else p.part end order by p.n)
      from jsonb_array_elements_text((e.error -> 'field') - 0) with ordinality p (part, n)
    ), nullif(e.error -> 'details', 'null')
    from unnest(lines) l cross join jsonb_array_elements(l.errors) e (error)
    union all
    select o.line, 'TOO_MANY_LINES', 'An order has at most 250 lines.', array['line_items'], null
    from unnest(orders) o where jsonb_array_length(nullif(o.given -> 'line_items', 'null')) > 250
    union all
    select o.line, 'REQUIRED', 'A storefrontId needs the sales channel.', array['sales_channel_id'], null
    from unnest(orders) o
    where o.wanted ->> 'storefront_id' is not null and o.wanted ->> 'sales_channel_id' is null
    union all
    select w.line, 'NOT_EDITABLE', case when w.state in ('completed', 'cancelled')
      then format('The order is %s: its line "%s" cannot be left out.', w.state, w.label)
      else format('Units of the line "%s" are shipped, assigned to be, or invoiced.', w.label) end,
      array['line_items'], jsonb_build_object('id', 'gid://service/OrderLineItem/' || w.id,
      'shipped', w.shipped, 'assigned', w.assigned, 'invoiced', w.invoiced)
    from work w
    where w.is_left_out and (w.shipped + w.assigned + w.invoiced > 0 or w.state in ('completed', 'cancelled'))
    union all
    select o.line, 'NOT_EDITABLE', 'Something of the order is shipped or invoiced, or it is closed.',
      array[c.name], null
    from unnest(orders) o cross join unnest('{currency_id,tax_status}'::text[]) c (name)
    where not o.is_new and o.wanted -> c.name <> o.present -> c.name
      and (o.present ->> 'state' in ('completed', 'cancelled')
        or exists (select from work w where w.order_id = o.id and w.shipped + w.invoiced > 0))
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_orders(mutation.upsert_row[], mutation.upsert_row[]) is
  'What is wrong with rows of an upsert of orders beyond the rules of the table, with the errors of their '
  'lines: what is shipped, assigned or invoiced stays as it is, and so do orders that are closed.';
grant execute on function erp.faults_of_orders(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;
--! EndIncluded erp/faults_of_order_lines.sql
--! Included erp/upsert_orders.sql
create or replace function erp.with_amounts(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.with_values(orders, (
    select jsonb_object_agg(o.line,
      jsonb_build_object('amount_total', a.amount_total, 'amount_net', a.amount_net))
    from unnest(orders) o
    join (
      select l.line / 1000 as line, array_agg((l.wanted ->> 'total_price')::numeric) as prices,
        array_agg((l.wanted ->> 'tax_rate')::numeric) as tax_rates
      from unnest(lines) l group by l.line / 1000
    ) l on l.line = o.line
    cross join lateral ledger.amounts_of(l.prices, l.tax_rates, o.wanted ->> 'tax_status') a
    where o.is_new and o.errors is null
  ));
end;
comment on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) is
  'The rows of an upsert of orders, new ones with the amounts of their lines, so that these need not be '
  'written, and told of, as a change of the order.';
grant execute on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) to service_writer;

create or replace function erp.write_order_lines(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  kept mutation.upsert_row[] := array(
    select l from unnest(lines) l join unnest(orders) o on o.line = l.line / 1000
    where o.errors is null order by l.line);
  listed constant uuid[] := array(
    select o.id from unnest(orders) o where o.errors is null and o.given ? 'line_items');
  gone uuid[];
begin
  -- All products at once, and in one order: those of old lines and of new ones
  perform ledger.lock(array(
    select l.product_id from erp.sales_order_line_item l
    where l.order_id = any (listed) and l.product_id is not null
    union
    select (k.wanted ->> 'product_id')::uuid from unnest(kept) k
    where k.wanted ->> 'product_id' is not null
  ));
  with deleted as (
    delete from erp.sales_order_line_item l
    where l.order_id = any (listed) and l.id <> all (array(select k.id from unnest(kept) k))
    returning l.order_id
  )
  select coalesce(array_agg(distinct d.order_id), '{}') into gone from deleted d;
  kept := mutation.write_rows('erp.sales_order_line_item', kept);
  -- Less may be wanted than was, so that everything is shipped
  perform erp.settle_order(o.id) from unnest(orders) o
  where o.id = any (listed) and o.present ->> 'state' = 'in_progress'
    and o.present ->> 'delivery_state' = 'shipped_partially' and not exists (
      select from erp.sales_order_line_item l
      where l.order_id = o.id and l.type = 'product' and l.shipped_quantity < l.quantity);
  return gone || array(select (k.wanted ->> 'order_id')::uuid from unnest(kept) k where k.is_changed);
end
$$;
comment on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Writes the lines of an upsert of orders, and deletes those that are left out. Answers the orders of '
  'which a '
  'line has changed.';
grant execute on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.upsert_orders(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := array[
    'o.storefront_id = r.storefront_id and o.sales_channel_id = r.sales_channel_id',
    'o.order_number = r.order_number and (r.storefront_id is null '
    'or coalesce(o.storefront_id, r.storefront_id) = r.storefront_id)'];
  rows mutation.upsert_row[];
  lines mutation.upsert_row[];
begin
  rows := mutation.match_rows('erp.sales_order', 'orders', given, '{storefront_id,order_number}', matches);
  rows := mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('delivery_state', 'open')
      || jsonb_strip_nulls(jsonb_build_object('currency_id', case when not u.given ? 'currency_id' then (
        select c.currency_id from erp.sales_channel c where c.id = (u.given ->> 'sales_channel_id')::uuid
      ) end)))
    from unnest(rows) u where u.is_new));
  lines := coalesce(erp.match_order_lines(rows), '{}');
  lines := coalesce(mutation.with_faults(lines, 'line_items',
    mutation.row_faults('erp.sales_order_line_item', lines) || erp.faults_of_order_lines(rows, lines)), '{}');
  rows := mutation.with_faults(rows, 'orders', mutation.row_faults('erp.sales_order', rows, matches)
    || erp.faults_of_orders(rows, lines) || erp.faults_of_tags(rows));
  rows := mutation.with_faults_of_taken_keys('erp.sales_order', rows, 'orders', partial);
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.sales_order', erp.with_amounts(rows, lines));
  rows := mutation.with_changes(rows, erp.write_order_lines(rows, lines));
  return mutation.with_changes(rows, erp.set_tags('erp.order_tag', 'order_id', rows));
end
$$;
comment on function erp.upsert_orders(jsonb, boolean) is
  'Makes and changes orders, with their lines and tags: the objects of the list, fields named as columns. '
  'Answers what became of each.';
grant execute on function erp.upsert_orders(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_orders.sql
drop view if exists api_unstable.order_line_items;
--! Included api/order_line_items.sql
create view api_unstable.order_line_items with (security_invoker = true) as
select id, order_id, product_id, type, identifier, label, description, quantity, shipped_quantity, unit_price,
  total_price,
  storefront_id, parent_id, position
from erp.sales_order_line_item;
comment on view api_unstable.order_line_items is $$
@primaryKey id
@requiresScopes orders:read
@aggregates quantity,shipped_quantity,total_price
@groupBy product_id,order_id,type
@hidden parent_id
@nullable shipped_quantity
@filters order_id,product_id,description,identifier,label,type,quantity,total_price,unit_price
@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName lineItems
@foreignKey (parent_id) references order_line_items (id)|@fieldName parent|@foreignFieldName children
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName orderLineItems
A line of an order: a product, a custom item, a promotion or a credit. Lines can have lines below them.$$;
--! EndIncluded api/order_line_items.sql
--! Included api/orders_upsert.sql
drop type if exists api_unstable.orders_upsert_input cascade;
drop type if exists api_unstable.order_upsert_input cascade;
drop type if exists api_unstable.orders_upsert_payload cascade;

drop type if exists api_unstable.order_line_upsert_input cascade;

create type api_unstable.order_line_upsert_input as (
  id uuid, storefront_id text, identifier text, type text, product_id uuid, product_number text, label text,
  description text, quantity integer, unit_price numeric, total_price numeric, tax_rate numeric,
  position integer
);
comment on type api_unstable.order_line_upsert_input is
  'A line of an order as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.order_line_upsert_input.id is
  E'@gid OrderLineItem\nId of the line. Without it, the line is known by its storefrontId, or else by '
  'its identifier.';
comment on column api_unstable.order_line_upsert_input.storefront_id is
  'Id of the line in the external storefront platform.';
comment on column api_unstable.order_line_upsert_input.identifier is
  'Identifier taken over from the cart. When left out of a new line, its storefrontId, number of the '
  'product or label.';
comment on column api_unstable.order_line_upsert_input.type is
  'What the line stands for: product, custom, promotion, credit or another word. When left out of a new '
  'line, product or custom.';
comment on column api_unstable.order_line_upsert_input.product_id is
  E'@gid Product\nId of the product that was ordered.';
comment on column api_unstable.order_line_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.order_line_upsert_input.label is
  'Text shown for the line. When left out of a new line, the name of the product.';
comment on column api_unstable.order_line_upsert_input.description is
  'Second line of text.';
comment on column api_unstable.order_line_upsert_input.quantity is
  'Units ordered; at least 1. A new line needs it.';
comment on column api_unstable.order_line_upsert_input.unit_price is
  'Price of one unit with tax, in the currency of the order.';
comment on column api_unstable.order_line_upsert_input.total_price is
  'Price of the line with tax, in cents: more decimals are rounded. When left out beside a unit price or a '
  'quantity, their product.';
comment on column api_unstable.order_line_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100.';
comment on column api_unstable.order_line_upsert_input.position is
  'Place of the line within its order, by which documents list lines. When left out of a new line, it '
  'comes after those that are there, in the order of the call.';

create type api_unstable.order_upsert_input as (
  id uuid, storefront_id text, sales_channel_id uuid, order_number text, order_date_time timestamptz,
  payment_state text, tax_status text, currency_id uuid, customer_id uuid, shipping_method_id uuid,
  payment_method_id uuid, shipping_address jsonb, billing_address jsonb,
  line_items api_unstable.order_line_upsert_input[], tags text[]
);
comment on type api_unstable.order_upsert_input is
  'An order as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.order_upsert_input.id is
  E'@gid Order\nId of the order. Without it, the order is known by storefrontId and salesChannelId, or '
  'else by orderNumber.';
comment on column api_unstable.order_upsert_input.storefront_id is
  'Id in the external storefront platform, unique in the sales channel; at most 255 characters. It '
  'needs the sales channel.';
comment on column api_unstable.order_upsert_input.sales_channel_id is
  E'@gid SalesChannel\nId of the sales channel where it was ordered.';
comment on column api_unstable.order_upsert_input.order_number is
  'Number that the customer knows the order by, unique; at most 255 characters.';
comment on column api_unstable.order_upsert_input.order_date_time is
  'When the customer ordered. Now, when left out of a new one.';
comment on column api_unstable.order_upsert_input.payment_state is
  'State of the primary payment, for example open, paid or refunded.';
comment on column api_unstable.order_upsert_input.tax_status is
  'Whether prices are gross, net or tax-free. Gross when left out of a new one.';
comment on column api_unstable.order_upsert_input.currency_id is
  E'@gid Currency\nId of the currency of all amounts. That of the sales channel when left out of a new '
  'one.';
comment on column api_unstable.order_upsert_input.customer_id is
  E'@gid Customer\nId of the customer.';
comment on column api_unstable.order_upsert_input.shipping_method_id is
  E'@gid ShippingMethod\nId of the way to ship.';
comment on column api_unstable.order_upsert_input.payment_method_id is
  E'@gid PaymentMethod\nId of the way to pay.';
comment on column api_unstable.order_upsert_input.shipping_address is
  'Where to ship to: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.order_upsert_input.billing_address is
  'Where the invoice goes: an object of the same keys.';
comment on column api_unstable.order_upsert_input.line_items is
  'All lines that the order is to have, up to 250. Lines that are not among them go.';
comment on column api_unstable.order_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';

create type api_unstable.orders_upsert_input as (orders api_unstable.order_upsert_input[], partial boolean);
comment on type api_unstable.orders_upsert_input is 'Orders as they are to be.';
comment on column api_unstable.orders_upsert_input.orders is
  E'@notNull\nThe orders; 1 to 250 rows.';
comment on column api_unstable.orders_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.orders_upsert_payload as (
  results api_unstable.upsert_result[], orders uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.orders_upsert_payload is 'What an upsert of orders answers.';
comment on column api_unstable.orders_upsert_payload.results is
  E'@resultOf Order\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.orders_upsert_payload.orders is
  E'@entity Order\n@perLine orders\nThe orders of the rows that were not refused, in their order.';
comment on column api_unstable.orders_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.orders_upsert(input api_unstable.orders_upsert_input, changes jsonb)
returns api_unstable.orders_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.orders_upsert_payload
  from mutation.upserted(erp.upsert_orders(changes -> 'orders', input.partial)) d
$$;
comment on function api_unstable.orders_upsert(api_unstable.orders_upsert_input, jsonb) is
  E'@requiresScopes orders:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE OVER_FULFILLMENT '
  'TOO_MANY_LINES\n'
  'Makes orders and changes those that are there, known by their id, by storefrontId and sales channel, '
  'or by number. What is shipped, assigned to a fulfillment order or invoiced stays: a line keeps at '
  'least these units, and its product; lines of completed and cancelled orders stay as they are. Rows '
  'that say nothing new change nothing.';
--! EndIncluded api/orders_upsert.sql

--! split: 40-dba.sql
drop table if exists api_meta.frozen_promise cascade;
create table api_meta.frozen_promise (
  version name not null references api_meta.frozen_version on delete cascade,
  name text not null,
  ground text not null,
  tree text not null,
  primary key (version, name, ground)
);
alter table api_meta.frozen_promise enable row level security;
comment on table api_meta.frozen_promise is
  'What keeps null out of the columns of frozen versions that are never null, as far as that lies in tables.';
comment on column api_meta.frozen_promise.name is
  'view.column; or the view, of whose expressions nobody knows which of its columns they rely on.';
comment on column api_meta.frozen_promise.ground is
  'The column of a table that is not null, or the check, by name.';
comment on column api_meta.frozen_promise.tree is
  'The same by object ids, which renaming does not change, as restoring a dump does.';
--! Included api_meta/table_column.sql
create or replace view api_meta.table_column as
select a.attrelid as relation, a.attnum, a.attname as name,
  a.attnotnull and not exists (
    select from pg_catalog.pg_constraint c
    where c.conrelid = a.attrelid and c.conkey[1] = a.attnum and c.contype = 'n' and not c.convalidated
  ) or exists (
    select from pg_catalog.pg_type t where t.oid = a.atttypid and t.typtype = 'd' and t.typnotnull
  ) or exists (
    select from pg_catalog.pg_constraint c
    where c.conrelid = a.attrelid and c.contype = 'c' and c.convalidated and c.conenforced
      and c.conkey = array[a.attnum]
      and pg_get_expr(c.conbin, c.conrelid) = format('(%I IS NOT NULL)', a.attname)
  ) as is_never_null
from pg_catalog.pg_attribute a;
comment on view api_meta.table_column is
  'The columns of all tables. is_never_null: no row has null there, for it, its domain, or a check says '
  'not null, and that has been validated.';
--! EndIncluded api_meta/table_column.sql
--! Included api_meta/view_targets.sql
create or replace function api_meta.view_targets(view regclass)
returns table (attnum smallint, expression text, origin oid, origin_attnum smallint)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with recursive stripped (tree) as (
    select w.ev_action::text from pg_rewrite w where w.ev_class = view and w.rulename = '_RETURN'
    union all
    -- The query that begins last has no other within it
    select left(s.tree, b.at - 1) || substr(s.tree, b.at + strpos(substr(s.tree, b.at), ':stmt_len'))
    from stripped s
    cross join lateral (select length(s.tree) - strpos(reverse(s.tree), reverse('{QUERY')) - 4 as at) b
    -- The outermost one begins at 2
    where b.at > 2
  ), outermost as materialized (
    select s.tree,
      array(
        select substring(e.text from ':rtekind (\d+)')
        from string_to_table(s.tree, '{RANGETBLENTRY ') with ordinality e (text, n) where e.n > 1 order by e.n
      ) as kinds
    from stripped s order by length(s.tree) limit 1
  ), target as materialized (
    -- Splitting a text is faster than a pattern for all of it
    select split_part(e.text, ' :resno ', 1) as expression, o.kinds,
      regexp_match(split_part(e.text, ' :resno ', 2),
        '^(\d+) .* :resorigtbl (\d+) :resorigcol (\d+) :resjunk false') as part
    from outermost o
    cross join string_to_table(substr(o.tree, strpos(o.tree, ':targetList (')), '{TARGETENTRY :expr ')
      with ordinality e (text, n)
    where e.n > 1
  )
  select t.part[1]::smallint, t.expression,
    -- 0: a table or view, not a subquery, whose own joins nothing here tells of
    case when t.kinds[substring(t.expression
      from '^\{VAR :varno (\d+) [^{}]*:varnullingrels \(b\) :varlevelsup 0 [^{}]*\}$')::integer] = '0'
      then t.part[2]::oid end,
    t.part[3]::smallint
  from target t where t.part is not null;
end;
comment on function api_meta.view_targets(regclass) is
  'The columns of a view as Postgres keeps them: the expression of each, and for a column that stands in '
  'the view as it stands in a table or another view, that one. A column that an outer join may empty is '
  'an expression.';
--! EndIncluded api_meta/view_targets.sql
--! Included api_meta/has_null_elements.sql
create or replace function api_meta.has_null_elements(relation oid, attnum integer, type oid)
returns boolean
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select exists (
    select from pg_type t
    join pg_type l on l.oid = case t.typtype when 'd' then t.typbasetype else t.oid end
    join pg_type e on e.oid = l.typelem
    where t.oid = type and t.typcategory = 'A' and e.typtype <> 'c' and not e.typnotnull and not exists (
      select from pg_constraint c
      where c.contype = 'c' and c.convalidated
        and (c.conrelid = relation and has_null_elements.attnum = any (c.conkey) or c.contypid = type)
        and pg_get_constraintdef(c.oid) ~ 'array_position\([\w"]+, NULL::[^)]+\) IS NULL'
    )
  ) and relation is not null;
end;
comment on function api_meta.has_null_elements(oid, integer, oid) is
  'Whether a column of a table is an array that may hold null: neither a check of array_position(…, null) is '
  'null nor the domain of the array or of its elements forbids that.';
--! EndIncluded api_meta/has_null_elements.sql
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
        array(select regexp_split_to_table(t, '[ ,]+') from api_meta.view_tag(v.view, 'nullable') t)
          as nullable,
        array(
          select unnest(string_to_array(replace(t, ' ', ''), ',')) from api_meta.view_tag(v.view, 'hidden') t
        ) as hidden,
        array(select regexp_split_to_table(t, '[ ,]+') from api_meta.view_tag(v.view, 'fullLists') t) as full,
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
          case when a.attname <> all (v.full) and api_meta.has_null_elements(s.table_id, s.attnum, a.atttypid)
            then '@nullElements' end,
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
        or d.own ~ '^(@notNull(\n|$))?(@behavior -\*(\n|$))?(@(nullElements|indexed|orders)[^\n]*(\n|$))*$')
      and w.words is distinct from d.own
  loop
    execute format('comment on column %I.%I.%I is %L', col.schema, col.name, col.attname, col.words);
  end loop;
end
$$;
comment on function api_meta.describe() is
  'Writes the comments of the columns of the views of api_unstable: description and nullability from the '
  'table''s column of the same name, corrected by the view''s tags @nullable, @hidden, @columnEnum and '
  '@fullLists, and what indexes do for it. '
  'Columns that are expressions carry comments of their own. Changes only what differs.';
--! EndIncluded api_meta/describe.sql
--! Included api_meta/index_tag.sql
create or replace view api_meta.index_tag as
with keyed as materialized (
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
), main as materialized (
  select k.*, case when exists (
      select from unnest(k.key) n where not exists (
        select from pg_attribute a where a.attrelid = k.table_id and a.attname = n and a.attnum > 0)
    ) then (
      -- The view has another name for a column of its key. Only then it is worth reading the view itself
      select array_agg(o.attname::text order by n.n)
      from unnest(k.key) with ordinality n (name, n)
      join pg_attribute v on v.attrelid = k.view and v.attname = n.name
      join api_meta.view_targets(k.view) t on t.attnum = v.attnum and t.origin = k.table_id
      join pg_attribute o on o.attrelid = t.origin and o.attnum = t.origin_attnum
    ) else k.key end as table_key
  from keyed k
), leakproof as materialized (
  select o.oid as opclass
  from pg_opclass o
  join pg_amop a on (a.amopfamily, a.amoplefttype, a.amoprighttype, a.amopstrategy)
    = (o.opcfamily, o.opcintype, o.opcintype, 1)
  join pg_operator op on op.oid = a.amopopr join pg_proc p on p.oid = op.oprcode
  where p.proleakproof and o.oid = any (array(
    select unnest(x.indclass::oid[]) from pg_index x join main m on m.table_id = x.indrelid
  ))
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
  -- Offset: looked up by the indexes of the catalog, for all attributes take longer to read than these
  left join lateral (
    select t.attname, t.atttypid from pg_attribute t
    where t.attrelid = x.indrelid and t.attnum = x.indkey[k]
      and x.indcollation[k] = t.attcollation and x.indoption[k] = 0
    offset 0
  ) t on true
  -- A column as it stands in the table; of views with joins nothing more can be told
  left join lateral (
    select c.attname from pg_attribute c
    where c.attrelid = m.view and c.atttypid = t.atttypid
      and c.attname = coalesce(m.key[array_position(m.table_key, t.attname::text)], t.attname)
      and (pg_column_is_updatable(m.view, c.attnum, true) or pg_relation_is_updatable(m.view, true) = 0)
      -- Behind policies Postgres finds rows by no other comparisons
      and x.indclass[k] in (select l.opclass from leakproof l)
    offset 0
  ) c on true
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
    select v.view, v.relation, string_agg(c, ', ') as missing
    from unnest(all_wanted) v cross join unnest(v.columns || name 'id') c
    where not exists (
      select from pg_attribute a where a.attrelid = v.relation and a.attname = c and a.attnum > 0
    )
    group by v.view, v.relation
  loop
    raise exception 'The tag @search of % can''t be derived: % has no column %', item.view::regclass,
      item.relation, item.missing using errcode = 'undefined_column',
      hint = 'Rows are searched in the table, by columns that the view calls as the table does, and found by '
        'their id, a uuid. Rename the column of the table, or leave out @search.';
  end loop;
  for item in
    select distinct c.relnamespace::regnamespace as schema from unnest(all_wanted) v
    join pg_class c on c.oid = v.relation
    where not has_schema_privilege('service_searcher', c.relnamespace, 'usage')
  loop
    execute format('grant usage on schema %s to service_searcher', item.schema);
  end loop;
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
--! Included api_meta/view_origins.sql
create or replace function api_meta.view_origins(version name) returns table (view regclass, name name,
  column_name name, expression text, relation regclass, attnum smallint, is_never_null boolean,
  is_promised boolean)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with recursive own as materialized (
    select v.view, v.name,
      array(
        select unnest(string_to_array(replace(k, ' ', ''), ','))
        from api_meta.view_tag(v.view, 'primaryKey') k
      ) as key
    from api_meta.api_view v where v.schema = view_origins.version
  ), origin (view, attnum, expression, relation, relation_attnum) as (
    select o.view, t.attnum, t.expression, t.origin, t.origin_attnum
    from own o cross join lateral api_meta.view_targets(o.view) t
    union all
    select o.view, o.attnum, t.expression, t.origin, t.origin_attnum
    from origin o
    -- Only what is a view is read
    cross join lateral api_meta.view_targets(
      (select c.oid from pg_class c where c.oid = o.relation and c.relkind = 'v')) t
    where t.attnum = o.relation_attnum
  ), last as materialized (
    select o.* from origin o
    where not exists (select from pg_class c where c.oid = o.relation and c.relkind = 'v')
  )
  select o.view, o.name, a.attname, l.expression, l.relation, l.relation_attnum, t.is_never_null,
    a.attname = any (o.key) or coalesce(col_description(o.view, a.attnum) ~ '(?n)^@notNull$', false)
  from last l
  join own o on o.view = l.view
  join pg_attribute a on a.attrelid = l.view and a.attnum = l.attnum
  left join api_meta.table_column t on t.relation = l.relation and t.attnum = l.relation_attnum;
end;
comment on function api_meta.view_origins(name) is
  'For each column of the views of a version the column of the table that it shows, through other views, '
  'and whether that is never null; for others their expression alone. is_promised: clients are told that '
  'it is never null, as the tag @notNull and keys do. It reads how Postgres keeps the views, which takes '
  'a tenth of a second, so no migration does so in passing.';
--! EndIncluded api_meta/view_origins.sql
--! Included api_meta/promise_ground.sql
create or replace view api_meta.promise_ground as
select format('%I.%I.%I', s.name, c.relname, t.name) as ground, format('%s.%s', t.relation, t.attnum) as tree,
  t.is_never_null as holds
from api_meta.own_schema s
join pg_catalog.pg_class c on c.relnamespace = s.oid and c.relkind in ('r', 'p')
join api_meta.table_column t on t.relation = c.oid and t.attnum > 0
union all
select format('%s of %I.%I, %s', k.conname, s.name, c.relname, pg_catalog.pg_get_constraintdef(k.oid)),
  k.oid::text,
  -- Triggers uphold those that are not enforced
  k.convalidated or not k.conenforced
from api_meta.own_schema s
join pg_catalog.pg_class c on c.relnamespace = s.oid
join pg_catalog.pg_constraint k on k.conrelid = c.oid and k.contype = 'c';
comment on view api_meta.promise_ground is
  'What can make true that the API never shows null: columns of tables, and checks. tree names them by '
  'object ids, ground by names, and holds says whether no row has null there, or breaks the check.';
--! EndIncluded api_meta/promise_ground.sql
--! Included api_meta/record_promises.sql
create or replace function api_meta.record_promises(version name) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  delete from api_meta.frozen_promise p where p.version = record_promises.version;
  with origin as materialized (
    select o.* from api_meta.view_origins(record_promises.version) o
  ), beneath as materialized (
    -- What expressions read that are never null, or have fields, as far as the view doesn't show it itself
    select s.view, s.table_id, s.attnum from api_meta.view_column_source s
    where s.view in (
      select o.view from origin o
      join pg_attribute a on a.attrelid = o.view and a.attname = o.column_name
      join pg_type t on t.oid = a.atttypid left join pg_type e on e.oid = t.typelem
      where o.relation is null and (o.is_promised or 'c' in (t.typtype, e.typtype))
    ) and not exists (
      select from origin o
      where o.view = s.view and o.relation = s.table_id and o.attnum = s.attnum
    )
  )
  insert into api_meta.frozen_promise (version, name, ground, tree)
  select record_promises.version, p.name, g.ground, g.tree
  from (
    select o.name || '.' || o.column_name, o.relation, o.attnum, null::oid
    from origin o where o.is_promised and o.relation is not null
    union
    select v.name, b.table_id, b.attnum, null
    from beneath b join api_meta.api_view v on v.view = b.view
    union
    select v.name, null, null, c.oid
    from beneath b join api_meta.api_view v on v.view = b.view
    join pg_constraint c on c.conrelid = b.table_id and b.attnum = any (c.conkey)
    -- Others, such as bounds of a number, accept null themselves
    where c.contype = 'c' and exists (
      select from pg_attribute a join pg_type t on t.oid = a.atttypid
      where a.attrelid = c.conrelid and a.attnum = b.attnum
        and (t.typcategory = 'A' or t.oid in ('json'::regtype, 'jsonb'::regtype))
    )
  ) p (name, relation, attnum, constraint_id)
  join api_meta.promise_ground g
    on g.tree = coalesce(p.constraint_id::text, format('%s.%s', p.relation::oid, p.attnum))
  -- A column that is said never to be null has to be so; an expression may rest on others than these
  where g.holds or position('.' in p.name) > 0;
end;
comment on function api_meta.record_promises(name) is
  'Notes on which tables'' columns and checks a frozen version relies where it says that something is never '
  'null.';
--! EndIncluded api_meta/record_promises.sql
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
  perform api_meta.record_promises(version);
end
$$;
comment on function api_meta.record_version(name) is
  'Notes what a frozen version consists of from now on. A migration that adds to a frozen version on '
  'purpose, or fixes it, ends with this call; any other change of it is refused, see '
  'api_meta.version_faults.';
--! EndIncluded api_meta/record_version.sql
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
  ), ground as materialized (
    select g.ground, g.tree from api_meta.promise_ground g where g.holds
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
  union all
  select p.version, format('%s may be null, which %s no longer keeps out: keep it as it was, or coalesce '
    'in the version''s view', p.name, p.ground)
  from api_meta.frozen_promise p
  where to_regclass(format('%I.%I', p.version, split_part(p.name, '.', 1))) is not null
    -- As with queries, renaming a table changes its name, restoring a dump its number
    and not exists (select from ground g where g.tree = p.tree)
    and not exists (select from ground g where g.ground = p.ground)
  order by 1, 2
$$;
comment on function api_meta.version_faults() is
  'How the frozen versions differ from what was recorded of them, a line for each part. Columns, types, '
  'attributes and functions must be as they were, in their order and with their comments. A renamed table or '
  'column behind a view is no difference; a view that reads something else is, and so is a column or check '
  'beneath it that no longer keeps null out of what clients are told is never null.';
grant execute on function api_meta.version_faults() to service_login;
--! EndIncluded api_meta/version_faults.sql
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
    and not exists (
      select from api_meta.frozen_promise p
      left join api_meta.promise_ground g on g.tree = p.tree and g.ground = p.ground
      where g.holds is not true
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
  perform api_meta.record_promises(v.name) from api_meta.frozen_version v;
  update api_meta.frozen_version set postgres = api_meta.postgres_version()
  where postgres <> api_meta.postgres_version();
end
$$;
comment on function api_meta.require_frozen_versions() is
  'Refuses, with SQLSTATE UE090 and the names of what differs, when a frozen version is not as recorded.';
--! EndIncluded api_meta/require_frozen_versions.sql
select api_meta.record_promises(name) from api_meta.frozen_version;
--! Included mutation/broken_rule.sql
create or replace function mutation.broken_rule(
  state text, detail text, input jsonb, violated_schema name, violated_table name, violated_column name,
  violated_constraint name
) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  error jsonb;
  referring text[];
begin
  if state = 'UE001' then
    return detail::jsonb;
  end if;
  error := case
    when state = '22003' then
      mutation.user_error('OUT_OF_RANGE', 'A quantity or an amount would become larger than can be kept.')
    -- The caller gave null for a required value
    when state = '23502' and input ? violated_column then
      mutation.user_error('REQUIRED', 'This must not be null.', array[violated_column])
    -- A foreign key with on delete restrict
    when state = '23001' then
      mutation.user_error('REFERENCE_IN_USE', 'Something else still refers to it.')
    else mutation.violation(violated_schema, violated_table, violated_constraint)
  end;
  if error is null and state = '23503' then
    -- The input names it, so the caller has chosen something that isn't there
    select array_agg(a.attname::text) into referring
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
    where c.contype = 'f' and c.conname = violated_constraint
      and c.conrelid = to_regclass(format('%I.%I', violated_schema, violated_table))
      and coalesce(obj_description(c.oid, 'pg_constraint'), '') !~ '^@internal'
      and jsonb_path_exists(input, format('$.**.%s', to_json(a.attname))::jsonpath);
    if referring is not null then
      error := mutation.user_error('NOT_FOUND', 'What this refers to does not exist.',
        case when input ?& referring then referring end);
    end if;
  end if;
  return case when error is not null then jsonb_build_array(error) end;
end
$$;
comment on function mutation.broken_rule(text, text, jsonb, name, name, name, name) is
  'The user errors that an exception of a mutation means: those of mutation.refuse, which are its detail, or '
  'by its SQLSTATE and the constraint that was violated; null when it is a fault of ours. A foreign key '
  'needs no comment if its column is called as in the input.';
grant execute on function mutation.broken_rule(text, text, jsonb, name, name, name, name) to service_writer;
--! EndIncluded mutation/broken_rule.sql
--! Included events/data_columns.sql
create or replace function events.data_columns(subject events.subject, fields text[], alias text)
returns text
language sql stable
begin atomic
  -- In the order in which jsonb keeps names, so that it sorts nothing
  select string_agg(format('%s as %I', v.value, v.name), ', '
    order by octet_length(v.name), v.name collate "C")
  from (
    select f.name,
      case
        when f.id_of is not null then format('%L || %s', 'gid://service/' || f.id_of || '/',
          string_agg(case coalesce(nullif(t.typbasetype, 0), t.oid)::regtype::text
            when 'uuid' then format('%I.%I', alias, a.attname)
            when 'bigint' then format('%I.%I', alias, a.attname)
            when 'integer' then format('%I.%I', alias, a.attname)
            when 'smallint' then format('%I.%I', alias, a.attname)
            -- As src/reads/keys.ts spells them
            when 'timestamp with time zone' then
              format($$(to_json(%I.%I at time zone 'UTC') #>> '{}') || 'Z'$$, alias, a.attname)
            when 'bytea' then format($$'\x' || encode(%I.%I, 'hex')$$, alias, a.attname)
            else format(
              $$replace(replace(to_jsonb(%I.%I) #>> '{}', '%%', '%%25'), '/', '%%2F')$$, alias, a.attname
            )
          end, $$ || '/' || $$ order by k.position))
        when bool_and(a.atttypid = 'timestamptz'::regtype) then
          format(
            $$to_char(%I.%I at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')$$, alias, f.column_name
          )
        when bool_and(a.atttypid in ('int8'::regtype, 'numeric'::regtype)) and events.is_exact(f)
          then format('%I.%I::text', alias, f.column_name)
        else format('%I.%I', alias, f.column_name)
      end as value
    from events.field f
    cross join unnest(string_to_array(f.column_name, ',')) with ordinality k (name, position)
    left join pg_attribute a on a.attrelid = subject.relation and a.attname = k.name
    left join pg_type t on t.oid = a.atttypid
    where f.subject_type = subject.type and (fields is null or f.name = any (fields))
    group by f.subject_type, f.name
  ) v;
end;
comment on function events.data_columns(events.subject, text[], text) is
  'SQL for the data of an event: the fields, or all, as columns, from a row with an alias, in the spelling '
  'of the API. An id may be made of several columns, with commas between them.';
--! EndIncluded events/data_columns.sql
--! Included api/events.sql
create or replace view api_unstable.events with (security_invoker = true) as
select id, sequence, topic, occurred_at, changed_fields, cause, data from events.event;
comment on view api_unstable.events is
  E'@primaryKey id\n'
  '@requiresScopes orders:read fulfillment_orders:read stocks:read products:read goods_receipts:read '
  'supplier_orders:read batches:read customers:read documents:read shipping_labels:read\n'
  '@filters topic,sequence,occurred_at\n'
  '@log\n'
  '@fullLists changed_fields\n'
  'Something that happened, as the log has it: in the order in which it was committed, without gaps, '
  'for 30 days. Shown are the events whose subjects the caller may read.';
--! EndIncluded api/events.sql
drop view if exists api_unstable.webhook_subscriptions;
--! Included api/webhook_subscriptions.sql
create view api_unstable.webhook_subscriptions with (security_invoker = true) as
select id, topic, url, api_version, fields, payload_query, enabled, health, health_reason, backlog_count,
  created_at, updated_at,
  last_sequence, last_delivered_at, failing_since, disabled_at
from events.webhook_subscription;
comment on view api_unstable.webhook_subscriptions is $$
@primaryKey id
@requiresScopes webhook_subscriptions:read
@scopesOfAll all_webhook_subscriptions:read all_webhook_subscriptions:write
@filters *
@fullLists fields
Who is told when something happens. Each credential sees its own; with all_webhook_subscriptions:read, all.$$;
--! EndIncluded api/webhook_subscriptions.sql

comment on policy event_is_of_a_readable_topic on events.event is
  'A scope opens the log, and of it the events of its own topics.';
comment on policy operation_of_caller on bulk.operation is 'A credential sees its own bulk operations.';

-- The columns of these are not in inputs: functions set them to what they have just read or written
do $$
declare
  own record;
begin
  for own in select * from (values
    ('erp.customer_tag', 'customer_tag_tag_id_fkey'),
    ('erp.customer', 'customer_last_payment_method_id_fkey'),
    ('erp.product_tag', 'product_tag_tag_id_fkey'),
    ('erp.order_tag', 'order_tag_tag_id_fkey'),
    ('erp.fulfillment_order', 'fulfillment_order_destination_order_id_fkey'),
    ('erp.fulfillment_order', 'fulfillment_order_source_warehouse_location_id_fkey'),
    ('erp.fulfillment_order_line_item', 'fulfillment_order_line_item_destination_order_line_item_id_fkey'),
    ('erp.fulfillment_line_item', 'fulfillment_line_item_pair_is_known'),
    ('erp.product_supplier_price', 'product_supplier_price_product_supplier_configuration_id_fkey'),
    ('erp.goods_receipt', 'goods_receipt_user_id_fkey'),
    ('erp.goods_receipt_line_item', 'goods_receipt_line_item_goods_receipt_id_fkey'),
    ('erp.goods_receipt_supplier_order', 'goods_receipt_supplier_order_goods_receipt_id_fkey'),
    ('erp.document', 'document_document_type_id_fkey'),
    ('erp.document', 'document_referenced_document_id_fkey'),
    ('erp.document_fulfillment', 'document_fulfillment_document_id_fkey'),
    ('erp.document_fulfillment', 'document_fulfillment_fulfillment_id_fkey'),
    ('erp.invoice', 'invoice_document_id_fkey'),
    ('erp.invoice', 'invoice_cancellation_id_fkey'),
    ('erp.invoice_line_item', 'invoice_line_item_document_id_fkey'),
    ('erp.fulfillment_order_fulfillment', 'fulfillment_order_fulfillment_fulfillment_id_fkey'),
    ('erp.fulfillment_line_item', 'fulfillment_line_item_fulfillment_id_fkey'),
    ('erp.fulfillment_stock_movement', 'fulfillment_stock_movement_fulfillment_line_item_id_fkey'),
    ('erp.fulfillment_stock_movement', 'fulfillment_stock_movement_stock_movement_id_fkey'),
    ('events.delivery', 'delivery_sequence_fkey'),
    ('events.webhook_secret', 'webhook_secret_subscription_id_fkey'),
    ('events.delivery', 'delivery_subscription_id_fkey'),
    ('events.delivery_queue', 'delivery_queue_subscription_id_fkey'),
    ('bulk.chunk', 'chunk_operation_id_fkey'),
    ('bulk.refusal', 'refusal_operation_id_fkey')
  ) c (place, name)
  loop
    execute format('comment on constraint %I on %s is %L', own.name, own.place, '@internal set by functions');
  end loop;
end
$$;

--! split: 60-invoices.sql
-- Invoices after the shipment, credits that happen once, actions that a mutation does, and amounts that are
-- rounded once

-- Rounding
--! Included erp/rounded.sql
-- The rules of rounding. Amounts are paid in cents, and rounded once, half away from zero; prices of a unit
-- keep more decimals. Each has a form that becomes part of the statement that calls it.
create or replace function erp.rounded(amount numeric) returns numeric
language sql immutable parallel safe
return round(amount, 2);
comment on function erp.rounded(numeric) is 'An amount in cents: half a cent is rounded away from zero.';

create or replace function erp.rounded_price(price numeric) returns numeric
language sql immutable parallel safe
-- A quotient has infinitely many digits, and a rate four to six significant ones. With six decimals of a
-- price, the rounding on a line of 10,000 units is still below a cent.
return round(price, 6);
comment on function erp.rounded_price(numeric) is 'A price of one unit that was reckoned, to six decimals.';

create or replace function erp.net_amount(amount numeric, tax_rate numeric) returns numeric
language sql immutable parallel safe
return round(amount * 100 / (100 + tax_rate), 2);
comment on function erp.net_amount(numeric, numeric) is
  'An amount without its tax, in cents; the rate is in percent. Null without a rate.';

create or replace function erp.share_of(amount numeric, units integer, quantity integer) returns numeric
language sql immutable parallel safe
return case units when quantity then amount else round(amount * units / quantity, 2) end;
comment on function erp.share_of(numeric, integer, integer) is
  'The amount of the first units of a quantity, in cents. What lies between two shares is the amount of the '
  'units between them, so that the amounts of all units add up.';

create or replace function erp.in_default_currency(amount numeric, currency_factor numeric) returns numeric
language sql immutable strict parallel safe
return round(amount / currency_factor, 6);
comment on function erp.in_default_currency(numeric, numeric) is
  'A price in the default currency: divided by the units of its currency per unit of the default '
  'currency, to six decimals.';

create or replace function erp.amount_in_default_currency(amount numeric, currency_factor numeric)
returns numeric
language sql immutable strict parallel safe
return round(amount / currency_factor, 2);
comment on function erp.amount_in_default_currency(numeric, numeric) is
  'An amount in the default currency, in cents: of a price times a quantity, not of a price that is rounded.';

create or replace function erp.price_on_document(price numeric, quantity integer, amount numeric)
returns numeric
language sql immutable parallel safe
return coalesce(
  (
    select round(price, d)
    from generate_series(4, 12) d
    where round(round(price, d) * quantity, 2) = amount
    order by d
    limit 1
  ),
  -- So many that the quantity makes less than half a cent of what is left out
  round(amount / quantity, 2 + length(quantity::text)));
comment on function erp.price_on_document(numeric, integer, numeric) is
  'The price of one unit as a document shows it: with four decimals or as many more as it takes that the '
  'price times the quantity, in cents, is the amount. Where no decimals do, as for a line with a discount of '
  'its own, it is the amount by the quantity.';

grant execute on function erp.rounded(numeric), erp.rounded_price(numeric), erp.net_amount(numeric, numeric),
  erp.share_of(numeric, integer, integer), erp.in_default_currency(numeric, numeric),
  erp.amount_in_default_currency(numeric, numeric), erp.price_on_document(numeric, integer, numeric)
  to service_ledger, service_keeper, service_writer;
--! EndIncluded erp/rounded.sql
--! Included erp/amounts.sql
create or replace function erp.amounts(tax_status text, totals numeric[], tax_rates numeric[],
  discount numeric,
  out amount_net numeric, out amount_total numeric, out position_price numeric)
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select
    erp.rounded(case
      when tax_status = 'gross' then sum(l.total / (1 + coalesce(l.tax_rate, 0) / 100))
      else sum(l.total) end
      - coalesce(discount, 0)),
    erp.rounded(case
      when tax_status = 'net' then sum(l.total * (1 + coalesce(l.tax_rate, 0) / 100))
      else sum(l.total) end
      - coalesce(discount, 0)),
    erp.rounded(sum(l.total))
  from unnest(totals, tax_rates) l (total, tax_rate);
end;
comment on function erp.amounts(text, numeric[], numeric[], numeric) is
  'Totals of a document out of its lines: what they cost by its tax status, and their tax rates in '
  'percent. A discount on the whole is taken off both totals. Null when no line has a price.';
grant execute on function erp.amounts(text, numeric[], numeric[], numeric) to service_writer;
--! EndIncluded erp/amounts.sql
--! Included erp/converted_price.sql
create or replace function erp.converted_price(price numeric, from_tax_status text, from_tax_rate numeric,
  from_factor numeric, to_tax_status text, to_tax_rate numeric, to_factor numeric) returns numeric
language sql immutable parallel safe
return case
  when from_factor = to_factor
    and (from_tax_status is not distinct from 'gross') = (to_tax_status is not distinct from 'gross')
    then price
  else erp.rounded_price(price
    / case when from_tax_status = 'gross' then 1 + coalesce(from_tax_rate, 0) / 100 else 1 end
    * case when to_tax_status = 'gross' then 1 + coalesce(to_tax_rate, 0) / 100 else 1 end
    * to_factor / from_factor)
  end;
comment on function erp.converted_price(numeric, text, numeric, numeric, text, numeric, numeric) is
  'A unit price of one document as another one states it, which may be in another currency or with tax '
  'where the first is without: to six decimals, or as it is when nothing differs. Null when a rate is '
  'unknown.';
grant execute on function erp.converted_price(numeric, text, numeric, numeric, text, numeric, numeric)
  to service_writer;
--! EndIncluded erp/converted_price.sql
--! Included erp/match_order_lines.sql
create or replace function erp.match_order_lines(orders mutation.upsert_row[])
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  result mutation.upsert_row[];
begin
  execute format($q$
    with given as materialized (
      select o.line * 1000 + l.n as line, o.id as order_id, l.value as given, %s as defaults
      from unnest($1) o
      cross join jsonb_array_elements(nullif(o.given -> 'line_items', 'null')) with ordinality l (value, n)
      where o.errors is null and l.n <= 250
    ),
    matched as (
      select g.*, case
        when r.id is not null
          then (select p.id from erp.sales_order_line_item p where p.id = r.id and p.order_id = g.order_id)
        when r.storefront_id is not null then (
          select p.id from erp.sales_order_line_item p
          where p.order_id = g.order_id and p.storefront_id = r.storefront_id order by p.id limit 1)
        when r.identifier is not null then (
          select p.id from erp.sales_order_line_item p
          where p.order_id = g.order_id and p.identifier = r.identifier order by p.id limit 1) end as id,
        case when g.given ? 'product_number' and g.given ->> 'product_number' is not null
          then (select p.id from erp.product p where p.product_number = g.given ->> 'product_number')
          else r.product_id end as product_id
      from given g cross join lateral jsonb_populate_record(null::erp.sales_order_line_item, g.given) r
    ),
    -- Not joins, which would read all of tables that are not large
    known as materialized (
      select m.*, (select p from erp.sales_order_line_item p where p.id = m.id) as p,
        (select i from erp.product i where i.id = m.product_id) as i
      from matched m
    ),
    -- Lines without a position come after those that have one
    placed as (
      select k.*, k.place is null as is_last, coalesce(max(k.place) over (partition by k.order_id), 0) as last
      from (
        select m.*, coalesce((m.given ->> 'position')::integer, (m.p).position) as place from known m
      ) k
    ),
    numbered as (
      select m.*, m.last + row_number() over (partition by m.order_id, m.is_last order by m.line) as next
      from placed m
    )
    select array_agg(row(m.line, coalesce((m.p).id, (m.defaults ->> 'id')::uuid), (m.p).id is null, m.given,
      to_jsonb(m.p), to_jsonb(w) || jsonb_build_object('order_id', m.order_id) || case
        when num_nonnulls(m.product_id, m.given ->> 'product_number') > 0
          then jsonb_build_object('product_id', m.product_id) else '{}' end || case
        when (m.p).id is not null then '{}'
        else jsonb_build_object(
          'position', case when m.given ? 'position' then w.position else m.next end,
          'type', case when m.given ? 'type' then w.type when m.product_id is null then 'custom'
            else 'product' end,
          'label', coalesce(w.label, (m.i).name, (m.i).product_number, m.given ->> 'product_number'),
          'identifier', coalesce(w.identifier,
            case when not erp.is_blank(w.storefront_id) then w.storefront_id end, (m.i).product_number,
            case when not erp.is_blank(w.label) then w.label end, m.defaults ->> 'id')) end || case
        when m.given ? 'total_price' then jsonb_build_object('total_price', erp.rounded(w.total_price))
        when m.given ?| '{unit_price,quantity}' and w.unit_price is not null
          then jsonb_build_object('total_price', erp.rounded(w.unit_price * w.quantity)) else '{}' end,
      false, null)::mutation.upsert_row order by m.line)
    from numbered m cross join lateral jsonb_populate_record(case when (m.p).id is null
      then jsonb_populate_record(null::erp.sales_order_line_item, m.defaults) else m.p end, m.given - 'id') w
    $q$, mutation.defaults_of('erp.sales_order_line_item'))
  into result using orders;
  return result;
end
$$;
comment on function erp.match_order_lines(mutation.upsert_row[]) is
  'The lines that rows of an upsert of orders give, as rows of an upsert themselves; the place of a line '
  'is a thousand times that of its order, and its own. A line is known by its id, its storefrontId or its '
  'identifier, within its order. A new one without a position comes after those that are there.';
grant execute on function erp.match_order_lines(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/match_order_lines.sql
--! Included api/orders_upsert.sql
drop type if exists api_unstable.orders_upsert_input cascade;
drop type if exists api_unstable.order_upsert_input cascade;
drop type if exists api_unstable.orders_upsert_payload cascade;

drop type if exists api_unstable.order_line_upsert_input cascade;

create type api_unstable.order_line_upsert_input as (
  id uuid, storefront_id text, identifier text, type text, product_id uuid, product_number text, label text,
  description text, quantity integer, unit_price numeric, total_price numeric, tax_rate numeric,
  position integer
);
comment on type api_unstable.order_line_upsert_input is
  'A line of an order as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.order_line_upsert_input.id is
  E'@gid OrderLineItem\nId of the line. Without it, the line is known by its storefrontId, or else by '
  'its identifier.';
comment on column api_unstable.order_line_upsert_input.storefront_id is
  'Id of the line in the external storefront platform.';
comment on column api_unstable.order_line_upsert_input.identifier is
  'Identifier taken over from the cart. When left out of a new line, its storefrontId, number of the '
  'product or label.';
comment on column api_unstable.order_line_upsert_input.type is
  'What the line stands for: product, custom, promotion, credit or another word. When left out of a new '
  'line, product or custom.';
comment on column api_unstable.order_line_upsert_input.product_id is
  E'@gid Product\nId of the product that was ordered.';
comment on column api_unstable.order_line_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.order_line_upsert_input.label is
  'Text shown for the line. When left out of a new line, the name of the product.';
comment on column api_unstable.order_line_upsert_input.description is
  'Second line of text.';
comment on column api_unstable.order_line_upsert_input.quantity is
  'Units ordered; at least 1. A new line needs it.';
comment on column api_unstable.order_line_upsert_input.unit_price is
  'Price of one unit with tax, in the currency of the order.';
comment on column api_unstable.order_line_upsert_input.total_price is
  'Price of the line with tax, in cents: more decimals are rounded. When left out beside a unit price or a '
  'quantity, their product.';
comment on column api_unstable.order_line_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100.';
comment on column api_unstable.order_line_upsert_input.position is
  'Place of the line within its order, by which documents list lines. When left out of a new line, it '
  'comes after those that are there, in the order of the call.';

create type api_unstable.order_upsert_input as (
  id uuid, storefront_id text, sales_channel_id uuid, order_number text, order_date_time timestamptz,
  payment_state text, tax_status text, currency_id uuid, customer_id uuid, shipping_method_id uuid,
  payment_method_id uuid, shipping_address jsonb, billing_address jsonb,
  line_items api_unstable.order_line_upsert_input[], tags text[]
);
comment on type api_unstable.order_upsert_input is
  'An order as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.order_upsert_input.id is
  E'@gid Order\nId of the order. Without it, the order is known by storefrontId and salesChannelId, or '
  'else by orderNumber.';
comment on column api_unstable.order_upsert_input.storefront_id is
  'Id in the external storefront platform, unique in the sales channel; at most 255 characters. It '
  'needs the sales channel.';
comment on column api_unstable.order_upsert_input.sales_channel_id is
  E'@gid SalesChannel\nId of the sales channel where it was ordered.';
comment on column api_unstable.order_upsert_input.order_number is
  'Number that the customer knows the order by, unique; at most 255 characters.';
comment on column api_unstable.order_upsert_input.order_date_time is
  'When the customer ordered. Now, when left out of a new one.';
comment on column api_unstable.order_upsert_input.payment_state is
  'State of the primary payment, for example open, paid or refunded.';
comment on column api_unstable.order_upsert_input.tax_status is
  'Whether prices are gross, net or tax-free. Gross when left out of a new one.';
comment on column api_unstable.order_upsert_input.currency_id is
  E'@gid Currency\nId of the currency of all amounts. That of the sales channel when left out of a new '
  'one.';
comment on column api_unstable.order_upsert_input.customer_id is
  E'@gid Customer\nId of the customer.';
comment on column api_unstable.order_upsert_input.shipping_method_id is
  E'@gid ShippingMethod\nId of the way to ship.';
comment on column api_unstable.order_upsert_input.payment_method_id is
  E'@gid PaymentMethod\nId of the way to pay.';
comment on column api_unstable.order_upsert_input.shipping_address is
  'Where to ship to: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.order_upsert_input.billing_address is
  'Where the invoice goes: an object of the same keys.';
comment on column api_unstable.order_upsert_input.line_items is
  'All lines that the order is to have, up to 250. Lines that are not among them go.';
comment on column api_unstable.order_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';

create type api_unstable.orders_upsert_input as (orders api_unstable.order_upsert_input[], partial boolean);
comment on type api_unstable.orders_upsert_input is 'Orders as they are to be.';
comment on column api_unstable.orders_upsert_input.orders is
  E'@notNull\nThe orders; 1 to 250 rows.';
comment on column api_unstable.orders_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.orders_upsert_payload as (
  results api_unstable.upsert_result[], orders uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.orders_upsert_payload is 'What an upsert of orders answers.';
comment on column api_unstable.orders_upsert_payload.results is
  E'@resultOf Order\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.orders_upsert_payload.orders is
  E'@entity Order\n@perLine orders\nThe orders of the rows that were not refused, in their order.';
comment on column api_unstable.orders_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.orders_upsert(input api_unstable.orders_upsert_input, changes jsonb)
returns api_unstable.orders_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.orders_upsert_payload
  from mutation.upserted(erp.upsert_orders(changes -> 'orders', input.partial)) d
$$;
comment on function api_unstable.orders_upsert(api_unstable.orders_upsert_input, jsonb) is
  E'@requiresScopes orders:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE OVER_FULFILLMENT '
  'TOO_MANY_LINES\n'
  'Makes orders and changes those that are there, known by their id, by storefrontId and sales channel, '
  'or by number. What is shipped, assigned to a fulfillment order or invoiced stays: a line keeps at '
  'least these units, and its product; lines of completed and cancelled orders stay as they are. Rows '
  'that say nothing new change nothing.';
--! EndIncluded api/orders_upsert.sql
--! Included erp/copy_supplier_prices.sql
-- Purchase prices of a product and those of its default supplier. The rules are those of
-- Product.purchasePrices.

create or replace function erp.copy_supplier_prices(product_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with supplier_price as (
    -- paid in the default currency: all of them, unchanged
    select c.product_id, p.currency_id, p.net, p.gross, p.linked
    from erp.product_supplier_configuration c join erp.supplier s on s.id = c.supplier_id
    left join erp.currency u on u.id = s.currency_id
    join erp.product_supplier_price p on p.product_supplier_configuration_id = c.id
    where c.supplier_is_default and c.product_id = any (product_ids) and coalesce(u.is_default_currency, true)
    union all
    -- paid in another one: the price in that currency, and in the default currency by the present rate
    select c.product_id, d.id, erp.amount_in_default_currency(p.net, r.factor),
      erp.amount_in_default_currency(p.gross, r.factor), p.linked
    from erp.product_supplier_configuration c join erp.supplier s on s.id = c.supplier_id
    join erp.currency u on u.id = s.currency_id and not u.is_default_currency
    join erp.product_supplier_price p on p.product_supplier_configuration_id = c.id and p.currency_id = u.id
    join erp.currency d on d.is_default_currency
    cross join lateral erp.currency_factor_at(u.id, now()) r
    where c.supplier_is_default and c.product_id = any (product_ids)
  ),
  gone as (
    -- Without a default supplier the prices are the product's own
    delete from erp.product_purchase_price p
    where p.product_id in (
        select c.product_id
        from erp.product_supplier_configuration c
        where c.supplier_is_default and c.product_id = any (product_ids))
      and not exists (
        select from supplier_price s where s.product_id = p.product_id and s.currency_id = p.currency_id
      )
  )
  insert into erp.product_purchase_price as p (product_id, currency_id, net, gross, linked)
  select s.product_id, s.currency_id, s.net, s.gross, s.linked from supplier_price s
  on conflict (product_id, currency_id) do update
  set net = excluded.net, gross = excluded.gross, linked = excluded.linked
    where (p.net, p.gross, p.linked) is distinct from (excluded.net, excluded.gross, excluded.linked);
end
$$;
comment on function erp.copy_supplier_prices(uuid[]) is
  'Makes the purchase prices of products those of their default suppliers: the same when the supplier '
  'is paid in the default currency, else converted by the present rate.';
grant execute on function erp.copy_supplier_prices(uuid[]) to service_writer;
--! EndIncluded erp/copy_supplier_prices.sql
--! Included erp/set_supplier_order_lines.sql
create or replace function erp.set_supplier_order_lines(
  target erp.supplier_order, lines erp.supplier_order_line[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  ids uuid[];
  discount constant numeric := target.position_price
    - case target.tax_status when 'gross' then target.amount_total else target.amount_net end;
begin
  perform erp.check_supplier_order_lines(target, lines);
  -- Writing lines locks their products; all are locked here in one order
  perform ledger.lock(array(
    select l.product_id from unnest(lines) l
    union select i.product_id
    from erp.supplier_order_line_item i
    where i.supplier_order_id = target.id and i.product_id is not null
  ));
  ids := erp.line_ids(array(select l.id from unnest(lines) with ordinality l order by l.ordinality));
  delete from erp.supplier_order_line_item i
  where i.supplier_order_id = target.id and not exists (select from unnest(lines) l where l.id = i.id);

  insert into erp.supplier_order_line_item as i (
    id, supplier_order_id, product_id, "position", label, product_number,
    supplier_product_number, quantity, min_purchase, purchase_steps, unit_price,
    total_price, tax_rate, expected_delivery_date
  )
  select ids[l.ordinality], target.id, p.id, l.ordinality,
    coalesce(p.name, parent.name, p.product_number), p.product_number,
    c.supplier_product_number, l.quantity, c.min_purchase, c.purchase_steps, price.unit,
    erp.rounded(price.unit * l.quantity), coalesce(l.tax_rate, p.tax_rate), l.expected_delivery_date
  from unnest(lines) with ordinality l
  join erp.product p on p.id = l.product_id left join erp.product parent on parent.id = p.parent_id
  left join erp.product_supplier_configuration c on c.product_id = p.id and c.supplier_id = target.supplier_id
  left join erp.product_supplier_price s on s.product_supplier_configuration_id = c.id
    and s.currency_id = target.currency_id
  cross join lateral (
    select coalesce(l.unit_price, case target.tax_status when 'gross' then s.gross else s.net end) as unit
  ) price
  order by l.ordinality
  on conflict (id) do update
  set product_id = excluded.product_id, "position" = excluded."position", label = excluded.label,
    product_number = excluded.product_number, supplier_product_number = excluded.supplier_product_number,
    quantity = excluded.quantity, min_purchase = excluded.min_purchase,
    purchase_steps = excluded.purchase_steps, unit_price = excluded.unit_price,
    total_price = excluded.total_price, tax_rate = excluded.tax_rate,
    expected_delivery_date = excluded.expected_delivery_date;

  update erp.supplier_order o
  set amount_net = a.amount_net, amount_total = a.amount_total, position_price = a.position_price
  from (
    select (erp.amounts(target.tax_status, array_agg(i.total_price), array_agg(i.tax_rate), discount)).*
    from erp.supplier_order_line_item i where i.supplier_order_id = target.id
  ) a where o.id = target.id;
end
$$;
comment on function erp.set_supplier_order_lines(erp.supplier_order, erp.supplier_order_line[]) is
  'Makes these the lines of a supplier order: those with an id are changed, those without are new, others '
  'go. They are listed in this order, but for lines that are there and change places among themselves: their '
  'positions say so. What a line leaves open, price and tax rate, comes from the supplier''s terms and the '
  'product. Totals are computed again; a discount on the whole order stays.';
grant execute on function erp.set_supplier_order_lines(erp.supplier_order, erp.supplier_order_line[])
  to service_writer;
--! EndIncluded erp/set_supplier_order_lines.sql
--! Included ledger/order_amounts.sql
-- Without settings, so that both become a part of the statement that asks
create or replace function ledger.amounts_of(prices numeric[], tax_rates numeric[], tax_status text)
returns table (amount_total numeric, amount_net numeric)
language sql stable
begin atomic
  select s.total, case when amounts_of.tax_status = 'tax-free' then s.total
    else s.rated_net + erp.rounded((s.total - s.rated) * coalesce(s.rated_net / nullif(s.rated, 0), 1)) end
  from (
    select sum(l.price) as total,
      coalesce(sum(l.price) filter (where l.tax_rate is not null), 0) as rated,
      coalesce(sum(erp.net_amount(l.price, l.tax_rate)), 0) as rated_net
    from unnest(prices, tax_rates) l (price, tax_rate) having count(l.price) > 0
  ) s;
end;
comment on function ledger.amounts_of(numeric[], numeric[], text) is
  'Totals with and without tax of lines with these prices and tax rates; no row when no line has a price. '
  'Lines without a tax rate, such as promotions, are taxed as the others on average.';
grant execute on function ledger.amounts_of(numeric[], numeric[], text) to service_ledger, service_writer;

create or replace function ledger.order_amounts(order_id uuid, tax_status text)
returns table (amount_total numeric, amount_net numeric)
language sql stable
begin atomic
  select a.amount_total, a.amount_net
  from (
    select array_agg(l.total_price) as prices, array_agg(l.tax_rate) as tax_rates
    from erp.sales_order_line_item l where l.order_id = order_amounts.order_id
  ) s
  cross join lateral ledger.amounts_of(s.prices, s.tax_rates, order_amounts.tax_status) a;
end;
comment on function ledger.order_amounts(uuid, text) is
  'Totals of an order with and without tax, from its lines; no row when no line has a price.';
grant execute on function ledger.order_amounts(uuid, text) to service_ledger;
--! EndIncluded ledger/order_amounts.sql
--! Included erp/order_pieces.sql
-- Prices in erp.sales_order_line_item include tax, whatever the tax status of the order. This function and
-- document_config return rows, because Postgres then inlines them into the calling query.
create or replace function erp.order_pieces(order_id uuid, tax_status text)
returns table (line_id uuid, unit_line_id uuid, rate numeric, total numeric, net numeric)
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.type, l.total_price as total,
      case when tax_status = 'tax-free' then l.tax_rate * 0 else l.tax_rate end as rate
    from erp.sales_order_line_item l where l.order_id = order_pieces.order_id
  ),
  rated as (
    select l.id, l.n, coalesce(l.rate, 0) as rate, l.total,
      erp.net_amount(l.total, coalesce(l.rate, 0)) as net
    from line l where l.rate is not null or not exists (select from line where rate is not null)
  ),
  -- The range of each line with a rate when these lines are laid end to end, by amount
  ruler as (
    select r.*, coalesce(sum(r.net) over () / nullif(sum(r.total) over (), 0), 1) as factor,
      coalesce((sum(r.total) over so_far - r.total) / nullif(sum(r.total) over (), 0),
        (row_number() over so_far - 1.0) / count(*) over ()) as starts,
      coalesce(sum(r.total) over so_far / nullif(sum(r.total) over (), 0),
        row_number() over so_far * 1.0 / count(*) over ()) as ends,
      coalesce((sum(r.net) over so_far - r.net) / nullif(sum(r.net) over (), 0),
        (row_number() over so_far - 1.0) / count(*) over ()) as net_starts,
      coalesce(sum(r.net) over so_far / nullif(sum(r.net) over (), 0),
        row_number() over so_far * 1.0 / count(*) over ()) as net_ends
    from rated r window so_far as (order by r.rate, r.n)
  ),
  -- As in ledger.order_amounts: lines without a rate, such as promotions, are taxed at the average of the
  -- others
  unrated as (
    select l.*, sum(l.total) over (order by l.n) as upto, f.factor
    from line l, (select factor from ruler limit 1) f
    where l.rate is null and exists (select from line where rate is not null)
  )
  select r.id, r.id, r.rate, r.total, r.net from rated r
  union all
  -- Sums are rounded, not their parts, so that the parts add up by line and by rate
  select u.id, case when u.type = 'product' then u.id else r.id end, r.rate,
    erp.rounded(u.upto * r.ends) - erp.rounded((u.upto - u.total) * r.ends)
      - erp.rounded(u.upto * r.starts) + erp.rounded((u.upto - u.total) * r.starts),
    erp.rounded(erp.rounded(u.factor * u.upto) * r.net_ends)
      - erp.rounded(erp.rounded(u.factor * (u.upto - u.total)) * r.net_ends)
      - erp.rounded(erp.rounded(u.factor * u.upto) * r.net_starts)
      + erp.rounded(erp.rounded(u.factor * (u.upto - u.total)) * r.net_starts)
  from unrated u cross join ruler r;
end;
comment on function erp.order_pieces(uuid, text) is
  'What the lines of an order come to with and without tax, by rates. A line without a rate, such as a '
  'promotion, is spread over the lines that have one, by what these come to. Each piece is charged '
  'along with the units of a line: its own, or for what is no product of that other line. All pieces '
  'come to the cent to what the order does.';
grant execute on function erp.order_pieces(uuid, text) to service_writer;
--! EndIncluded erp/order_pieces.sql
--! Included erp/document_amounts.sql
create or replace function erp.document_amounts(
  order_id uuid, tax_status text, parts erp.document_part[] default null
)
returns table (amounts jsonb)
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.label, l.description, p.product_number,
      l.quantity, l.unit_price,
      l.total_price, l.tax_rate
    from erp.sales_order_line_item l
    left join erp.product p on p.id = l.product_id
    where l.order_id = document_amounts.order_id
  ),
  part as (
    select p.order_line_item_id as id, p.first_unit, p.first_unit + p.quantity as upto from unnest(parts) p
    union all select l.id, 0, l.quantity from line l where parts is null
  ),
  -- The units' share of each piece, such that the shares of all units add up to the piece
  charged as (
    select c.line_id, c.rate, c.unit_line_id,
      erp.share_of(c.total, p.upto, u.quantity) - erp.share_of(c.total, p.first_unit, u.quantity) as total,
      erp.share_of(c.net, p.upto, u.quantity) - erp.share_of(c.net, p.first_unit, u.quantity) as net
    from erp.order_pieces(document_amounts.order_id, tax_status) c
    join line u on u.id = c.unit_line_id join part p on p.id = c.unit_line_id
  ),
  shown as (
    select l.n, l.label, l.description, l.product_number, l.unit_price, l.tax_rate as rate, c.total, c.net,
      case when tax_status = 'net' then c.net else c.total end as amount,
        coalesce(q.quantity, l.quantity) as quantity,
      -- This document's share of a discount on the whole order
      q.quantity is null and c.total <> l.total_price as is_share
    from line l
    join (
      select c.line_id as id, sum(c.total) as total, sum(c.net) as net from charged c group by c.line_id
    ) c
      on c.id = l.id
    left join (select p.id, sum(p.upto - p.first_unit) as quantity from part p group by p.id) q on q.id = l.id
  ),
  by_rate as (select c.rate, sum(c.net) as net, sum(c.total) as total from charged c group by c.rate)
  select jsonb_build_object(
    'lines', coalesce((
      select jsonb_agg(jsonb_build_object('position', n, 'label', label, 'description', description,
        'productNumber', product_number,
          'quantity', quantity,
          'unitPrice', erp.price_on_document(case when is_share then null
            when tax_status = 'net' then unit_price * coalesce(100 / (100 + rate), net / nullif(total, 0), 1)
            else unit_price end, quantity::integer, amount),
          'total', amount, 'taxRate', case when tax_status <> 'tax-free' then rate end)
        || case when is_share then '{"isShare": true}'::jsonb else '{}' end order by n)
      from shown where not is_share or amount <> 0), '[]'),
    'totals', (
      select jsonb_build_object('net', coalesce(sum(net), 0), 'total', coalesce(sum(total), 0),
        'taxes', coalesce(jsonb_agg(jsonb_build_object('rate', rate, 'net', net, 'tax', total - net)
          order by rate)
          filter (where tax_status <> 'tax-free'), '[]'))
      from by_rate));
end;
comment on function erp.document_amounts(uuid, text, erp.document_part[]) is
  'What units of lines of an order are charged, all of them when there are no parts: prices without tax '
  'where the tax status is net. Discounts on the whole order go along with the units, by their share. '
  'Documents that have each unit once come to the cent to what the order does.';
grant execute on function erp.document_amounts(uuid, text, erp.document_part[]) to service_writer;
--! EndIncluded erp/document_amounts.sql

-- The total follows from the unrounded price, and so from the rate, which a generated column can't see
alter table erp.goods_receipt_line_item
  alter column total_price_in_default_currency drop expression if exists;
--! Included erp/keep_default_currency_price.sql
create or replace function erp.keep_default_currency_price() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  factor constant numeric := (
    select r.currency_factor from erp.goods_receipt r where r.id = new.goods_receipt_id
  );
begin
  if tg_op = 'INSERT' or new.unit_price is distinct from old.unit_price
    or new.goods_receipt_id is distinct from old.goods_receipt_id then
    new.unit_price_in_default_currency := erp.in_default_currency(new.unit_price, factor);
  end if;
  new.total_price_in_default_currency := case when new.unit_price_in_default_currency is not null
    then erp.amount_in_default_currency(new.unit_price * new.quantity, factor) end;
  return new;
end
$$;
comment on function erp.keep_default_currency_price() is
  'Trigger: gives a line of a goods receipt its unit price and its total in the default currency, by the '
  'factor of the receipt.';
--! EndIncluded erp/keep_default_currency_price.sql
drop trigger if exists keep_figures on erp.goods_receipt_line_item;
create trigger keep_figures
  before insert or update of unit_price, goods_receipt_id, quantity, unit_price_in_default_currency
  on erp.goods_receipt_line_item for each row execute function erp.keep_default_currency_price();
select api_meta.backfill('totals of goods receipts in the default currency', 'erp.goods_receipt_line_item',
  '{total_price_in_default_currency}',
  'erp.amount_in_default_currency(unit_price * quantity, (select r.currency_factor from erp.goods_receipt r '
  'where r.id = goods_receipt_id))',
  'unit_price_in_default_currency is not null and total_price_in_default_currency is distinct from '
  'erp.amount_in_default_currency(unit_price * quantity, (select r.currency_factor from erp.goods_receipt r '
  'where r.id = goods_receipt_id)) and (select r.currency_factor from erp.goods_receipt r '
  'where r.id = goods_receipt_id) is not null')
where exists (select from erp.goods_receipt_line_item l where l.total_price_in_default_currency is not null);

-- Documents
--! Included erp/reversed_amounts.sql
create or replace function erp.reversed_amounts(amounts jsonb) returns jsonb
language sql immutable
return jsonb_build_object(
  'lines', (
    select coalesce(jsonb_agg(line
      || jsonb_build_object(
        'unitPrice', - (line ->> 'unitPrice')::numeric, 'total', - (line ->> 'total')::numeric
      )
      order by n), '[]')
    from jsonb_array_elements(amounts -> 'lines') with ordinality v (line, n)),
  'totals', jsonb_build_object('net', - (amounts #>> '{totals,net}')::numeric, 'total',
    - (amounts #>> '{totals,total}')::numeric,
    'taxes', (
      select coalesce(jsonb_agg(jsonb_build_object('rate', tax -> 'rate', 'net', - (tax ->> 'net')::numeric,
        'tax', - (tax ->> 'tax')::numeric)
        order by n), '[]')
      from jsonb_array_elements(amounts #> '{totals,taxes}') with ordinality v (tax, n))),
  'taxInDefaultCurrency', (
    select t.own || jsonb_build_object('tax', - (t.own ->> 'tax')::numeric, 'taxes', (
      select jsonb_agg(jsonb_build_object('rate', tax -> 'rate', 'tax', - (tax ->> 'tax')::numeric)
        order by n)
      from jsonb_array_elements(t.own -> 'taxes') with ordinality v (tax, n)))
    from (select nullif(amounts -> 'taxInDefaultCurrency', 'null') as own) t
    where t.own is not null));
comment on function erp.reversed_amounts(jsonb) is
  'The lines and totals of a document, with every amount negative, at its exchange rate.';
grant execute on function erp.reversed_amounts(jsonb) to service_writer;
--! EndIncluded erp/reversed_amounts.sql
--! Included erp/tax_in_default_currency.sql
create or replace function erp.tax_in_default_currency(currency_id uuid, taxes jsonb, day date) returns jsonb
language sql stable
return (
  select jsonb_build_object(
    'currency', jsonb_build_object('isoCode', d.iso_code, 'symbol', d.symbol, 'position', d."position"),
    'exchangeRate', jsonb_build_object('factor', f.factor,
      'date', to_char(coalesce(f.reference_date at time zone 'UTC', day), 'YYYY-MM-DD'),
      'source', f.origin_source),
    'taxes', jsonb_agg(jsonb_build_object('rate', t.rate, 'tax', t.tax) order by t.n),
    'tax', sum(t.tax))
  from erp.currency d
  cross join erp.currency_factor_at(tax_in_default_currency.currency_id, day::timestamp at time zone 'UTC') f
  cross join lateral (
    select v.n, v.tax -> 'rate' as rate,
      erp.amount_in_default_currency((v.tax ->> 'tax')::numeric, f.factor) as tax
    from jsonb_array_elements(taxes) with ordinality v (tax, n)
  ) t
  where d.is_default_currency and d.id <> tax_in_default_currency.currency_id
  group by d.id, f.factor, f.reference_date, f.origin_source
);
comment on function erp.tax_in_default_currency(uuid, jsonb, date) is
  'The tax of a document in a foreign currency, by rates and altogether, in the default currency: that of '
  'the merchant''s country, in which invoices have to state it (Article 230 of Directive 2006/112/EC). With '
  'the exchange rate of the day and when it was published. Null in the default currency, and without tax.';
grant execute on function erp.tax_in_default_currency(uuid, jsonb, date) to service_writer;
--! EndIncluded erp/tax_in_default_currency.sql
--! Included erp/document_config.sql
create or replace function erp.document_config(order_id uuid, document_type text, document_number text,
  document_date date, locale text,
  referenced_number text default null, referenced_config jsonb default null,
    parts erp.document_part[] default null,
  fulfillments uuid[] default null) returns table (config jsonb)
language sql stable
begin atomic
  select jsonb_build_object(
    'documentType', document_type,
    'title', coalesce(t.name ->> locale, t.name ->> 'en-GB'),
    'documentNumber', document_number,
    'documentDate', to_char(document_date, 'YYYY-MM-DD'),
    'referencedDocumentNumber', referenced_number,
    'referencedDocumentDate', referenced_config -> 'documentDate',
    'locale', locale,
    'displayPrices', document_type <> 'delivery_note',
    'orderNumber', o.order_number,
    'orderDate', to_char(o.order_date_time at time zone 'UTC', 'YYYY-MM-DD'),
    'deliveryDate', y.delivery,
    'customerNumber', c.customer_number,
    'customerVatId', v.vat_id,
    'taxStatus', o.tax_status,
    'taxExemption', erp.tax_exemption(o.tax_status, v.destination, v.vat_id),
    'currency', jsonb_build_object('isoCode', u.iso_code, 'symbol', u.symbol, 'position', u.position),
    'shippingMethod', coalesce(s.name ->> locale, s.name ->> 'en-GB'),
    'paymentMethod', coalesce(p.name ->> locale, p.name ->> 'en-GB'),
    'billingAddress', o.billing_address,
    'shippingAddress', o.shipping_address,
    'sender', jsonb_build_object('name', coalesce(h.name ->> locale, h.name ->> 'en-GB', w.name),
      'address', coalesce(m.seller -> 'address', w.address)),
    'seller', m.seller
  ) || case
    when document_type = 'delivery_note' then erp.delivered_lines(document_config.order_id, fulfillments[1])
    when document_type not in ('credit_note', 'storno') then x.amounts
    -- The order may have changed since the invoice. A reversal repeats the invoice's data.
    when referenced_config ? 'lines' then erp.reversed_amounts(referenced_config)
      || jsonb_build_object('taxStatus', referenced_config -> 'taxStatus', 'currency',
        referenced_config -> 'currency',
        'taxExemption', referenced_config -> 'taxExemption', 'deliveryDate',
          referenced_config -> 'deliveryDate')
    else erp.reversed_amounts(x.amounts)
  end
  from erp.sales_order o
  join erp.currency u on u.id = o.currency_id
  join erp.document_type t on t.technical_name = document_type
  cross join lateral (select erp.seller(locale) as seller) m
  left join erp.customer c on c.id = o.customer_id
  cross join lateral (
    select d.destination, erp.vat_id_for(c.vat_ids, d.destination) as vat_id
    from (
      select coalesce(o.shipping_address ->> 'countryIso', o.billing_address ->> 'countryIso') as destination
    ) d
  ) v
  left join erp.sales_channel h on h.id = o.sales_channel_id
  left join erp.shipping_method s on s.id = o.shipping_method_id
  left join erp.payment_method p on p.id = o.payment_method_id
  left join erp.warehouse w on w.is_default
  cross join lateral (select erp.delivery_date(fulfillments, o.state, document_date) as delivery) y
  cross join erp.document_amounts(document_config.order_id, o.tax_status, parts) a
  cross join lateral (
    -- The tax is owed from the delivery on
    select a.amounts || jsonb_build_object('taxInDefaultCurrency', erp.tax_in_default_currency(
      o.currency_id, a.amounts #> '{totals,taxes}', coalesce((y.delivery ->> 'to')::date, document_date)
    )) as amounts
  ) x
  where o.id = document_config.order_id;
end;
comment on function
  erp.document_config(uuid, text, text, date, text, text, jsonb, erp.document_part[], uuid[]) is
  'All that a document of an order shows, as it is now: what a document keeps in its config and is '
  'rendered from (src/pdf/config.ts has the form). Credit notes and stornos also take the number '
  'and config of the invoice that they take back; invoices the units that they charge, if not all, and '
  'the shipments that brought them; delivery notes their shipment.';
grant execute on function erp.document_config(
  uuid, text, text, date, text, text, jsonb, erp.document_part[], uuid[]
)
  to service_writer;
--! EndIncluded erp/document_config.sql
drop function if exists erp.is_cancelled_invoice(uuid);
drop function if exists erp.create_reversal(uuid, text, uuid);
drop function if exists erp.create_invoice(uuid, boolean, text[]);
drop function if exists erp.billable_parts(uuid, boolean);
--! Included erp/reversal_of.sql
create or replace function erp.reversal_of(invoice_id uuid) returns text
language sql stable
return (
  select coalesce(d.document_number, d.id::text)
  from erp.document d join erp.document_type t on t.id = d.document_type_id
  where d.referenced_document_id = reversal_of.invoice_id and t.technical_name in ('credit_note', 'storno')
  order by d.id
  limit 1
);
comment on function erp.reversal_of(uuid) is
  'The number of the document that takes an invoice back, a credit note or storno; null when none does.';
grant execute on function erp.reversal_of(uuid) to service_writer;
--! EndIncluded erp/reversal_of.sql
--! Included erp/open_invoices.sql
create or replace function erp.open_invoices(order_id uuid) returns text[]
language sql stable
return array(
  select d.document_number
  from erp.document d join erp.document_type t on t.id = d.document_type_id
  where d.order_id = open_invoices.order_id and t.technical_name = 'invoice'
    and d.document_number is not null and erp.reversal_of(d.id) is null
  order by d.id
);
comment on function erp.open_invoices(uuid) is
  'The numbers of the invoices of an order that neither a storno nor a credit note has taken back.';
grant execute on function erp.open_invoices(uuid) to service_writer;
--! EndIncluded erp/open_invoices.sql
--! Included erp/standing_invoices.sql
create or replace function erp.standing_invoices(order_id uuid) returns jsonb
language sql stable
return (
  select coalesce(jsonb_agg(d.document_number order by d.id), '[]')
  from erp.document d join erp.invoice i on i.document_id = d.id
  where d.order_id = standing_invoices.order_id and i.cancellation_id is null
);
comment on function erp.standing_invoices(uuid) is
  'The numbers of the invoices of an order that no document has cancelled, as a JSON array.';
grant execute on function erp.standing_invoices(uuid) to service_writer;
--! EndIncluded erp/standing_invoices.sql
--! Included erp/charges_services.sql
create or replace function erp.charges_services(order_id uuid) returns boolean
language sql stable
return exists (
    select from erp.sales_order_line_item l
    where l.order_id = charges_services.order_id and l.type = 'product' and l.shipped_quantity > 0)
  or not exists (
    select from erp.sales_order_line_item l
    where l.order_id = charges_services.order_id and l.type = 'product')
  and exists (
    select from erp.sales_order o where o.id = charges_services.order_id and o.state <> 'cancelled');
comment on function erp.charges_services(uuid) is
  'Whether lines of an order that are no products may be charged, such as the costs of shipping: when some '
  'of its goods were shipped, or when it has none and was not cancelled.';
grant execute on function erp.charges_services(uuid) to service_writer;
--! EndIncluded erp/charges_services.sql
--! Included erp/newest_shipment.sql
create or replace function erp.newest_shipment(order_id uuid) returns uuid
language sql stable
return (
  select f.id
  from erp.fulfillment_order o
  join erp.fulfillment_order_fulfillment p on p.fulfillment_order_id = o.id
  join erp.fulfillment f on f.id = p.fulfillment_id and f.state = 'Fulfilled'
  where o.destination_order_id = newest_shipment.order_id
  order by f.created_at desc, f.id desc
  limit 1
);
comment on function erp.newest_shipment(uuid) is
  'The newest fulfillment of an order that was not cancelled; null when nothing was shipped.';
grant execute on function erp.newest_shipment(uuid) to service_writer;
--! EndIncluded erp/newest_shipment.sql
--! Included erp/billable_parts.sql
create or replace function erp.billable_parts(
  order_id uuid, only_shipped boolean, fulfillment_ids uuid[] default null
)
returns erp.document_part[]
language sql stable
return array(
  with
  named as (
    select a.destination_order_line_item_id as id, sum(i.quantity) as quantity
    from erp.fulfillment_line_item i
    join erp.fulfillment_order_line_item a on a.id = i.fulfillment_order_line_item_id
    where i.fulfillment_id = any (fulfillment_ids) group by a.destination_order_line_item_id
  ),
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.quantity,
      case
        when not only_shipped then l.quantity - l.invoiced_quantity
        when l.type = 'product' then least(l.shipped_quantity - l.invoiced_quantity,
          case when fulfillment_ids is not null
            then coalesce((select n.quantity from named n where n.id = l.id), 0) end)
        when erp.charges_services(billable_parts.order_id) then l.quantity - l.invoiced_quantity
      end as due
    from erp.sales_order_line_item l
    where l.order_id = billable_parts.order_id and (l.type = 'product' or l.tax_rate is not null
      -- Other lines without a rate are charged with those that have one, see erp.order_pieces
      or not exists (
        select from erp.sales_order_line_item r
        where r.order_id = billable_parts.order_id and r.tax_rate is not null
      ))
  ),
  gap as (
    select l.n, l.id, l.due, lower(g.units) as first_unit, upper(g.units) - lower(g.units) as quantity,
      sum(upper(g.units) - lower(g.units)) over (partition by l.id order by g.units) as upto
    from line l cross join lateral unnest(int4multirange(int4range(0, l.quantity)) - coalesce((
      select range_agg(int4range(i.first_unit, i.first_unit + i.quantity))
      from erp.invoice_line_item i join erp.invoice v on v.document_id = i.document_id
      where i.order_line_item_id = l.id and v.cancellation_id is null), '{}')) g (units)
    where l.due > 0
  )
  select row (g.id, g.first_unit, least(g.quantity, g.due - (g.upto - g.quantity)))::erp.document_part
  from gap g where g.due > g.upto - g.quantity order by g.n, g.first_unit);
comment on function erp.billable_parts(uuid, boolean, uuid[]) is
  'Units of lines of an order that no invoice charges: of products only those that were shipped, if '
  'that is wanted, by some fulfillments if they are named; of other lines, such as the costs of shipping, '
  'all, see erp.charges_services.';
grant execute on function erp.billable_parts(uuid, boolean, uuid[]) to service_writer;
--! EndIncluded erp/billable_parts.sql
--! Included erp/create_invoice.sql
create or replace function erp.create_invoice(
  order_id uuid, only_shipped boolean, field text[] default null, fulfillment_ids uuid[] default null
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  parts erp.document_part[];
  shipments uuid[];
  made uuid;
begin
  perform ledger.lock_orders(array[order_id]);
  parts := erp.billable_parts(order_id, only_shipped, fulfillment_ids);
  if cardinality(parts) = 0 then
    perform mutation.refuse('INVALID', case
      when not only_shipped then 'There is nothing of the order that has not been invoiced already.'
      when erp.charges_services(order_id) then 'All that was shipped has been invoiced already.'
      when (select o.state from erp.sales_order o where o.id = order_id) = 'cancelled'
        then 'The order is cancelled, and nothing of it was shipped.'
      else 'Nothing of the order has been shipped. Ship it first, by orderShipmentComplete or '
        'fulfillmentCreate.' end,
      field, jsonb_build_object('invoices', erp.standing_invoices(order_id)));
  end if;
  shipments := array(
    select distinct f.id
    from erp.fulfillment_order o
    join erp.fulfillment_order_fulfillment p on p.fulfillment_order_id = o.id
    join erp.fulfillment f on f.id = p.fulfillment_id and f.state = 'Fulfilled'
    where o.destination_order_id = create_invoice.order_id
      and (fulfillment_ids is null or f.id = any (fulfillment_ids)) and not exists (
      select from erp.document_fulfillment c join erp.invoice i on i.document_id = c.document_id
      where c.fulfillment_id = f.id and i.cancellation_id is null)
    order by f.id);
  made := erp.insert_document(order_id, 'invoice', null, parts, shipments);
  insert into erp.invoice (document_id) values (made);
  insert into erp.invoice_line_item (document_id, order_line_item_id, first_unit, quantity)
  select made, p.order_line_item_id, p.first_unit, p.quantity
  from unnest(parts) with ordinality p
  order by p.ordinality;
  if only_shipped then
    insert into erp.document_fulfillment (document_id, fulfillment_id) select made, s.id
    from unnest(shipments) s (id)
    order by s.id;
  end if;
  return made;
end
$$;
comment on function erp.create_invoice(uuid, boolean, text[], uuid[]) is
  'Makes an invoice over what no other charges of an order: of what was shipped, by some fulfillments if '
  'they are named, or of all. Cancelling one of the shipments cancels the invoice over them, too. User error '
  'INVALID when there is nothing to charge, or a line has no price.';
grant execute on function erp.create_invoice(uuid, boolean, text[], uuid[]) to service_writer;
--! EndIncluded erp/create_invoice.sql
--! Included erp/create_reversal.sql
create or replace function erp.create_reversal(
  order_id uuid, document_type text, invoice_id uuid, field text[] default null, id_field text[] default null
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  referenced erp.document;
  standing text[];
  reversal text;
begin
  perform ledger.lock_orders(array[order_id]);
  standing := erp.open_invoices(order_id);
  if invoice_id is null and cardinality(standing) > 1 then
    perform mutation.refuse('REQUIRED', 'The order has several invoices: name the one that is taken back.',
      id_field, jsonb_build_object('invoices', standing));
  end if;
  select d.* into referenced from erp.document d join erp.document_type t on t.id = d.document_type_id
  where d.order_id = create_reversal.order_id and t.technical_name = 'invoice'
    and d.document_number is not null and d.id = coalesce(create_reversal.invoice_id, d.id)
  order by d.document_number = any (standing) desc, d.id desc limit 1;
  if not found then
    perform mutation.refuse('INVALID', case when invoice_id is null then 'The order has no invoice.'
      else 'The order has no such invoice.' end, case when invoice_id is null then field else id_field end);
  end if;
  reversal := erp.reversal_of(referenced.id);
  if reversal is not null then
    perform mutation.refuse('INVALID',
      format('%s has taken back invoice %s already.', reversal, referenced.document_number),
      case when invoice_id is null then field else id_field end, jsonb_build_object('document', reversal));
  end if;
  return erp.insert_document(order_id, document_type, referenced, null, null);
end
$$;
comment on function erp.create_reversal(uuid, text, uuid, text[], text[]) is
  'Makes a credit note or storno of an invoice of an order, which may be left out when only one stands. A '
  'storno cancels it: what it charged can be invoiced again. A credit note gives the money back, and what it '
  'credits is not charged again. An invoice is taken back once. User errors INVALID, REQUIRED.';
grant execute on function erp.create_reversal(uuid, text, uuid, text[], text[]) to service_writer;
--! EndIncluded erp/create_reversal.sql
--! Included erp/create_document.sql
create or replace function erp.create_document(
  order_id uuid, document_type text, referenced_document_id uuid default null
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform from erp.sales_order o where o.id = create_document.order_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such order.');
  elsif referenced_document_id is not null and document_type not in ('credit_note', 'storno') then
    perform mutation.refuse('INVALID', 'Only credit notes and cancellations refer to another document.');
  end if;
  if document_type = 'invoice' then
    return erp.create_invoice(order_id, false);
  elsif document_type = 'delivery_note' then
    return erp.create_delivery_note(order_id, null);
  elsif document_type in ('credit_note', 'storno') then
    return erp.create_reversal(order_id, document_type, referenced_document_id);
  end if;
  perform mutation.refuse('INVALID', format('Documents of the type %s are not made here.', document_type));
end
$$;
comment on function erp.create_document(uuid, text, uuid) is
  'Makes an invoice, delivery_note, credit_note or storno of an order as a whole: an invoice over all '
  'that no other charges. Credit notes and stornos refer to an invoice of the order, which has to be '
  'named if several stand. User errors NOT_FOUND, INVALID, REQUIRED.';
grant execute on function erp.create_document(uuid, text, uuid) to service_writer;
--! EndIncluded erp/create_document.sql
--! Included erp/require_documents.sql
create or replace function erp.require_documents(documents text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  if coalesce(cardinality(documents), 0) = 0 then
    return;
  end if;
  select jsonb_agg(mutation.user_error(case when d.nth > 1 then 'NOT_UNIQUE' else 'INVALID' end,
    case
      when d.nth > 1 then 'This type is in the list already.'
      -- Goods that leave are charged; what takes an invoice back is no part of a shipment
      else format('A shipment has no document of the type %s, only an invoice and a delivery_note. '
        'Credit notes and cancellation invoices are made by documentCreate.', d.name) end,
    mutation.path('documents', d.position)) order by d.position)
  into errors
  from (
    select d.name, d.position, row_number() over (partition by d.name order by d.position) as nth
    from unnest(documents) with ordinality d (name, position)
  ) d
  where d.nth > 1 or d.name is null or d.name not in ('invoice', 'delivery_note');
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_documents(text[]) is
  'Refuses types of documents that a shipment cannot have, or that are there twice. User errors '
  'INVALID, NOT_UNIQUE.';
grant execute on function erp.require_documents(text[]) to service_writer;
--! EndIncluded erp/require_documents.sql
--! Included erp/create_documents.sql
create or replace function erp.create_documents(
  order_id uuid, documents text[], fulfillment_id uuid default null
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  shipment_id uuid := fulfillment_id;
  wanted record;
  made uuid[] := '{}';
begin
  if coalesce(cardinality(documents), 0) = 0 then
    return '{}';
  end if;
  if shipment_id is null then
    shipment_id := erp.newest_shipment(order_id);
  end if;
  -- In a fixed order, because number ranges are locked until the end
  perform from erp.number_range r join erp.document_type t on t.number_range = r.technical_name
  where t.technical_name = any (documents) order by r.technical_name for update of r;
  for wanted in select d.name,
    mutation.path(
      'documents', d.ordinality
    ) as field from unnest(documents) with ordinality d (name) order by d.ordinality loop
    made := made || case wanted.name
      when 'invoice' then erp.create_invoice(order_id, true, wanted.field)
      else erp.create_delivery_note(order_id, shipment_id) end;
  end loop;
  return made;
end
$$;
comment on function erp.create_documents(uuid, text[], uuid) is
  'Makes documents of the types that are named of a shipment of an order, the newest unless one is '
  'given: the delivery note lists what is in it, the invoice charges all that was shipped and that no '
  'other charges. The types are those of erp.require_documents. Answers their ids. User error INVALID.';
grant execute on function erp.create_documents(uuid, text[], uuid) to service_writer;
--! EndIncluded erp/create_documents.sql
--! Included erp/require_fulfillments.sql
create or replace function erp.require_fulfillments(order_id uuid, fulfillment_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  if cardinality(fulfillment_ids) = 0 then
    perform mutation.refuse('REQUIRED', 'Name a fulfillment, or leave the list out.', '{fulfillment_ids}');
  end if;
  perform mutation.refuse_too_many(cardinality(fulfillment_ids), 250, '{fulfillment_ids}');
  select jsonb_agg(mutation.user_error(f.code, f.message, mutation.path('fulfillment_ids', f.n)) order by f.n)
  into errors
  from (
    select n.n,
      case when n.nth > 1 then 'NOT_UNIQUE' when f.id is null then 'NOT_FOUND' else 'INVALID' end as code,
      case when n.nth > 1 then 'This fulfillment is in the list already.'
        when f.id is null then 'The order has no such fulfillment.'
        else 'The fulfillment has been cancelled.' end as message,
      f.state
    from (
      select u.id, u.n, row_number() over (partition by u.id order by u.n) as nth
      from unnest(fulfillment_ids) with ordinality u (id, n)
    ) n
    left join erp.fulfillment f on f.id = n.id and exists (
      select from erp.fulfillment_order_fulfillment p
      join erp.fulfillment_order o on o.id = p.fulfillment_order_id
      where p.fulfillment_id = f.id and o.destination_order_id = require_fulfillments.order_id)
    where n.nth > 1 or f.state is distinct from 'Fulfilled'
  ) f;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_fulfillments(uuid, uuid[]) is
  'Refuses ids that are no fulfillments of an order, or of cancelled ones. User errors REQUIRED, '
  'TOO_MANY_LINES, NOT_UNIQUE, NOT_FOUND, INVALID.';
grant execute on function erp.require_fulfillments(uuid, uuid[]) to service_writer;
--! EndIncluded erp/require_fulfillments.sql
--! Included erp/require_uninvoiced.sql
create or replace function erp.require_uninvoiced(fulfillment_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error('INVALID', format('Invoice %s charges it already.', d.document_number),
    mutation.path('fulfillment_ids', f.n), jsonb_build_object('invoices', array[d.document_number]))
    order by f.n, d.id)
  into errors
  from unnest(fulfillment_ids) with ordinality f (id, n)
  join erp.document_fulfillment c on c.fulfillment_id = f.id
  join erp.invoice i on i.document_id = c.document_id and i.cancellation_id is null
  join erp.document d on d.id = i.document_id;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_uninvoiced(uuid[]) is
  'Refuses fulfillments that an invoice charges which no document has cancelled. User error INVALID.';
grant execute on function erp.require_uninvoiced(uuid[]) to service_writer;
--! EndIncluded erp/require_uninvoiced.sql
--! Included erp/create_order_document.sql
create or replace function erp.create_order_document(
  order_id uuid, document_type text, fulfillment_ids uuid[], referenced_document_id uuid
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_reversal constant boolean := document_type in ('credit_note', 'storno');
  shipment_id uuid;
begin
  if document_type not in ('invoice', 'delivery_note', 'credit_note', 'storno') then
    perform mutation.refuse('INVALID',
      'The type is invoice, delivery_note, credit_note or storno: others are not made here.',
      '{document_type}');
  elsif is_reversal and fulfillment_ids is not null then
    perform mutation.refuse('INVALID', 'Credit notes and cancellations take back a whole invoice: name it by '
      'referencedDocumentId, or cancel the fulfillment.', '{fulfillment_ids}');
  elsif not is_reversal and referenced_document_id is not null then
    perform mutation.refuse('INVALID', 'Only credit notes and cancellations refer to another document.',
      '{referenced_document_id}');
  end if;
  perform ledger.lock_orders(array[order_id]);
  perform from erp.sales_order o where o.id = create_order_document.order_id;
  if not found then
    perform mutation.refuse_missing('order', '{order_id}');
  elsif is_reversal then
    return erp.create_reversal(order_id, document_type, referenced_document_id, '{document_type}',
      '{referenced_document_id}');
  elsif fulfillment_ids is not null then
    perform erp.require_fulfillments(order_id, fulfillment_ids);
  end if;
  if document_type = 'invoice' then
    perform erp.require_uninvoiced(fulfillment_ids);
    return erp.create_invoice(order_id, true, '{document_type}', fulfillment_ids);
  elsif cardinality(fulfillment_ids) > 1 then
    perform mutation.refuse('INVALID', 'A delivery note lists one parcel: make one for each fulfillment.',
      '{fulfillment_ids}');
  end if;
  shipment_id := coalesce(fulfillment_ids[1], erp.newest_shipment(order_id));
  if shipment_id is null then
    perform mutation.refuse('INVALID', 'Nothing of the order has been shipped. Ship it first, by '
      'orderShipmentComplete or fulfillmentCreate.', '{document_type}');
  end if;
  return erp.create_delivery_note(order_id, shipment_id);
end
$$;
comment on function erp.create_order_document(uuid, text, uuid[], uuid) is
  'Makes a document of what was shipped of an order: an invoice over what no other charges, of some '
  'fulfillments if they are named; a delivery note of a fulfillment, the newest if none is named; or a '
  'credit note or storno of an invoice. User errors NOT_FOUND, REQUIRED, INVALID, NOT_UNIQUE, '
  'TOO_MANY_LINES.';
select api_meta.plan_by_index('erp.create_order_document(uuid, text, uuid[], uuid)');
grant execute on function erp.create_order_document(uuid, text, uuid[], uuid) to service_writer;
--! EndIncluded erp/create_order_document.sql
select api_meta.allow('service_writer', 'erp.invoice_line_item', 'update (quantity)', 'delete');
--! Included erp/release_credited_units.sql
create or replace function erp.release_credited_units(invoice_id uuid, fulfillment_id uuid) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  with
  back as (
    select a.destination_order_line_item_id as id, sum(i.quantity) as quantity
    from erp.fulfillment_line_item i
    join erp.fulfillment_order_line_item a on a.id = i.fulfillment_order_line_item_id
    where i.fulfillment_id = release_credited_units.fulfillment_id group by a.destination_order_line_item_id
  ),
  -- The last units of each line
  kept as (
    select i.id, i.quantity, i.quantity - least(i.quantity, greatest(0, b.quantity
      - (sum(i.quantity) over (partition by i.order_line_item_id order by i.first_unit desc) - i.quantity)
    )) as left_over
    from erp.invoice_line_item i join back b on b.id = i.order_line_item_id
    where i.document_id = invoice_id
  ),
  gone as (delete from erp.invoice_line_item i using kept k where i.id = k.id and k.left_over = 0)
  update erp.invoice_line_item i set quantity = k.left_over
  from kept k where i.id = k.id and k.left_over between 1 and k.quantity - 1
$$;
comment on function erp.release_credited_units(uuid, uuid) is
  'Takes the units of a cancelled shipment out of an invoice that a credit note has taken back, so that '
  'they can be invoiced when they are shipped again. The rest of the invoice stays credited.';
grant execute on function erp.release_credited_units(uuid, uuid) to service_writer;
--! EndIncluded erp/release_credited_units.sql
--! Included erp/cancel_invoices_of.sql
create or replace function erp.cancel_invoices_of(fulfillment_id uuid) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cancelled record;
  left_over record;
  made uuid[] := '{}';
  replaced uuid[] := '{}';
begin
  for cancelled in
    select d.id, d.order_id, erp.reversal_of(d.id) is not null as is_credited
    from erp.document_fulfillment c
    join erp.invoice i on i.document_id = c.document_id and i.cancellation_id is null
    join erp.document d on d.id = i.document_id
    where c.fulfillment_id = cancel_invoices_of.fulfillment_id
    order by d.id
  loop
    if cancelled.is_credited then
      perform erp.release_credited_units(cancelled.id, fulfillment_id);
    else
      made := made || erp.create_reversal(cancelled.order_id, 'storno', cancelled.id);
      replaced := replaced || cancelled.id;
    end if;
  end loop;
  for left_over in
    select d.order_id, array_agg(f.id order by f.id) as fulfillments
    from erp.document d
    join erp.document_fulfillment o on o.document_id = d.id
    join erp.fulfillment f on f.id = o.fulfillment_id and f.state = 'Fulfilled'
    where d.id = any (replaced)
    group by d.order_id order by d.order_id
  loop
    if cardinality(erp.billable_parts(left_over.order_id, true, left_over.fulfillments)) > 0 then
      made := made || erp.create_invoice(left_over.order_id, true, null, left_over.fulfillments);
    end if;
  end loop;
  return made;
end
$$;
comment on function erp.cancel_invoices_of(uuid) is
  'Cancels the invoices over a shipment that was cancelled, each by a storno. What they charged of '
  'other shipments is charged by a new invoice. Of an invoice that was credited, only the units of the '
  'shipment can be invoiced again. Answers what was made.';
grant execute on function erp.cancel_invoices_of(uuid) to service_writer;
--! EndIncluded erp/cancel_invoices_of.sql
--! Included ledger/keep_cancellations.sql
create or replace function ledger.keep_cancellations() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from new_rows n
    join erp.document_type k on k.id = n.document_type_id and k.technical_name in ('credit_note', 'storno')
    join erp.document d on d.referenced_document_id = n.referenced_document_id
    join erp.document_type t on t.id = d.document_type_id and t.technical_name in ('credit_note', 'storno')
    group by n.referenced_document_id having count(distinct d.id) > 1
  ) then
    perform mutation.refuse('INVALID', 'The invoice has been taken back already.');
  end if;
  update erp.invoice i set cancellation_id = n.id
  from new_rows n join erp.document_type t on t.id = n.document_type_id and t.technical_name = 'storno'
  where i.document_id = n.referenced_document_id;
  return null;
end
$$;
comment on function ledger.keep_cancellations() is
  'Trigger after documents were inserted, by any writer: a storno cancels the invoice that it refers to. '
  'Either a storno or a credit note takes an invoice back, once. User error INVALID.';
select api_meta.give('ledger.keep_cancellations()', 'service_ledger');
--! EndIncluded ledger/keep_cancellations.sql
--! Included api/document_create.sql
drop type if exists api_unstable.document_create_payload cascade;
create type api_unstable.document_create_payload as (
  document uuid, "order" uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.document_create_payload is 'The document that was made.';
comment on column api_unstable.document_create_payload.document is
  E'@entity Document\nThe new document; null when it was refused.';
comment on column api_unstable.document_create_payload."order" is
  E'@entity Order\nThe order that it is about; null when it was refused.';
comment on column api_unstable.document_create_payload.user_errors is
  'Why nothing was made; empty when it was.';
comment on column api_unstable.document_create_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.document_create_input cascade;
create type api_unstable.document_create_input as (
  order_id uuid, document_type text, fulfillment_ids uuid[], referenced_document_id uuid
);
comment on type api_unstable.document_create_input is 'A document to make of an order.';
comment on column api_unstable.document_create_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.document_create_input.document_type is
  E'@notNull\nTechnical name of the type: invoice, delivery_note, credit_note or storno.';
comment on column api_unstable.document_create_input.fulfillment_ids is
  E'@gid Fulfillment\n'
  'Ids of the fulfillments that an invoice charges, 1 to 250, or of the one that a delivery note lists. Left '
  'out, the invoice charges all that was shipped and that no other invoice charges; the delivery note lists '
  'the newest fulfillment.';
comment on column api_unstable.document_create_input.referenced_document_id is
  E'@gid Document\n'
  'Id of the invoice that a credit_note or storno takes back. May be left out when only one is not taken '
  'back yet.';

create function api_unstable.document_create(input api_unstable.document_create_input)
returns api_unstable.document_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.create_order_document(
      input.order_id, input.document_type, input.fulfillment_ids, input.referenced_document_id
    ),
    input.order_id, null, null
  )::api_unstable.document_create_payload
$$;
comment on function api_unstable.document_create(api_unstable.document_create_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID NOT_UNIQUE TOO_MANY_LINES\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Makes a document of an order after it was shipped. An invoice charges what was shipped and what no other '
  'invoice charges; with the first go the lines that are no products, such as the costs of shipping. An '
  'order without goods is charged as it is. A storno cancels an invoice: what it charged can be invoiced '
  'again. A credit_note gives the money of an invoice back, and what it charged is not charged again. Each '
  'invoice is taken back once.';
--! EndIncluded api/document_create.sql

-- What has nothing left to ship is completed
drop function if exists erp.refuse_nothing_to_ship(uuid, text);
--! Included erp/is_all_shipped.sql
create or replace function erp.is_all_shipped(order_id uuid) returns boolean
language sql stable
return not exists (
    select from erp.sales_order_line_item l
    where l.order_id = is_all_shipped.order_id and l.type = 'product' and l.shipped_quantity < l.quantity)
  and not exists (
    select from erp.fulfillment_order f
    where f.destination_order_id = is_all_shipped.order_id and f.state in ('Open', 'InProgress', 'OnHold')
      and erp.has_open_lines(f.id));
comment on function erp.is_all_shipped(uuid) is
  'Whether nothing is left to ship of an order, as of one without goods.';
grant execute on function erp.is_all_shipped(uuid) to service_writer;
--! EndIncluded erp/is_all_shipped.sql
--! Included erp/settle_order.sql
create or replace function erp.settle_order(order_id uuid, tracking_codes text[] default '{}')
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present record;
  new_delivery_state text;
  new_state text;
begin
  select o.state, o.delivery_state, erp.is_all_shipped(o.id) as is_all_shipped
  into strict present from erp.sales_order o where o.id = order_id;
  -- An order without a delivery state gets one when something is shipped
  new_delivery_state := erp.next_state('order_delivery',
    case when present.is_all_shipped then 'ship' else 'ship_partially' end,
    coalesce(present.delivery_state, 'open'));
  new_state := present.state;
  if new_state <> 'in_progress' then
    new_state := erp.next_state('order', 'process', new_state);
  end if;
  if present.is_all_shipped then
    new_state := erp.next_state('order', 'complete', new_state);
  end if;
  if present.state not in ('open', 'in_progress') then
    -- A transition that was added: what the order reserves again follows by triggers
    update erp.sales_order o set state = new_state where o.id = order_id;
  end if;
  perform ledger.write_order_states(order_id, new_state, new_delivery_state, tracking_codes);
end
$$;
comment on function erp.settle_order(uuid, text[]) is
  'Brings the states of an order up to date after something of it was shipped, and adds codes to follow it '
  'by: it is in progress, and completed when nothing is left to ship. User error INVALID_STATE_TRANSITION.';
grant execute on function erp.settle_order(uuid, text[]) to service_writer;
--! EndIncluded erp/settle_order.sql
--! Included erp/require_all_shipped.sql
create or replace function erp.require_all_shipped(order_id uuid, state text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not erp.is_all_shipped(order_id) then
    perform mutation.refuse(
      'EXTERNALLY_MANAGED', 'What is left to ship is shipped by somebody else.', '{order_id}'
    );
  elsif not exists (
    select from erp.sales_order_line_item l where l.order_id = require_all_shipped.order_id
  ) then
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'The order has no lines: there is nothing to ship.',
      '{order_id}',
      jsonb_build_object('state', state, 'allowedActions', erp.allowed_actions('order', state)));
  end if;
end
$$;
comment on function erp.require_all_shipped(uuid, text) is
  'Refuses an order of which there is nothing to ship here, unless all of it is shipped. User errors '
  'EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION.';
grant execute on function erp.require_all_shipped(uuid, text) to service_writer;
--! EndIncluded erp/require_all_shipped.sql
--! Included erp/complete_shipment.sql
create or replace function erp.complete_shipment(order_id uuid, tracking_codes text[], documents text[],
  note text,
  warehouse_id uuid default null) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present record;
  picks ledger.pick[];
  assignments erp.assignment[];
  assigned uuid[] := '{}';
begin
  if cardinality(tracking_codes) > 0 then
    perform erp.require_tracking_codes(tracking_codes);
  end if;
  if cardinality(documents) > 0 then
    perform erp.require_documents(documents);
  end if;
  present := erp.lock_order_to_ship(order_id);
  if present.is_on_hold then
    perform mutation.refuse('ON_HOLD', 'A fulfillment order of the order is on hold.', '{order_id}');
  end if;

  perform from erp.location l where l.id = any (present.locations) order by l.id for key share;
  picks := erp.open_picks(order_id);
  assignments := erp.plan_uncovered(order_id, warehouse_id);
  if cardinality(picks) + cardinality(assignments) = 0 then
    perform erp.require_all_shipped(order_id, present.state);
    perform erp.settle_order(order_id, tracking_codes);
    return row (order_id, '{}', '{}', '{}', '{}')::erp.shipment;
  elsif exists (select from unnest(picks) p where p.warehouse_id is null and p.product_id is not null) then
    perform mutation.refuse('INVALID', 'A fulfillment order has no warehouse to ship from.', '{order_id}');
  end if;
  perform erp.lock_to_ship(picks, assignments);
  if cardinality(assignments) > 0 then
    assigned := erp.assign(order_id, assignments, true);
    picks := erp.open_picks(order_id);
  end if;
  return erp.ship(order_id, picks, assigned, tracking_codes, note);
end
$$;
comment on function erp.complete_shipment(uuid, text[], text[], text, uuid) is
  'Ships all that is open of an order: from the warehouses that it is assigned to, and what no open '
  'fulfillment order has from those of erp.plan_uncovered, for which a warehouse may be named. External '
  'fulfillment orders are left alone. An order that has nothing left to ship, as one of services, is only '
  'completed. Documents are only checked here. User errors NOT_FOUND, INVALID, '
  'NOT_UNIQUE, ON_HOLD, EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION, INSUFFICIENT_STOCK, OUT_OF_RANGE, '
  'TOO_MANY_LINES.';
select api_meta.plan_by_index('erp.complete_shipment(uuid, text[], text[], text, uuid)');
grant execute on function erp.complete_shipment(uuid, text[], text[], text, uuid) to service_writer;
--! EndIncluded erp/complete_shipment.sql
--! Included erp/cancel_order.sql
create or replace function erp.cancel_order(order_id uuid) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  wanted text;
  cancelled uuid[];
begin
  perform ledger.lock_orders(array[order_id], array(
    select f.id from erp.fulfillment_order f where f.destination_order_id = cancel_order.order_id));
  select * into present from erp.sales_order o where o.id = cancel_order.order_id;
  if not found then
    perform mutation.refuse_missing('order', '{id}');
  end if;
  wanted := erp.next_state('order', 'cancel', present.state);
  if exists (
    select from erp.sales_order_line_item l where l.order_id = present.id and l.shipped_quantity > 0
  ) then
    perform mutation.refuse('NOT_EDITABLE',
      'Something of the order is shipped. Cancel its fulfillments first.', '{id}');
  elsif cardinality(erp.open_invoices(present.id)) > 0 then
    perform mutation.refuse('NOT_EDITABLE',
      'The order is invoiced. Take its invoices back first, by documentCreate with the type storno.', '{id}',
      jsonb_build_object('invoices', erp.open_invoices(present.id)));
  end if;
  perform from erp.location l where l.id in (
    select f.source_warehouse_location_id from erp.fulfillment_order f
    where f.destination_order_id = present.id
  ) order by l.id for key share;
  perform ledger.lock_promises(present.id);
  with gone as (
    update erp.fulfillment_order f
    set state = erp.next_state('fulfillment_order', 'cancel', f.state), state_before_hold = null,
      hold_comment = null
    where f.destination_order_id = present.id and f.type <> 'ExternalToOrder'
      and f.state in ('Open', 'InProgress', 'OnHold')
    returning f.id
  )
  select coalesce(array_agg(g.id order by g.id), '{}') into cancelled from gone g;
  update erp.sales_order o
  set state = wanted, delivery_state = erp.next_state('order_delivery', 'cancel', o.delivery_state)
  where o.id = present.id and o.delivery_state is not null;
  update erp.sales_order o set state = wanted where o.id = present.id and o.state <> wanted;
  return row (present.id, '{}', cancelled, '{}', '{}')::erp.shipment;
end
$$;
comment on function erp.cancel_order(uuid) is
  'Cancels an order of which nothing is shipped or charged, and its open fulfillment orders, so that nothing '
  'is reserved for it any more. What is fulfilled externally is left alone. User errors NOT_FOUND, '
  'INVALID_STATE_TRANSITION, NOT_EDITABLE.';
grant execute on function erp.cancel_order(uuid) to service_writer;
--! EndIncluded erp/cancel_order.sql
--! Included api/order_cancel.sql
drop type if exists api_unstable.order_cancel_input cascade;
drop type if exists api_unstable.order_cancel_payload cascade;

create type api_unstable.order_cancel_input as (id uuid);
comment on type api_unstable.order_cancel_input is 'An order to cancel.';
comment on column api_unstable.order_cancel_input.id is E'@notNull\n@gid Order\nId of the order.';

create type api_unstable.order_cancel_payload as (
  "order" uuid, fulfillment_orders uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.order_cancel_payload is 'What cancelling an order answers.';
comment on column api_unstable.order_cancel_payload."order" is
  E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_unstable.order_cancel_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\nThe fulfillment orders that were cancelled with it.';
comment on column api_unstable.order_cancel_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create function api_unstable.order_cancel(input api_unstable.order_cancel_input)
returns api_unstable.order_cancel_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (d.order_id, d.fulfillment_orders, null)::api_unstable.order_cancel_payload
  from erp.cancel_order(input.id) d
$$;
comment on function api_unstable.order_cancel(api_unstable.order_cancel_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION NOT_EDITABLE\n'
  'Cancels an open order, or one in progress, of which nothing is shipped and no invoice is left, and its '
  'open fulfillment orders. Its units are no longer reserved. What is fulfilled externally is left alone.';
--! EndIncluded api/order_cancel.sql
--! Included api/order_shipment_complete.sql
drop type if exists api_unstable.order_shipment_complete_payload cascade;
create type api_unstable.order_shipment_complete_payload as (
  "order" uuid, fulfillments uuid[], fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.order_shipment_complete_payload is 'What shipping an order answers.';
comment on column api_unstable.order_shipment_complete_payload."order" is
  E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_unstable.order_shipment_complete_payload.fulfillments is
  E'@entity Fulfillment\nThe record of what was shipped.';
comment on column api_unstable.order_shipment_complete_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\n'
  'The fulfillment orders that were fulfilled, those that were made for the purpose included.';
comment on column api_unstable.order_shipment_complete_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order, in the order in which they were picked.';
comment on column api_unstable.order_shipment_complete_payload.documents is
  E'@entity Document\n'
  '@perLine documents\n'
  'The documents that were made, in the order in which they were asked for.';
comment on column api_unstable.order_shipment_complete_payload.user_errors is
  'Why nothing was shipped; empty when all was.';
comment on column api_unstable.order_shipment_complete_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.order_shipment_complete_input cascade;
create type api_unstable.order_shipment_complete_input as (
  order_id uuid, warehouse_id uuid, tracking_codes text[], documents text[], comment text
);
comment on type api_unstable.order_shipment_complete_input is 'An order to ship.';
comment on column api_unstable.order_shipment_complete_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.order_shipment_complete_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that ships what no open fulfillment order has. Left out, it is the default '
  'warehouse; and what was called off there, by cancelling a fulfillment order, is shipped by another '
  'warehouse that has all of it.';
comment on column api_unstable.order_shipment_complete_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.order_shipment_complete_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges. Others, and what was shipped '
  'without, are made by documentCreate.';
comment on column api_unstable.order_shipment_complete_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.order_shipment_complete(input api_unstable.order_shipment_complete_input)
returns api_unstable.order_shipment_complete_payload
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  done constant erp.shipment := erp.complete_shipment(
    input.order_id, input.tracking_codes, input.documents, input.comment, input.warehouse_id
  );
begin
  return row (done.order_id, done.fulfillments, done.fulfillment_orders, done.stock_movements,
    erp.create_documents(done.order_id, input.documents, done.fulfillments[1]),
    null, null)::api_unstable.order_shipment_complete_payload;
end
$$;
comment on function api_unstable.order_shipment_complete(api_unstable.order_shipment_complete_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES INVALID_STATE_TRANSITION ON_HOLD '
  'EXTERNALLY_MANAGED INSUFFICIENT_STOCK OVER_FULFILLMENT BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Ships everything that is still open of an order: its open fulfillment orders, each from the warehouse '
  'of its location, and what no open fulfillment order has from the warehouse that is named, or else from '
  'the default warehouse. Units that were cancelled there are shipped by another warehouse that has all of '
  'them. Units are picked from the bins by position, then by code, and last from stock without a bin; of '
  'products that are kept in batches, the oldest batch first. Books them out by the process api_shipping, '
  'records the fulfillment, closes the fulfillment orders, and brings the states of the order up to date. '
  'What is fulfilled externally is left alone. All of it is shipped, or nothing. An order that has nothing '
  'left to ship, as one of services alone, is only completed.';
--! EndIncluded api/order_shipment_complete.sql
--! Included api/fulfillment_create.sql
drop type if exists api_unstable.fulfillment_create_payload cascade;
create type api_unstable.fulfillment_create_payload as (
  fulfillment uuid, fulfillment_order uuid, stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_create_payload is 'What shipping from a fulfillment order answers.';
comment on column api_unstable.fulfillment_create_payload.fulfillment is
  E'@entity Fulfillment\nThe record of what was shipped; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.fulfillment_order is
  E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order: first those from places that were named, then those '
  'that were picked.';
comment on column api_unstable.fulfillment_create_payload.documents is
  E'@entity Document\nThe documents that were made, in the order in which they were asked for.';
comment on column api_unstable.fulfillment_create_payload.user_errors is
  'Why nothing was shipped; empty when it was.';
comment on column api_unstable.fulfillment_create_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.fulfillment_create_input cascade;
drop type if exists api_unstable.fulfillment_create_line_input cascade;
drop type if exists api_unstable.fulfillment_create_place_input cascade;
create type api_unstable.fulfillment_create_place_input
  as (place api_unstable.stock_place_input, quantity integer, batch_id uuid);
comment on type api_unstable.fulfillment_create_place_input is 'Units that are taken from a place.';
comment on column api_unstable.fulfillment_create_place_input.place is
  E'@notNull\nWhere they lie: the warehouse of the fulfillment order, or one of its bins.';
comment on column api_unstable.fulfillment_create_place_input.quantity is E'@notNull\nHow many; at least 1.';
comment on column api_unstable.fulfillment_create_place_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';

create type api_unstable.fulfillment_create_line_input as (
  fulfillment_order_line_item_id uuid, quantity integer, places api_unstable.fulfillment_create_place_input[]
);
comment on type api_unstable.fulfillment_create_line_input is 'Units of one line that are shipped.';
comment on column api_unstable.fulfillment_create_line_input.fulfillment_order_line_item_id is
  E'@notNull\n@gid FulfillmentOrderLineItem\nId of the line of the fulfillment order.';
comment on column api_unstable.fulfillment_create_line_input.quantity is
  E'@notNull\nHow many; at least 1, and no more than are open.';
comment on column api_unstable.fulfillment_create_line_input.places is
  'Where the units are taken from, the whole quantity. Left out, they are picked: the bins by their '
  'position, then by code, and at last what lies in no bin; of products that are kept in batches, the '
  'oldest batch first.';

create type api_unstable.fulfillment_create_input as (
  fulfillment_order_id uuid, lines api_unstable.fulfillment_create_line_input[], tracking_codes text[],
    documents text[], comment text
);
comment on type api_unstable.fulfillment_create_input is 'What of a fulfillment order is shipped.';
comment on column api_unstable.fulfillment_create_input.fulfillment_order_id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_unstable.fulfillment_create_input.lines is
  '1 to 250 lines, each of another line of the fulfillment order. Left out, all that is open is shipped.';
comment on column api_unstable.fulfillment_create_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.fulfillment_create_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges. Others, and what was shipped '
  'without, are made by documentCreate.';
comment on column api_unstable.fulfillment_create_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_create(input api_unstable.fulfillment_create_input)
returns api_unstable.fulfillment_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders[1], s.stock_movements,
    erp.create_documents(s.order_id, input.documents, s.fulfillments[1]),
    null, null)::api_unstable.fulfillment_create_payload
  from erp.create_fulfillment(
    input.fulfillment_order_id,
    case when input.lines is not null then array(
      select row (l.fulfillment_order_line_item_id, l.quantity)::erp.shipping_line
      from unnest(input.lines) with ordinality l
      order by l.ordinality
    ) end,
    array(
      select row (
        l.ordinality, p.ordinality, (p.place).warehouse_id, (p.place).bin_location_id, p.quantity, p.batch_id
      )::erp.shipping_place
      from unnest(input.lines) with ordinality l
      cross join unnest(l.places) with ordinality p
      order by l.ordinality, p.ordinality
    ),
    input.tracking_codes, input.comment, input.documents
  ) s
$$;
comment on function api_unstable.fulfillment_create(api_unstable.fulfillment_create_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION OVER_FULFILLMENT '
  'INSUFFICIENT_STOCK REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH '
  'BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Ships a part of a fulfillment order, or all that is open of it. Books the units out by the process '
  'api_shipping and records the fulfillment. The fulfillment order is in progress then, and closed when '
  'nothing is open any more; the states of the order follow.';
--! EndIncluded api/fulfillment_create.sql
--! Included api/fulfillment_cancel.sql
drop type if exists api_unstable.fulfillment_cancel_payload cascade;
create type api_unstable.fulfillment_cancel_payload as (
  fulfillment uuid, fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_cancel_payload is 'What cancelling a fulfillment answers.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment is
  E'@entity Fulfillment\nThe fulfillment as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\nThe fulfillment orders whose quantities are open again.';
comment on column api_unstable.fulfillment_cancel_payload.stock_movements is
  E'@entity StockMovement\nThe movements that brought the units back.';
comment on column api_unstable.fulfillment_cancel_payload.documents is
  E'@entity Document\n'
  'The cancellation of the invoice over the fulfillment, and a new invoice over what else it charged; '
  'empty when it was not invoiced.';
comment on column api_unstable.fulfillment_cancel_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.fulfillment_cancel_payload.warnings is
  'What to look at, although it was done; empty when there is nothing.';

drop type if exists api_unstable.fulfillment_cancel_input cascade;
create type api_unstable.fulfillment_cancel_input as (id uuid, comment text);
comment on type api_unstable.fulfillment_cancel_input is 'A fulfillment to cancel.';
comment on column api_unstable.fulfillment_cancel_input.id is
  E'@notNull\n@gid Fulfillment\nId of the fulfillment.';
comment on column api_unstable.fulfillment_cancel_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_cancel(input api_unstable.fulfillment_cancel_input)
returns api_unstable.fulfillment_cancel_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders, s.stock_movements, s.documents,
    null, null)::api_unstable.fulfillment_cancel_payload
  from erp.cancel_fulfillment(input.id, input.comment) s
$$;
comment on function api_unstable.fulfillment_cancel(api_unstable.fulfillment_cancel_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION INVALID INSUFFICIENT_STOCK '
  'BATCH_REQUIRED OUT_OF_RANGE\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Cancels a fulfillment: books its units back to where they came from, by the process '
  'cancelled_fulfillment, or to the warehouse when a bin is gone. Its quantities are open again, closed '
  'fulfillment orders too, and the states of the order go back. Tracking codes stay. An invoice over it '
  'is cancelled by a document of its own (storno); what it charged of other parcels is charged by a new '
  'invoice. An invoice that a credit note has taken back needs none.';
--! EndIncluded api/fulfillment_cancel.sql

-- Actions of clients
alter table erp.state_transition add column if not exists mutation text;
comment on column erp.state_transition.mutation is
  'The mutation by which clients do it, by the name of its function, such as order_cancel. Null where it '
  'only follows from something else, or nothing does it: then refusals do not offer it.';
update erp.state_transition t set mutation = m.mutation
from (values
  ('goods_receipt', 'create', 'goods_receipt_update'), ('goods_receipt', 'withdraw', 'goods_receipt_update'),
  ('goods_receipt', 'approve', 'goods_receipt_approve'), ('goods_receipt', 'start', 'goods_receipt_start'),
  ('goods_receipt', 'complete', 'goods_receipt_complete'),
  ('order', 'process', 'order_shipment_complete'), ('order', 'complete', 'order_shipment_complete'),
  ('order', 'cancel', 'order_cancel'),
  ('order_delivery', 'ship_partially', 'fulfillment_create'),
  ('order_delivery', 'ship', 'order_shipment_complete'), ('order_delivery', 'cancel', 'order_cancel'),
  ('fulfillment_order', 'start', 'fulfillment_order_start'),
  ('fulfillment_order', 'hold', 'fulfillment_order_hold'),
  ('fulfillment_order', 'release_hold', 'fulfillment_order_release_hold'),
  ('fulfillment_order', 'close', 'fulfillment_create'),
  ('fulfillment_order', 'cancel', 'fulfillment_order_cancel'),
  ('fulfillment', 'cancel', 'fulfillment_cancel'),
  ('supplier_order', 'send', 'supplier_order_send'), ('supplier_order', 'confirm', 'supplier_order_confirm'),
  ('supplier_order', 'complete', 'supplier_order_complete'),
  ('supplier_order', 'cancel', 'supplier_order_cancel')
) m (machine, action, mutation)
where t.machine = m.machine and t.action = m.action and t.mutation is null;
--! Included erp/allowed_actions.sql
create or replace function erp.allowed_actions(machine text, state text) returns jsonb
language sql stable
return (select coalesce(jsonb_agg(t.action order by t.action), '[]') from erp.state_transition t
  where t.machine = allowed_actions.machine and t.from_state = allowed_actions.state
    and t.mutation is not null);
comment on function erp.allowed_actions(text, text) is
  'The actions that clients can do in a state, because a mutation does them by erp.state_transition, as a '
  'JSON array.';
grant execute on function erp.allowed_actions(text, text) to service_writer;
--! EndIncluded erp/allowed_actions.sql
--! Included erp/next_state.sql
create or replace function erp.next_state(machine text, action text, state text) returns text
-- For different roles Postgres would plan its statement anew at each turn
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  result text;
begin
  select t.to_state into result from erp.state_transition t
  where t.machine = next_state.machine and t.action = next_state.action and t.from_state = state;
  if not found then
    perform mutation.refuse('INVALID_STATE_TRANSITION',
      format('In state %s this cannot be done: %s.', state, action), null, jsonb_build_object(
      'state', state, 'allowedActions', erp.allowed_actions(machine, state)));
  end if;
  return result;
end
$$;
comment on function erp.next_state(text, text, text) is
  'The state that an action leads to, by erp.state_transition. User error INVALID_STATE_TRANSITION, '
  'with the state and the actions that it allows.';
select api_meta.give('erp.next_state(text, text, text)', 'service_writer');
grant execute on function erp.next_state(text, text, text) to service_booker;
--! EndIncluded erp/next_state.sql

--! split: 70-messages.sql
-- Refusals that say what to do instead.

--! Included ledger/require_picked.sql
create or replace function ledger.require_picked(picks ledger.pick[], found_units ledger.pick[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  -- Usually there are enough
  if (select sum(w.quantity) from unnest(picks) w where w.place is null and w.product_id is not null)
    is not distinct from (select sum(f.quantity) from unnest(found_units) f) then
    return;
  end if;
  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
    format(
      'Warehouse %s holds %s units of product %s to be picked, %s are needed.', w.code, t.available,
      p.product_number, t.requested
    )
    || case when e.units > 0
      then format(' Other warehouses hold %s: assign units to them by fulfillmentOrderCreate.', e.units)
      else '' end,
    picks[t.line].field,
    jsonb_build_object(
      'available', t.available, 'requested', t.requested, 'productNumber', p.product_number
    )) order by t.line)
  into errors
  from (
    select r.product_id, r.warehouse_id, sum(r.requested) as requested, sum(r.available) as available,
      min(r.line) filter (where r.available < r.requested) as line
    from (
      select w.ordinality as line, w.product_id, w.warehouse_id, w.quantity as requested,
        coalesce(
          (select sum(f.quantity) from unnest(found_units) f where f.line_id = w.line_id), 0
        ) as available
      from unnest(picks) with ordinality w where w.place is null and w.product_id is not null
    ) r group by r.product_id, r.warehouse_id having sum(r.available) < sum(r.requested)
  ) t join erp.product p on p.id = t.product_id join erp.warehouse w on w.id = t.warehouse_id
  cross join lateral (
    select coalesce(sum(s.quantity), 0) as units from ledger.warehouse_stock s
    where s.product_id = t.product_id and s.warehouse_id <> t.warehouse_id
  ) e;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_picked(ledger.pick[], ledger.pick[]) is
  'Refuses picks for which not enough units were found. User error INSUFFICIENT_STOCK.';
grant execute on function ledger.require_picked(ledger.pick[], ledger.pick[]) to service_ledger;
--! EndIncluded ledger/require_picked.sql
--! Included erp/faults_of_orders_named.sql
create or replace function erp.faults_of_orders_named(receipt erp.goods_receipt,
  lines erp.goods_receipt_line[])
returns table (line bigint, code text, message text, field text)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select l.ordinality, 'INVALID', 'Only receipts of type Supplier name supplier orders.',
    case when l.supplier_order_id is null then 'supplier_order_line_item_id' else 'supplier_order_id' end
  from unnest(lines) with ordinality l
  where (receipt).type <> 'Supplier'
    and num_nonnulls(l.supplier_order_id, l.supplier_order_line_item_id) > 0
  union all
  select l.ordinality, 'NOT_FOUND', 'There is no such line of a supplier order with this product.',
    'supplier_order_line_item_id'
  from unnest(lines) with ordinality l
  where l.supplier_order_line_item_id is not null and not exists (
    select from erp.supplier_order_line_item i where i.id = l.supplier_order_line_item_id
      and i.product_id = l.product_id)
  union all
  select l.ordinality, 'NOT_FOUND', 'The supplier order has no line with this product. '
    'Goods that were not ordered are a line without a supplier order.',
    'supplier_order_id'
  from unnest(lines) with ordinality l
  where (receipt).type = 'Supplier' and l.supplier_order_id is not null
    and l.supplier_order_line_item_id is null
    and not exists (
      select from erp.supplier_order_line_item i where i.supplier_order_id = l.supplier_order_id
        and i.product_id = l.product_id)
  union all
  select l.ordinality, 'INVALID', 'The line is of another supplier order.', 'supplier_order_id'
  from unnest(lines) with ordinality l join erp.supplier_order_line_item i
    on i.id = l.supplier_order_line_item_id
  where l.supplier_order_id <> i.supplier_order_id;
end;
comment on function erp.faults_of_orders_named(erp.goods_receipt, erp.goods_receipt_line[]) is
  'What is wrong with the supplier orders that lines of a goods receipt name: number of the line, code, '
  'sentence and column.';
grant execute on function erp.faults_of_orders_named(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/faults_of_orders_named.sql
--! Included mutation/match_rows.sql
create or replace function mutation.match_rows(
  relation regclass, list text, given jsonb, keys text[], matches text[]
)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named constant text := format('jsonb_array_elements($1) with ordinality e (value, line) '
    'cross join lateral jsonb_populate_record(null::%s, e.value) r', relation);
  found constant text := mutation.match_of(relation, matches, '$2');
  leaving uuid[] := '{}';
  result mutation.upsert_row[];
begin
  if coalesce(jsonb_array_length(given), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'There must be at least one row.', array[list]);
  end if;
  perform mutation.refuse_too_many(jsonb_array_length(given), 250, array[list]);
  -- Rows that are named by their id, and get another key: the one that they have is free
  execute format('select array(select g.id from (select (e ->> %L)::uuid as id, e from '
    'jsonb_array_elements($1) e where e ?| $2) g where (select %s from %s o where o.id = g.id))', 'id',
    (select string_agg(format('g.e ? %1$L and o.%1$I is distinct from g.e ->> %1$L', k), ' or ')
      from unnest(keys) k), relation)
  into leaving using given, keys;
  execute format('select from %s t where t.id = any (array(select %s from %s)) order by t.id '
    'for no key update', relation, found, named) using given, leaving;
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
        when not c.is_named then jsonb_build_array(mutation.user_error('REQUIRED', $4,
          mutation.path($3, c.line)))
        when c.given_id is not null and c.id is null then jsonb_build_array(mutation.user_error('NOT_FOUND',
          $5, mutation.path($3, c.line, 'id')))
        when c.id is not null and c.nth > 1 then jsonb_build_array(mutation.user_error('NOT_UNIQUE',
          'An earlier row is about the same one.', mutation.path($3, c.line)))
      end)::mutation.upsert_row order by c.line)
    from counted c
    $q$, relation, found, named, mutation.defaults_of(relation),
    (select string_agg(format('r.%I', k), ', ') from unnest(keys) k))
  into result
  using given, leaving, list, format('A row is known by one of these: id, %s.',
      (select string_agg(lower(left(c.camel, 1)) || substr(c.camel, 2), ', ' order by k.n)
        from unnest(keys) with ordinality k (name, n)
        cross join lateral (select replace(initcap(replace(k.name, '_', ' ')), ' ', '')) c (camel))),
    format('There is no such %s.', mutation.thing(relation));
  return result;
end
$$;
comment on function mutation.match_rows(regclass, text, jsonb, text[], text[]) is
  'The rows of an upsert into a table, each with the row that it is about: the one with its id, else the '
  'first that a match finds, a condition on a row o of the table and the given row r, unless another row of '
  'the call names that one by its id, and gives it another key. What was left out stays as it is, or gets '
  'its default. Locks what is there, by id. Keys are the columns by which a row can be known '
  'instead of its id. User errors REQUIRED and TOO_MANY_LINES; rows are refused with REQUIRED, NOT_FOUND and '
  'NOT_UNIQUE.';
grant execute on function mutation.match_rows(regclass, text, jsonb, text[], text[]) to service_writer;
--! EndIncluded mutation/match_rows.sql
--! Included events/require_settings.sql
create or replace function events.require_settings(subscription events.webhook_subscription) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  known constant text[] := array(
    select f.name from events.topic t
    join events.occasion o on o.topic = t.name and o.operation = 'update'
    join events.field f on f.subject_type = t.subject_type
      and f.column_name <> all ('{id,created_at,updated_at}')
    where t.name = subscription.topic order by f.position);
  unknown constant text[] := array(select unnest(subscription.fields) except select unnest(known) order by 1);
begin
  if to_regnamespace('api_' || replace(subscription.api_version, '-', '_')) is null
    or subscription.api_version !~ '^(unstable|\d[\w-]*)$' then
    perform mutation.refuse('INVALID', 'There is no such version of the API.', '{api_version}');
  elsif subscription.fields = '{}' then
    perform mutation.refuse(
      'INVALID', 'Name fields, or leave them out to be told of every change.', '{fields}'
    );
  elsif unknown <> '{}' then
    perform mutation.refuse('INVALID',
      format(
        'Events of the topic %s tell of no changes of %s.', subscription.topic, array_to_string(unknown, ', ')
      ),
        '{fields}',
      jsonb_build_object('fields', known));
  elsif erp.is_blank(subscription.payload_query) then
    perform mutation.refuse('INVALID', 'The query is empty.', '{payload_query}');
  elsif subscription.payload_query is not null
    and not auth.may_send(events.caller(), subscription.payload_query) then
    perform mutation.refuse('INVALID',
      'The token may send stored operations only, and this query is not stored for it.', '{payload_query}');
  elsif subscription.url ~ '^https?://' and events.is_forbidden_host(events.host_of(subscription.url)) then
    perform mutation.refuse(
      'URL_FORBIDDEN', 'Nothing is sent to this host: it is none of the public internet. '
      'Who runs the service can allow it by the setting WEBHOOK_ALLOW.', '{url}'
    );
  end if;
end
$$;
comment on function events.require_settings(events.webhook_subscription) is
  'Checks what was entered about a subscription, beyond its constraints. User errors INVALID, URL_FORBIDDEN.';
grant execute on function events.require_settings(events.webhook_subscription) to service_writer;
--! EndIncluded events/require_settings.sql

-- A quantity below nothing is refused as that, whatever has been shipped
alter table erp.sales_order_line_item
  drop constraint if exists order_line_item_ships_no_more_than_ordered;
alter table erp.sales_order_line_item add constraint order_line_item_ships_no_more_than_ordered
  check (shipped_quantity >= 0 and shipped_quantity <= greatest(quantity, 0)) not enforced;
comment on constraint order_line_item_ships_no_more_than_ordered on erp.sales_order_line_item is
  E'@userError OVER_FULFILLMENT\nMore of a line would be shipped than was ordered.';

-- Products that get variants while they are in stock themselves
--! Included erp/upsert_products.sql
create or replace function erp.with_parents(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- The parent may come in the same call, and numbers are those after it
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('parent_id', coalesce(
      (
        select r.id from unnest(rows) r
        where r.wanted ->> 'product_number' = u.given ->> 'parent_product_number' limit 1
      ),
      (
        select o.id from erp.product o
        where o.product_number = u.given ->> 'parent_product_number'
          and o.id <> all (array(select r.id from unnest(rows) r))
      )
    )))
    from unnest(rows) u where u.given ? 'parent_product_number'
  ));
end;
comment on function erp.with_parents(mutation.upsert_row[]) is
  'The rows of an upsert of products with the ids of parents that they name by number.';
grant execute on function erp.with_parents(mutation.upsert_row[]) to service_writer;

create or replace function erp.with_storefront_variants(rows mutation.upsert_row[])
returns mutation.upsert_row[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  -- Clients are promised both keys. What is no list of objects is refused
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('storefront_variants', (
      select coalesce(jsonb_agg('{"variantId": null}' || e.entry order by e.n), '[]')
      from jsonb_array_elements(u.given -> 'storefront_variants') with ordinality e (entry, n)
    )))
    from unnest(rows) u
    where jsonb_typeof(u.given -> 'storefront_variants') = 'array'
      and not u.given @? '$.storefront_variants[*] ? (@.type() != "object")'
  ));
end;
comment on function erp.with_storefront_variants(mutation.upsert_row[]) is
  'The rows of an upsert of products with a variantId, null when it is left out, in each entry of '
  'storefront_variants.';
grant execute on function erp.with_storefront_variants(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_products(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with product as (
    select u.line, u.id, u.given, u.present, (u.wanted ->> 'parent_id')::uuid as parent_id,
      case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end as field,
      (u.wanted ->> 'is_batch_managed')::boolean as is_batch_managed
    from unnest(rows) u
  ),
  -- What stands for variants after the call
  parent as (
    select p.parent_id as id from product p
    union
    select v.parent_id
    from erp.product v
    where v.parent_id = any (array(select p.id from product p))
      and v.id <> all (array(select p.id from product p))
  )
  select array_agg(row (f.line, f.code, f.message, array[f.field], f.details)::mutation.row_fault)
  from (
    select p.line, 'NOT_FOUND', 'There is no product of this number.', p.field, null::jsonb
    from product p where p.given ->> 'parent_product_number' is not null and p.parent_id is null
    union all
    select p.line, 'INVALID', 'A product that stands for its variants is no variant itself.', p.field, null
    from product p where p.parent_id <> p.id and p.id in (select x.id from parent x)
    union all
    select p.line, 'INVALID', 'The parent is a variant itself.', p.field, null
    from product p join erp.product o on o.id = p.parent_id
    where o.parent_id is not null and o.id <> all (array(select x.id from product x))
    union all
    select p.line, 'NOT_EDITABLE', 'This can change only while there is no stock.',
      'is_batch_managed', jsonb_build_object('quantity', p.present -> 'physical_stock')
    from product p
    where p.is_batch_managed is distinct from (p.present ->> 'is_batch_managed')::boolean
      and (p.present ->> 'physical_stock')::int > 0
    union all
    select p.line, 'INVALID', 'Each entry has a productId, perhaps a variantId, and nothing else.',
      'storefront_variants', null
    from product p
    where erp.are_storefront_variants(p.given -> 'storefront_variants') and p.given @? ('strict '
      || '$.storefront_variants[*].keyvalue() ? (@.key != "productId" && @.key != "variantId" '
      || '|| @.value == "")')::jsonpath
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_products(mutation.upsert_row[]) is
  'What is wrong with rows of an upsert of products beyond the rules of the table: variants of variants, '
  'batches that begin while there is stock, and other keys of storefront_variants than clients are promised.';
grant execute on function erp.faults_of_products(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_orphans(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, 'NOT_FOUND', 'The row of its parent is refused.',
    array[case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end],
    null)::mutation.row_fault)
  from unnest(rows) u
  join unnest(rows) p on p.id = (u.wanted ->> 'parent_id')::uuid and p.errors is not null
    and (p.is_new or p.present ->> 'product_number' <> u.given ->> 'parent_product_number')
  where u.errors is null;
end;
comment on function erp.faults_of_orphans(mutation.upsert_row[]) is
  'Refuses rows of an upsert of products whose parent, or its number, comes of a row that is refused.';
grant execute on function erp.faults_of_orphans(mutation.upsert_row[]) to service_writer;

create or replace function erp.warnings_of_parents(rows mutation.upsert_row[]) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(mutation.user_error('PRODUCT_HAS_VARIANTS',
    format('Product %s only stands for its variants now: %s units of it in stock cannot be sold, and open '
      'orders promise %s.', p.product_number, p.physical_stock, p.reserved_stock),
    mutation.path('products', f.line, f.field), jsonb_build_object('productNumber', p.product_number,
      'physicalStock', p.physical_stock, 'reservedStock', p.reserved_stock)) order by f.line)
  from (
    select (u.wanted ->> 'parent_id')::uuid as id, min(u.line) as line,
      min(case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end)
        as field
    from unnest(rows) u
    where u.errors is null and u.wanted ->> 'parent_id' is distinct from u.present ->> 'parent_id'
    group by 1
  ) f
  join erp.product p on p.id = f.id
  where p.physical_stock > 0 or p.reserved_stock > 0;
end;
comment on function erp.warnings_of_parents(mutation.upsert_row[]) is
  'Warns of products that get variants while they are in stock or on open orders themselves.';
grant execute on function erp.warnings_of_parents(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_products(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.product_number = r.product_number}';
  rows mutation.upsert_row[];
  refused integer;
begin
  rows := erp.with_storefront_variants(erp.with_translations(erp.with_parents(
    mutation.match_rows('erp.product', 'products', given, '{product_number}', matches))));
  rows := mutation.with_faults(rows, 'products', mutation.row_faults('erp.product', rows, matches)
    || erp.faults_of_products(rows) || erp.faults_of_prices(rows, 'price')
    || erp.faults_of_prices(rows, 'purchase_prices') || erp.faults_of_translations(rows)
    || erp.faults_of_images(rows) || erp.faults_of_tags(rows));
  loop
    refused := (select count(*) from unnest(rows) u where u.errors is not null);
    rows := mutation.with_faults(rows, 'products', erp.faults_of_orphans(rows));
    rows := mutation.with_faults_of_taken_keys('erp.product', rows, 'products', partial);
    exit when refused = (select count(*) from unnest(rows) u where u.errors is not null);
  end loop;
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.product', rows);
  perform mutation.warn(erp.warnings_of_parents(rows));
  rows := mutation.with_changes(rows, erp.set_prices('erp.product_price', rows, 'price')
    || erp.set_prices('erp.product_purchase_price', rows, 'purchase_prices') || erp.set_images(rows));
  return mutation.with_changes(rows, erp.set_tags('erp.product_tag', 'product_id', rows));
end
$$;
comment on function erp.upsert_products(jsonb, boolean) is
  'Makes and changes products, with their prices, images and tags: the objects of the list, fields named as '
  'columns. Answers what became of each.';
grant execute on function erp.upsert_products(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_products.sql
--! Included api/warning_code.sql
do $$
begin
  if to_regtype('api_unstable.warning_code') is null then
    create type api_unstable.warning_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.warning_code',
  'OTHER', 'COUNT_SUPERSEDED', 'STOCK_PROMISED', 'PRODUCT_HAS_VARIANTS', 'SURPLUS', 'ORDER_CANCELLED',
  'PRICE_CONVERTED', 'DOCUMENT_INCOMPLETE');
comment on type api_unstable.warning_code is
  E'@value OTHER Something that this version has no code for; the message says what.\n'
  '@value COUNT_SUPERSEDED A count was kept and changes nothing, for there is a later one. Field '
  'details has its countedAt and quantity.\n'
  '@value STOCK_PROMISED Units were booked out that orders are waiting for. Field details has the '
  'productId, what is reserved, and what is available now: less than nothing; and the warehouseId when '
  'only that warehouse is short.\n'
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants, and its stock cannot be sold. '
  'After productsUpsert, field details has its number, stock and reserved stock.\n'
  '@value SURPLUS More comes in than the supplier order has open, or goes back than it received. When '
  'the receipt is completed, the rest becomes a line without an order. Field details has the quantity, '
  'the product, the order and then the line.\n'
  '@value ORDER_CANCELLED The supplier order is cancelled. When the receipt is completed, what comes in '
  'of it becomes a line without an order. Field details is that of SURPLUS.\n'
  '@value PRICE_CONVERTED Prices of a supplier order were taken in another currency, by the known '
  'rates. Field details names the order and both currencies.\n'
  '@value DOCUMENT_INCOMPLETE A document was made that lacks something the law asks for. Field details '
  'names it in missing, for example merchant.vatId, and the documentNumber.\n'
  'What a mutation tells although it was done. A version never shows codes that it does not list: later '
  'ones appear as OTHER.';
--! EndIncluded api/warning_code.sql
--! Included api/products_upsert.sql
drop type if exists api_unstable.products_upsert_input cascade;
drop type if exists api_unstable.product_upsert_input cascade;
drop type if exists api_unstable.product_price_input cascade;
drop type if exists api_unstable.products_upsert_payload cascade;
drop type if exists api_unstable.product_upsert_image_input cascade;
drop type if exists api_unstable.product_upsert_image_translation_input cascade;
drop type if exists api_unstable.product_upsert_translation_input cascade;

create type api_unstable.product_price_input
  as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type api_unstable.product_price_input is 'A price in one currency.';
comment on column api_unstable.product_price_input.currency_id is
  E'@notNull\n@gid Currency\nId of the currency.';
comment on column api_unstable.product_price_input.net is E'@notNull\nAmount without tax; not negative.';
comment on column api_unstable.product_price_input.gross is E'@notNull\nAmount with tax; not negative.';
comment on column api_unstable.product_price_input.linked is
  'Whether one of the amounts follows from the other by the tax rate. True when left out.';

create type api_unstable.product_upsert_translation_input as (locale text, name text, description text);
comment on type api_unstable.product_upsert_translation_input is
  'Texts of a product in another language. Without a text it counts as left out.';
comment on column api_unstable.product_upsert_translation_input.locale is
  E'@notNull\nThe language, perhaps with script and region: de, de-AT, zh-Hant-TW.';
comment on column api_unstable.product_upsert_translation_input.name is
  'Name of the product; at most 255 characters.';
comment on column api_unstable.product_upsert_translation_input.description is
  'Text that describes the product to buyers.';

create type api_unstable.product_upsert_image_translation_input as (locale text, alt_text text);
comment on type api_unstable.product_upsert_image_translation_input is
  'The alternative text of an image in another language. Without a text it counts as left out.';
comment on column api_unstable.product_upsert_image_translation_input.locale is
  E'@notNull\nThe language, perhaps with script and region: de, de-AT, zh-Hant-TW.';
comment on column api_unstable.product_upsert_image_translation_input.alt_text is
  'What the image shows; at most 1000 characters.';

create type api_unstable.product_upsert_image_input
  as (url text, alt_text text, translations api_unstable.product_upsert_image_translation_input[]);
comment on type api_unstable.product_upsert_image_input is 'An image of a product.';
comment on column api_unstable.product_upsert_image_input.url is
  E'@notNull\n'
  'Address of the image, which begins with https:// or http://; at most 2048 characters, without a user. '
  'It is kept, and not fetched.';
comment on column api_unstable.product_upsert_image_input.alt_text is
  'What the image shows, for those who can''t see it; at most 1000 characters.';
comment on column api_unstable.product_upsert_image_input.translations is
  'The alternative text in other languages, each of them once; at most 250.';

create type api_unstable.product_upsert_input as (
  id uuid, product_number text, parent_id uuid, parent_product_number text, canonical_product_id uuid,
  name text, description text, gtin text, manufacturer_number text, tax_rate numeric,
  is_batch_managed boolean, reorder_point integer, target_maximum_quantity integer,
  storefront_variants jsonb, price api_unstable.product_price_input[],
  purchase_prices api_unstable.product_price_input[], tags text[],
  translations api_unstable.product_upsert_translation_input[],
  images api_unstable.product_upsert_image_input[]
);
comment on type api_unstable.product_upsert_input is
  'A product as it is to be. What is left out stays as it is; null empties it.';
comment on column api_unstable.product_upsert_input.id is
  E'@gid Product\nId of the product. Without it, the product is known by its number.';
comment on column api_unstable.product_upsert_input.product_number is
  'Stock keeping unit (SKU), unique; 1 to 255 characters. Beside an id it is the number that the product '
  'gets.';
comment on column api_unstable.product_upsert_input.parent_id is
  E'@gid Product\nId of the product that this one is a variant of.';
comment on column api_unstable.product_upsert_input.parent_product_number is
  'Number of the product that this one is a variant of, instead of its id. It may be a row of the same call, '
  'before or after this one.';
comment on column api_unstable.product_upsert_input.canonical_product_id is
  E'@gid Product\nId of the product that stands for this one where only one is shown.';
comment on column api_unstable.product_upsert_input.name is 'Name of the product.';
comment on column api_unstable.product_upsert_input.description is
  'Text that describes the product to buyers.';
comment on column api_unstable.product_upsert_input.gtin is
  'Global Trade Item Number (EAN, UPC); at most 255 characters.';
comment on column api_unstable.product_upsert_input.manufacturer_number is
  'Number that the manufacturer gave the product; at most 255 characters.';
comment on column api_unstable.product_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100. 19 when left out of a new product.';
comment on column api_unstable.product_upsert_input.is_batch_managed is
  'Whether every movement of the product must name batches. It can''t change while there is stock.';
comment on column api_unstable.product_upsert_input.reorder_point is
  'Stock, over all warehouses, at which the product is to be ordered again; not negative.';
comment on column api_unstable.product_upsert_input.target_maximum_quantity is
  'Stock to fill up to when the product is ordered again; not negative.';
comment on column api_unstable.product_upsert_input.storefront_variants is
  'Counterparts in the external storefront platform: a list of objects with productId and variantId.';
comment on column api_unstable.product_upsert_input.price is
  'Sales prices, one per currency. They take the place of all present ones.';
comment on column api_unstable.product_upsert_input.purchase_prices is
  'Purchase prices, one per currency. They take the place of all present ones, also of the default '
  'supplier''s '
  'while that is paid in the default currency.';
comment on column api_unstable.product_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';
comment on column api_unstable.product_upsert_input.translations is
  'Name and description in other languages, each of them once, which take the place of all present ones; at '
  'most 250.';
comment on column api_unstable.product_upsert_input.images is
  'Images in their order, each address once, which take the place of all present ones; at most 250.';

create type api_unstable.products_upsert_input
  as (products api_unstable.product_upsert_input[], partial boolean);
comment on type api_unstable.products_upsert_input is 'Products as they are to be.';
comment on column api_unstable.products_upsert_input.products is E'@notNull\nThe products; 1 to 250 rows.';
comment on column api_unstable.products_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or none.';

create type api_unstable.products_upsert_payload as (
  results api_unstable.upsert_result[], products uuid[], user_errors api_unstable.user_error[],
  warnings api_unstable.warning[]
);
comment on type api_unstable.products_upsert_payload is 'What an upsert of products answers.';
comment on column api_unstable.products_upsert_payload.results is
  E'@resultOf Product\nWhat became of each row, in their order; empty when all were refused together.';
comment on column api_unstable.products_upsert_payload.products is
  E'@entity Product\n@perLine products\nThe products of the rows that were not refused, in their order.';
comment on column api_unstable.products_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';
comment on column api_unstable.products_upsert_payload.warnings is
  'What should be known of what was done.';

create function api_unstable.products_upsert(input api_unstable.products_upsert_input, changes jsonb)
returns api_unstable.products_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids,
    null, null
  )::api_unstable.products_upsert_payload
  from mutation.upserted(erp.upsert_products(changes -> 'products', input.partial)) d
$$;
comment on function api_unstable.products_upsert(api_unstable.products_upsert_input, jsonb) is
  E'@requiresScopes products:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE TOO_MANY_LINES\n'
  '@warnings PRODUCT_HAS_VARIANTS\n'
  'Makes products and changes those that are there, known by their id or number: with prices, translations, '
  'images, tags, and variants. Rows that say nothing new change nothing.';
--! EndIncluded api/products_upsert.sql
