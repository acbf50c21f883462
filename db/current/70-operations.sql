-- Which operations credentials send, how often, and how long their statements take
drop function if exists administration.operations(text);
drop view if exists auth.operation_overview;
drop table if exists auth.operation_use;
drop table if exists auth.operation;
create table auth.operation (
  id text primary key,
  version text not null,
  name text,
  document text not null,
  statement text,
  slowest_ms double precision not null,
  slowest_on date not null
);
alter table auth.operation enable row level security;
comment on table auth.operation is
  'Operations that credentials sent in the last 14 days: one for all that differ only in names, aliases and '
  'values.';
comment on column auth.operation.id is
  '16 hexadecimal digits, as in the comments of its statements and the application_name of its transactions.';
comment on column auth.operation.name is 'What a client calls it.';
comment on column auth.operation.document is 'Its text without names, aliases and values.';
comment on column auth.operation.statement is
  'Its slowest statement, with parameters instead of values; null when that is very long.';
comment on column auth.operation.slowest_ms is 'Milliseconds that this statement took.';
create table auth.operation_use (
  credential_id uuid not null references auth.credential on delete cascade,
  day date not null,
  operation_id text not null references auth.operation on delete cascade,
  requests bigint not null,
  ms double precision not null,
  slowest_ms double precision not null,
  primary key (credential_id, day, operation_id)
);
create index operation_use_operation_id_idx on auth.operation_use (operation_id);
alter table auth.operation_use enable row level security;
comment on table auth.operation_use is 'How often credentials sent operations, by day of UTC.';
comment on column auth.operation_use.ms is 'Milliseconds that their statements took in all.';
comment on column auth.operation_use.slowest_ms is 'Milliseconds of the slowest statement.';
select api_meta.allow('service_registrar', 'auth.operation', 'select', 'insert',
  'update (name, statement, slowest_ms, slowest_on)', 'delete');
select api_meta.allow('service_registrar', 'auth.operation_use', 'select', 'insert',
  'update (requests, ms, slowest_ms)', 'delete');
--!include auth/record_operations.sql
--!include auth/prune_operations.sql
--!include auth/operation_overview.sql
--!include administration/operations.sql
--!include administration/operation_senders.sql
