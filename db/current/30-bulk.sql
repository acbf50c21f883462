-- Many rows at once, as background work
drop view if exists api_unstable.bulk_operations cascade;
drop type if exists api_unstable.bulk_operation_state cascade;
drop type if exists api_unstable.bulk_operation_kind cascade;
drop schema if exists bulk cascade;
create schema bulk;
comment on schema bulk is
  'Files of many rows on their way in and out, which background work reads and writes.';
grant usage on schema bulk to service_writer, service_worker;
select api_meta.expose('bulk');

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
alter table bulk.operation enable row level security;
create unique index operation_idempotency_key_is_unique on bulk.operation (credential_id, idempotency_key)
where idempotency_key is not null;
create index on bulk.operation (created_at);
create index on bulk.operation (id) where state in ('uploading', 'queued', 'running');
comment on index bulk.operation_id_idx is 'For those that have not ended: who begins next.';
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
-- Others see nothing of it, whatever their scopes
create policy operation_of_caller on bulk.operation as restrictive for select to service_api
using (credential_id = (select nullif(current_setting('service.credential_id', true), '')::uuid));

create table bulk.chunk (
  operation_id uuid not null references bulk.operation on delete cascade,
  number integer not null,
  content bytea not null,
  primary key (operation_id, number)
);
alter table bulk.chunk enable row level security;
-- The content is compressed already
alter table bulk.chunk alter column content set storage external;
comment on table bulk.chunk is
  'A part of the file of a bulk operation, compressed: rows that are yet to be taken in, or lines of '
  'a result.';

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

select api_meta.allow('service_writer', 'bulk.operation', 'select', 'insert', 'update', 'delete');
select api_meta.allow('service_writer', 'bulk.chunk', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'bulk.refusal', 'select', 'insert', 'delete');

--!include api/bulk_operation_state.sql
--!include api/bulk_operations.sql
--!include bulk/scopes_of.sql
--!include bulk/begin_upload.sql
--!include bulk/add_chunk.sql
--!include bulk/end_upload.sql
--!include bulk/take.sql
--!include bulk/read_chunk.sql
--!include bulk/upsert.sql
--!include bulk/import_chunk.sql
--!include bulk/finish.sql
--!include bulk/cancel.sql
--!include bulk/open_errors.sql
--!include bulk/prune.sql
--!include bulk/run_export.sql
--!include bulk/begin_result.sql
--!include bulk/add_result.sql
--!include bulk/renew.sql
--!include bulk/open_result.sql
--!include api/bulk_operation_cancel.sql
--!include api/bulk_operation_run.sql
--!include events/topics.sql
