--! Previous: sha1:ff1a96ad632587b5c7ea1d451baa96e5be44fa6d
--! Hash: sha1:dd1f5cc65eb8e09d452acac60578464544194707
--! Message: auth

--! split: 1-current.sql
-- Enter migration here

--! split: 0200-auth.sql
-- Who may ask: API credentials with their secrets, the keys that sign access tokens, and the functions that
-- decide about scopes. No role may read these tables; what the service needs goes through the functions here.


--! Included auth/has_scope.sql
create or replace function auth.has_scope(variadic scopes text[]) returns boolean
language sql stable parallel safe
return coalesce(pg_catalog.string_to_array(pg_catalog.current_setting('service.scopes', true), ' ') && scopes, false);
comment on function auth.has_scope(text[]) is
  'Whether the caller has at least one of the scopes. Policies call it in a sub-select, (select auth.has_scope(''products:read'')), so that it runs once per statement and not once per row.';
grant execute on function auth.has_scope(text[]) to service_api;
--! EndIncluded auth/has_scope.sql
--! Included auth/known_scopes.sql
create or replace function auth.known_scopes() returns setof text
language sql stable parallel safe set search_path = pg_catalog
begin atomic
  with api_object (oid) as (
    select pg_class.oid from pg_class
    join pg_namespace on pg_namespace.oid = pg_class.relnamespace
    where pg_namespace.nspname ^@ 'api_' and pg_class.relkind = 'v'
    union all
    select pg_proc.oid from pg_proc
    join pg_namespace on pg_namespace.oid = pg_proc.pronamespace
    where pg_namespace.nspname ^@ 'api_'
  ), resource (name) as (
    select distinct scope.match[1]
    from api_object
    join pg_description on pg_description.objoid = api_object.oid
      and pg_description.classoid in ('pg_class'::regclass, 'pg_proc'::regclass)
    cross join lateral regexp_matches(pg_description.description, '@requiresScopes\s+([^\n|]+)', 'g') as tag (match)
    cross join lateral regexp_matches(tag.match[1], '([a-z][a-z_]*):[a-z]+', 'g') as scope (match)
  )
  select resource.name || ':' || access.level
  from resource
  cross join (values (1, 'read'), (2, 'write')) as access (position, level)
  order by resource.name, access.position;
end;
comment on function auth.known_scopes() is
  'Every scope that a credential can have: reading and writing of each resource that a @requiresScopes tag names in an API schema. So a scope is declared in one place, beside the view that it protects.';
--! EndIncluded auth/known_scopes.sql
--! Included auth/is_scope_list.sql
create or replace function auth.is_scope_list(scopes text[]) returns boolean
language sql immutable parallel safe
return pg_catalog.array_position(scopes, null) is null
  and not exists (select from pg_catalog.unnest(scopes) as listed (scope) where listed.scope !~ '^[a-z][a-z_]*:(read|write)$')
  and not exists (
    select from pg_catalog.unnest(scopes) as listed (scope)
    where listed.scope ~ ':write$' and pg_catalog.regexp_replace(listed.scope, ':write$', ':read') <> all (scopes)
  );
comment on function auth.is_scope_list(text[]) is
  'Whether all elements have the form <resource>:read or <resource>:write, and each write scope has its read scope beside it.';
--! EndIncluded auth/is_scope_list.sql

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

--! Included auth/create_credential.sql
create or replace function auth.create_credential(name text, scopes text[], access_key text, secret_hash bytea) returns uuid
language plpgsql set search_path = pg_catalog as $$
declare
  unknown constant text[] := array(select unnest(create_credential.scopes) except select auth.known_scopes());
  new_id uuid;
begin
  if unknown <> '{}' then
    raise exception 'There is no scope %.', array_to_string(unknown, ', ') using errcode = 'invalid_parameter_value';
  end if;
  insert into auth.credential (name, scopes) values (create_credential.name, create_credential.scopes)
  returning id into new_id;
  insert into auth.credential_secret (access_key, credential_id, secret_hash)
  values (create_credential.access_key, new_id, create_credential.secret_hash);
  return new_id;
end
$$;
comment on function auth.create_credential(text, text[], text, bytea) is
  'Makes a credential with its first key and the SHA-256 of its secret; answers its id. Refuses scopes that do not exist.';
--! EndIncluded auth/create_credential.sql
--! Included auth/rotate_credential.sql
create or replace function auth.rotate_credential(credential_id uuid, access_key text, secret_hash bytea) returns void
language plpgsql set search_path = pg_catalog as $$
begin
  update auth.credential set rotated_at = date_trunc('second', now())
  where id = rotate_credential.credential_id and deactivated_at is null;
  if not found then
    raise exception 'There is no active credential %.', rotate_credential.credential_id using errcode = 'no_data_found';
  end if;
  delete from auth.credential_secret as secret where secret.credential_id = rotate_credential.credential_id;
  insert into auth.credential_secret (access_key, credential_id, secret_hash)
  values (rotate_credential.access_key, rotate_credential.credential_id, rotate_credential.secret_hash);
end
$$;
comment on function auth.rotate_credential(uuid, text, bytea) is
  'Gives a credential a new key and secret. The old pair stops at once, and so do the tokens that were issued for it.';
