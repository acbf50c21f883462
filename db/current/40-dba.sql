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
--!include api_meta/table_column.sql
--!include api_meta/view_targets.sql
--!include api_meta/view_origins.sql
--!include api_meta/promise_ground.sql
--!include api_meta/record_promises.sql
--!include api_meta/record_version.sql
--!include api_meta/version_faults.sql
--!include api_meta/require_frozen_versions.sql
select api_meta.record_promises(name) from api_meta.frozen_version;
--!include mutation/broken_rule.sql
