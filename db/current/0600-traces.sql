-- A bulk operation belongs to the trace of the request that has asked for it
alter table bulk.operation drop column if exists traceparent;
alter table bulk.operation add column traceparent text;
comment on column bulk.operation.traceparent is
  'The trace of the request that has asked for it; null when it was not traced.';
comment on column events.event.traceparent is
  'The trace of the request that has caused it, for the webhooks that tell of it: traceparent and, behind a '
  'space, tracestate. Null when it was not traced.';
drop function if exists bulk.begin_upload(uuid, text[], text, text, text, uuid);
drop function if exists bulk.take(uuid, integer, integer);
drop function if exists
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer);
--!include bulk/begin_upload.sql
--!include bulk/take.sql
--!include bulk/run_export.sql
--!include bulk/import_chunk.sql