--! EndIncluded auth/rotate_credential.sql
--! Included auth/deactivate_credential.sql
create or replace function auth.deactivate_credential(credential_id uuid) returns void
language plpgsql set search_path = pg_catalog as $$
begin
  update auth.credential set deactivated_at = coalesce(deactivated_at, date_trunc('second', now()))
  where id = deactivate_credential.credential_id;
  if not found then
    raise exception 'There is no credential %.', deactivate_credential.credential_id using errcode = 'no_data_found';
  end if;
end
$$;
comment on function auth.deactivate_credential(uuid) is 'Stops a credential and all of its tokens. Deactivating it again changes nothing.';
--! EndIncluded auth/deactivate_credential.sql
--! Included auth/delete_credential.sql
create or replace function auth.delete_credential(credential_id uuid) returns void
language plpgsql set search_path = pg_catalog as $$
begin
  delete from auth.credential where id = delete_credential.credential_id;
  if not found then
    raise exception 'There is no credential %.', delete_credential.credential_id using errcode = 'no_data_found';
  end if;
end
$$;
comment on function auth.delete_credential(uuid) is 'Removes a credential with its secrets. Its tokens stop at once.';
--! EndIncluded auth/delete_credential.sql
--! Included auth/authenticate_credential.sql
create or replace function auth.authenticate_credential(presented_key text, presented_hash bytea)
returns table (credential_id uuid, scopes text[])
language plpgsql security definer set search_path = pg_catalog as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
  candidate record;
begin
  select credential.id, credential.scopes, credential.last_used_at, credential.deactivated_at, secret.secret_hash
  into candidate
  from auth.credential_secret as secret
  join auth.credential on credential.id = secret.credential_id
  where secret.access_key = presented_key;

  -- Hashing both sides once more with a nonce makes the time of the comparison independent of the stored hash.
  -- An unknown key goes the same way, with a hash that nobody can present.
  if sha256(nonce || presented_hash) <> sha256(nonce || coalesce(candidate.secret_hash, nonce))
    or candidate.deactivated_at is not null
  then
    return;
  end if;

  -- To the minute, so that a busy client does not write a row for each token.
  update auth.credential set last_used_at = date_trunc('second', now())
  where credential.id = candidate.id and (candidate.last_used_at is null or candidate.last_used_at < now() - interval '1 minute');
  return query select candidate.id, candidate.scopes;
end
$$;
comment on function auth.authenticate_credential(text, bytea) is
  'The active credential that has this access key and SHA-256 of a secret, or no row. The row does not tell what was wrong.';
grant execute on function auth.authenticate_credential(text, bytea) to service_auth;
--! EndIncluded auth/authenticate_credential.sql
--! Included auth/active_scopes.sql
create or replace function auth.active_scopes(access_key text) returns text[]
language sql stable security definer set search_path = pg_catalog
begin atomic
  select credential.scopes
  from auth.credential_secret as secret
  join auth.credential on credential.id = secret.credential_id
  where secret.access_key = active_scopes.access_key and credential.deactivated_at is null;
end;
comment on function auth.active_scopes(text) is
  'Scopes that tokens of this access key may have now; null when the key is gone or its credential is deactivated.';
grant execute on function auth.active_scopes(text) to service_auth;
--! EndIncluded auth/active_scopes.sql
--! Included auth/signing_keys.sql
create or replace function auth.signing_keys(proposal bytea) returns table (id uuid, secret bytea)
language plpgsql security definer set search_path = pg_catalog as $$
begin
  if not exists (select from auth.signing_key) then
    -- Of several processes that start at once, one makes the key and the others take it.
    lock table auth.signing_key in share row exclusive mode;
    insert into auth.signing_key (secret) select proposal where not exists (select from auth.signing_key);
  end if;
  return query select signing_key.id, signing_key.secret from auth.signing_key order by signing_key.created_at desc, signing_key.id desc;
end
$$;
comment on function auth.signing_keys(bytea) is
  'The keys that access tokens are signed with, newest first. The proposal becomes the first one when there is none.';
grant execute on function auth.signing_keys(bytea) to service_auth;
--! EndIncluded auth/signing_keys.sql
--! Included auth/supported_locales.sql
create or replace function auth.supported_locales() returns setof text
language sql stable security definer set search_path = pg_catalog
begin atomic
  select language.code from erp.language order by language.code;
end;
comment on function auth.supported_locales() is 'Locales that a request may ask for: those that names are kept in.';
grant execute on function auth.supported_locales() to service_auth;
--! EndIncluded auth/supported_locales.sql
--! Included auth/announce_credential_change.sql
create or replace function auth.announce_credential_change() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  perform pg_notify('service_credential_change', '');
  return null;
end
$$;
comment on function auth.announce_credential_change() is
  'Trigger: tells every process of the service to forget what it remembers about credentials, as soon as the change is committed.';
--! EndIncluded auth/announce_credential_change.sql

create trigger credential_announces_changes after update of scopes, deactivated_at or delete or truncate on auth.credential
for each statement execute function auth.announce_credential_change();
create trigger credential_secret_announces_changes after update or delete or truncate on auth.credential_secret
for each statement execute function auth.announce_credential_change();
