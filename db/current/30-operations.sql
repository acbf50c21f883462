drop function if exists auth.active_scopes(text);
drop view if exists auth.stored_operation_overview cascade;
drop table if exists auth.stored_operation cascade;

create table auth.stored_operation (
  version text not null constraint stored_operation_has_a_version check (version <> ''),
  sha256 bytea not null constraint stored_operation_hash_has_32_bytes check (octet_length(sha256) = 32),
  credential_id uuid references auth.credential on delete cascade,
  name text not null
    constraint stored_operation_name_has_1_to_200_characters check (length(name) between 1 and 200),
  document text not null
    constraint stored_operation_has_at_most_65536_bytes check (octet_length(document) between 1 and 65536),
  published_at timestamptz(0) not null default date_trunc('second', now()),
  constraint stored_operation_is_stored_once unique nulls not distinct (sha256, version, credential_id)
);
create index on auth.stored_operation (credential_id);
alter table auth.stored_operation enable row level security;
comment on table auth.stored_operation is
  'Operations that were published for clients: they may be sent by the SHA-256 of their document alone.';
comment on column auth.stored_operation.sha256 is 'Of the document, in UTF-8.';
comment on column auth.stored_operation.credential_id is 'Who may send it; null: every credential.';
comment on column auth.stored_operation.name is 'What the document or the manifest calls it.';
create policy stored_operation_select_registrar on auth.stored_operation
  for select to service_registrar using (true);
grant select on table auth.stored_operation to service_registrar;
create trigger stored_operation_announces_changes after insert or update or delete or truncate
  on auth.stored_operation for each statement execute function auth.announce_credential_change();

alter table auth.credential drop column if exists stored_operations_only cascade;
alter table auth.credential add column stored_operations_only boolean not null default false;
comment on column auth.credential.stored_operations_only is
  'Whether its tokens may send operations of auth.stored_operation only.';
grant update (stored_operations_only) on table auth.credential to service_registrar;
drop trigger if exists credential_announces_changes on auth.credential;
create trigger credential_announces_changes
  after delete or update of scopes, deactivated_at, stored_operations_only or truncate
  on auth.credential for each statement execute function auth.announce_credential_change();

--!include auth/active_scopes.sql
--!include auth/credential_overview.sql
--!include auth/stored_operations.sql
--!include auth/stored_document.sql
--!include auth/publish_operations.sql
--!include auth/remove_operations.sql
--!include auth/stored_operation_overview.sql
--!include auth/restrict_operations.sql
--!include administration/credentials.sql
--!include administration/restrict_operations.sql
--!include administration/stored_operations.sql
