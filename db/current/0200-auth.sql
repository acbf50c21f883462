-- Who may ask: API credentials with their secrets, the keys that sign access tokens, and the functions that
-- decide about scopes. No role may read these tables; what the service needs goes through the functions here.

drop view if exists auth.credential_overview;
drop table if exists auth.credential_secret, auth.credential, auth.signing_key cascade;

--!include auth/has_scope.sql
--!include auth/known_scopes.sql
--!include auth/is_scope_list.sql

create table auth.credential (
  id uuid primary key default uuidv7(),
  name text not null constraint credential_name_has_1_to_100_characters check (length(btrim(name)) between 1 and 100),
  scopes text[] not null constraint credential_scopes_are_scopes check (auth.is_scope_list(scopes)),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  last_used_at timestamptz(0),
  rotated_at timestamptz(0),
  deactivated_at timestamptz(0)
);
alter table auth.credential enable row level security;
comment on table auth.credential is
  'What an administrator made for one client of the API: a name and the scopes of its tokens. Its key and secret are auth.credential_secret.';
comment on column auth.credential.name is 'What the client is called in lists and in the log.';
comment on column auth.credential.scopes is 'Scopes of its tokens, for example {products:read,stocks:read,stocks:write}. A write scope comes with its read scope.';
comment on column auth.credential.last_used_at is 'When it was last exchanged for a token, to the minute.';
comment on column auth.credential.rotated_at is 'When its present key and secret took the place of older ones; null while it has its first.';
comment on column auth.credential.deactivated_at is 'Since when it and its tokens are refused; null while it works.';

create table auth.credential_secret (
  access_key text collate "C" primary key constraint credential_secret_access_key_is_printable check (access_key ~ '^[A-Za-z0-9_-]{16,64}$'),
  credential_id uuid not null references auth.credential on delete cascade,
  secret_hash bytea not null constraint credential_secret_hash_has_32_bytes check (octet_length(secret_hash) = 32),
  created_at timestamptz(0) not null default date_trunc('second', now())
);
create index credential_secret_credential_id_idx on auth.credential_secret (credential_id);
alter table auth.credential_secret enable row level security;
comment on table auth.credential_secret is
  'Pairs of access key and secret by which a credential is proved. A table of its own, so that after a rotation an old pair could overlap with the new one.';
comment on column auth.credential_secret.access_key is 'The client_id of the token endpoint. Safe to log.';
comment on column auth.credential_secret.secret_hash is
  'SHA-256 of the secret. The secret has 256 random bits, so a slow hash would protect it no better.';

create table auth.signing_key (
  id uuid primary key default uuidv7(),
  secret bytea not null constraint signing_key_secret_has_32_bytes check (octet_length(secret) = 32),
  created_at timestamptz(0) not null default date_trunc('second', now())
);
alter table auth.signing_key enable row level security;
comment on table auth.signing_key is
  'Keys that sign access tokens (HMAC-SHA256). The newest signs, every one of them is accepted; deleting one voids its tokens at the next start.';

create view auth.credential_overview with (security_invoker) as
select
  credential.id,
  credential.name,
  array(
    select secret.access_key from auth.credential_secret as secret
    where secret.credential_id = credential.id order by secret.created_at desc
  ) as access_keys,
  credential.scopes,
  credential.deactivated_at is null as active,
  credential.created_at,
  credential.last_used_at,
  credential.rotated_at,
  credential.deactivated_at
from auth.credential;
comment on view auth.credential_overview is 'Credentials as an administrator sees them: everything but the secrets.';

--!include auth/create_credential.sql
--!include auth/rotate_credential.sql
--!include auth/deactivate_credential.sql
--!include auth/delete_credential.sql
--!include auth/authenticate_credential.sql
--!include auth/active_scopes.sql
--!include auth/signing_keys.sql
--!include auth/supported_locales.sql
--!include auth/announce_credential_change.sql

create trigger credential_announces_changes after update of scopes, deactivated_at or delete or truncate on auth.credential
for each statement execute function auth.announce_credential_change();
create trigger credential_secret_announces_changes after update or delete or truncate on auth.credential_secret
for each statement execute function auth.announce_credential_change();
