-- A credential may have an end of its own
alter table auth.credential add column if not exists expires_at timestamptz(0);
comment on column auth.credential.expires_at is
  'When it and its tokens end; null when it has no end.';
drop index if exists auth.credential_expires_at_idx;
create index credential_expires_at_idx on auth.credential (expires_at) where expires_at is not null;
comment on index auth.credential_expires_at_idx is 'For auth.prune_credentials.';
select api_meta.allow('service_registrar', 'auth.credential', 'update (expires_at)');
drop trigger if exists credential_announces_changes on auth.credential;
create trigger credential_announces_changes
  after update of scopes, deactivated_at, stored_operations_only, expires_at or delete or truncate
  on auth.credential for each statement execute function auth.announce_credential_change();

--!include auth/credential_overview.sql
--!include auth/active_scopes.sql
--!include auth/authenticate_credential.sql
--!include auth/activate_credential.sql
--!include auth/rotate_credential.sql
--!include auth/limit_credential.sql
--!include auth/prune_credentials.sql
--!include administration/limit_credential.sql
--!include bulk/scopes_of.sql
--!include events/scopes_of_subscription.sql

-- Those for the explorer had a second key, without an end, whose secret nobody has
update auth.credential set expires_at = rotated_at + interval '1 hour'
where expires_at is null and name like 'Explorer of %' and uuid_extract_version(id) = 8;

--!include api_meta/index_tag.sql
