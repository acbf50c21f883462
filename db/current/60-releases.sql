-- From here on each migration derives in its own transaction what follows from it, and leaves frozen versions
-- as they were released: a trigger of the list of migrations finishes it.
--!include functions/api_meta/own.sql
--!include functions/api_meta/view_tags.sql
--!include functions/api_meta/grant_reads.sql

create table if not exists api_meta.frozen_version (
  name name primary key,
  postgres integer not null,
  recorded_at timestamptz not null default now()
);
comment on table api_meta.frozen_version is
  'The frozen versions of the API of which it was recorded what they consist of.';
comment on column api_meta.frozen_version.name is 'The schema that holds the version.';
comment on column api_meta.frozen_version.postgres is
  'The major version of Postgres whose spelling the hashes of queries and bodies have.';
alter table api_meta.frozen_version enable row level security;

create table if not exists api_meta.frozen_part (
  version name not null references api_meta.frozen_version on delete cascade,
  kind text not null,
  name text not null,
  parent text,
  definition text not null,
  tree text,
  primary key (version, kind, name)
);
comment on table api_meta.frozen_part is
  'What each frozen version consisted of when it was recorded, as api_meta.current_parts tells it.';
comment on column api_meta.frozen_part.parent is
  'The view, type or function that it belongs to; null for these themselves.';
comment on column api_meta.frozen_part.tree is
  'For queries and bodies: a hash of how Postgres keeps them, which renaming a table does not change.';
alter table api_meta.frozen_part enable row level security;

--!include functions/api_meta/version_part.sql
--!include functions/api_meta/finish_migration.sql
--!include functions/api_meta/freeze.sql

create or replace trigger finish after insert on graphile_migrate.migrations
  for each row execute function api_meta.finish_committed_migration();

select api_meta.derive();
select api_meta.record_version('api_2026_06_unstable');
