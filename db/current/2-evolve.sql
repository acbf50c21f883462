-- Columns that background work fills in batches
drop table if exists api_meta.backfill cascade;
create table api_meta.backfill (
  name text primary key,
  relation regclass not null,
  columns name[] not null,
  expression text not null,
  condition text not null,
  position text[],
  batch_rows integer not null default 100,
  is_stuck boolean not null default false,
  rows_seen bigint not null default 0,
  rows_filled bigint not null default 0,
  declared_at timestamptz not null default clock_timestamp(),
  worked_at timestamptz,
  ended_at timestamptz,
  failure text
);
alter table api_meta.backfill enable row level security;
comment on table api_meta.backfill is
  'What background work fills, or has filled, in batches: declared by migrations, by api_meta.backfill().';
comment on column api_meta.backfill.columns is 'The columns to fill.';
comment on column api_meta.backfill.expression is
  'SQL for their values, out of the other columns of the row.';
comment on column api_meta.backfill.condition is 'SQL for the rows that still need it.';
comment on column api_meta.backfill.position is
  'The primary key up to which all rows are done, as texts; null at the beginning.';
comment on column api_meta.backfill.batch_rows is
  'Rows of the next batch, by the time that the last one took.';
comment on column api_meta.backfill.is_stuck is
  'The next row is locked by others: it is waited for, alone, instead of being passed over.';
comment on column api_meta.backfill.failure is 'Why the last batch failed; null when it did not.';
--!include api_meta/backfill_progress.sql
--!include api_meta/fill_statement.sql
--!include api_meta/fill_batch.sql
--!include api_meta/fill_next_batch.sql
--!include api_meta/backfill.sql
--!include api_meta/require_backfilled.sql
grant usage on schema api_meta to service_worker;

-- A constraint that has not been validated promises clients nothing
--!include api_meta/is_never_null.sql
--!include api_meta/view_column_source.sql

-- What is told in better words, or not done in silence
--!include api_meta/grant_reads.sql
--!include events/require_fields.sql
--!include api_meta/finish_migration.sql
--!include events/derive_scopes.sql
--!include api_meta/derive.sql
