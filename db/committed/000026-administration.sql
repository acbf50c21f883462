--! Previous: sha1:3a35f4db60879acb065f78c46b1c4b651e676e0f
--! Hash: sha1:ff5b9680f01e9ed76f92bb61d8d5d252f8f1b0c4
--! Message: administration

--! split: 1-current.sql
-- Enter migration here

--! split: 0200-administration.sql
-- The administration in the browser: administrators and their sessions, what they and commands have done, and how much
-- each credential is used. Everything that the pages do is a function of the schema administration, which looks at the
-- session first; the pages' role can call these and nothing else.

create schema if not exists administration;
comment on schema administration is 'Functions behind the pages of the administration. Each but those about logging in asks for a session that is alive.';
grant usage on schema administration to service_administration;
grant usage on schema auth to service_registrar, service_administration;

create table if not exists auth.administrator (
  id uuid primary key default uuidv7(),
  name text not null constraint administrator_name_is_a_word_or_an_address check (name ~ '^[^\s[:cntrl:]]{1,100}$'),
  password_hash text not null constraint administrator_password_hash_is_argon2id check (password_hash ^@ '$argon2id$'),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  password_changed_at timestamptz(0) not null default date_trunc('second', now()),
  last_log_in_at timestamptz(0),
  deactivated_at timestamptz(0)
);
create unique index if not exists administrator_name_is_unique on auth.administrator (lower(name));
alter table auth.administrator enable row level security;
comment on table auth.administrator is 'Who may use the administration in the browser. Never deleted, for auth.audit_event points to them.';
comment on column auth.administrator.name is 'The user name, or an e-mail address. Upper and lower case are the same.';
comment on column auth.administrator.deactivated_at is 'Since when there is no way in; null while there is.';

create table if not exists auth.administrator_session (
  token_hash bytea primary key constraint administrator_session_token_hash_has_32_bytes check (octet_length(token_hash) = 32),
  administrator_id uuid not null references auth.administrator on delete cascade,
  started_at timestamptz(0) not null default date_trunc('second', now()),
  last_seen_at timestamptz(0) not null default date_trunc('second', now())
);
create index if not exists administrator_session_administrator_id_idx on auth.administrator_session (administrator_id);
alter table auth.administrator_session enable row level security;
comment on table auth.administrator_session is 'Sessions in the browser. When one ends is in auth.live_session.';
comment on column auth.administrator_session.token_hash is 'SHA-256 of the token in the cookie, which has 256 random bits.';
comment on column auth.administrator_session.last_seen_at is 'When it was last used, to the minute.';

create or replace view auth.live_session with (security_invoker) as
select session.token_hash, session.administrator_id, administrator.name, session.started_at, session.last_seen_at,
  least(session.started_at + interval '12 hours', session.last_seen_at + interval '60 minutes') as ends_at
from auth.administrator_session as session
join auth.administrator on administrator.id = session.administrator_id
where administrator.deactivated_at is null
  and least(session.started_at + interval '12 hours', session.last_seen_at + interval '60 minutes') > now();
comment on view auth.live_session is 'Sessions that are alive: begun within 12 hours, used within one, of an administrator who is active.';

create table if not exists auth.log_in_attempt (
  key text primary key,
  points integer not null default 0,
  expire bigint
);
alter table auth.log_in_attempt enable row level security;
comment on table auth.log_in_attempt is
  'Log-ins that failed lately, by name and address. Of the package rate-limiter-flexible, which counts here by statements of its own, so that all processes count together.';

create table if not exists auth.audit_event (
  id uuid primary key default uuidv7(),
  happened_at timestamptz(0) not null default date_trunc('second', now()),
  actor text not null constraint audit_event_actor_is_known check (actor in ('administrator', 'command line', 'nobody')),
  administrator_id uuid references auth.administrator on delete restrict,
  address inet,
  action text not null constraint audit_event_action_names_thing_and_deed check (action ~ '^[a-z_]+\.[a-z_]+$'),
  credential_id uuid,
  subject text,
  details jsonb not null default '{}' constraint audit_event_details_are_an_object check (jsonb_typeof(details) = 'object'),
  constraint audit_event_of_an_administrator_names_one check ((actor = 'administrator') = (administrator_id is not null))
);
create index if not exists audit_event_administrator_id_idx on auth.audit_event (administrator_id);
create index if not exists audit_event_credential_id_idx on auth.audit_event (credential_id, id) where credential_id is not null;
alter table auth.audit_event enable row level security;
comment on table auth.audit_event is 'What was done to credentials, administrators and settings, by whom and from where. Only ever added to. Never holds a secret.';
comment on column auth.audit_event.actor is 'nobody: whoever tried to log in without being known.';
comment on column auth.audit_event.credential_id is 'The credential that it is about; no foreign key, for the credential may be deleted.';
comment on column auth.audit_event.subject is 'What it is about as people called it then: the name of the credential or of the administrator.';

create table if not exists auth.credential_use (
  credential_id uuid not null references auth.credential on delete cascade,
  day date not null,
  version text not null,
  deprecated_field text not null default '',
  requests bigint not null constraint credential_use_requests_are_counted check (requests > 0),
  last_used_at timestamptz(0) not null,
  primary key (credential_id, day, version, deprecated_field)
);
alter table auth.credential_use enable row level security;
comment on table auth.credential_use is 'How many requests each credential sent to each version on each day, by UTC.';
comment on column auth.credential_use.deprecated_field is 'Type.field, when the row counts requests that used this deprecated field; empty when it counts all.';

-- After a rotation the old key may work for a while
alter table auth.credential_secret add column if not exists expires_at timestamptz(0);
comment on column auth.credential_secret.expires_at is 'When the pair ends, after a rotation with an overlap; null while it is the newest.';
comment on column auth.credential.last_used_at is 'When it was last exchanged for a token, or a request came with one; to the minute.';
comment on column auth.credential.rotated_at is 'When its present key and secret took the place of older ones; null while it has its first.';

create or replace view auth.credential_overview with (security_invoker) as
select
  credential.id,
  credential.name,
  array(
    select secret.access_key from auth.credential_secret as secret
    where secret.credential_id = credential.id and (secret.expires_at is null or secret.expires_at > now())
    order by secret.expires_at desc nulls first, secret.access_key
  ) as access_keys,
  credential.scopes,
  credential.deactivated_at is null as active,
  credential.created_at,
  credential.last_used_at,
  credential.rotated_at,
  credential.deactivated_at,
  (select max(secret.expires_at) from auth.credential_secret as secret
    where secret.credential_id = credential.id and secret.expires_at > now()) as old_key_ends_at
from auth.credential;
comment on view auth.credential_overview is 'Credentials as an administrator sees them: everything but the secrets. The newest key comes first; those before it end.';

select api_meta.allow('service_registrar', 'auth.administrator', 'select', 'update (password_hash, password_changed_at, last_log_in_at)');
select api_meta.allow('service_registrar', 'auth.administrator_session', 'select', 'insert', 'update (last_seen_at)', 'delete');
select api_meta.allow('service_registrar', 'auth.audit_event', 'select', 'insert');
select api_meta.allow('service_registrar', 'auth.credential', 'select', 'insert', 'update (name, scopes, last_used_at, rotated_at, deactivated_at)', 'delete');
select api_meta.allow('service_registrar', 'auth.credential_secret', 'select', 'insert', 'update (expires_at)', 'delete');
select api_meta.allow('service_registrar', 'auth.credential_use', 'select', 'insert', 'update (requests, last_used_at)');
select api_meta.allow('service_registrar', 'auth.plan', 'select', 'update (is_current, limits)');
grant select on auth.live_session, auth.credential_overview to service_registrar;
select api_meta.allow('service_administration', 'auth.log_in_attempt', 'select', 'insert', 'update', 'delete');

drop function if exists auth.create_credential(text, text[], text, bytea);
drop function if exists auth.rotate_credential(uuid, text, bytea);
drop function if exists auth.active_scopes(text);

--! Included functions/auth/acting_administrator.sql
create or replace function auth.acting_administrator() returns uuid
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select session.administrator_id from auth.live_session as session
  where session.token_hash = decode(current_setting('service.session', true), 'hex');
end;
comment on function auth.acting_administrator() is
  'The administrator whose session the transaction belongs to: the setting service.session has the SHA-256 of its token, in hex. Null when there is none that is alive.';
select api_meta.give('auth.acting_administrator()', 'service_registrar');
--! EndIncluded functions/auth/acting_administrator.sql
--! Included functions/auth/note_event.sql
create or replace function auth.note_event(action text, subject text, credential_id uuid default null, details jsonb default '{}') returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  administrator_id constant uuid := auth.acting_administrator();
begin
  insert into auth.audit_event (actor, administrator_id, address, action, credential_id, subject, details)
  values (
    case when administrator_id is not null then 'administrator' when current_setting('service.address', true) <> '' then 'nobody' else 'command line' end,
    administrator_id, nullif(current_setting('service.address', true), '')::inet,
    note_event.action, note_event.credential_id, note_event.subject, jsonb_strip_nulls(note_event.details)
  );
end
$$;
comment on function auth.note_event(text, text, uuid, jsonb) is
  'Adds to the audit, as done by the administrator of the session; without one, at the command line, or if there is an address (setting service.address), by somebody who is not logged in.';
grant execute on function auth.note_event(text, text, uuid, jsonb) to service_registrar;
--! EndIncluded functions/auth/note_event.sql
--! Included functions/auth/keep_audit.sql
create or replace function auth.keep_audit() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception 'Events of the audit are never changed or deleted.' using errcode = 'integrity_constraint_violation';
end
$$;
comment on function auth.keep_audit() is 'Trigger: refuses changes and deletions, also by the owner.';
--! EndIncluded functions/auth/keep_audit.sql
create or replace trigger audit_event_is_kept before update or delete or truncate on auth.audit_event
for each statement execute function auth.keep_audit();
--! Included functions/auth/check_scopes.sql
create or replace function auth.check_scopes(scopes text[]) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  unknown constant text[] := array(select unnest(check_scopes.scopes) except select auth.known_scopes());
begin
  if unknown <> '{}' then
    raise exception 'There is no scope %.', array_to_string(unknown, ', ') using errcode = 'invalid_parameter_value';
  end if;
end
$$;
comment on function auth.check_scopes(text[]) is 'Refuses scopes that do not exist.';
grant execute on function auth.check_scopes(text[]), auth.known_scopes(), auth.is_scope_list(text[]) to service_registrar;
--! EndIncluded functions/auth/check_scopes.sql
--! Included functions/auth/create_credential.sql
create or replace function auth.create_credential(name text, scopes text[], access_key text, secret_hash bytea, id uuid default uuidv7()) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform auth.check_scopes(create_credential.scopes);
  insert into auth.credential (id, name, scopes) values (create_credential.id, create_credential.name, create_credential.scopes);
  insert into auth.credential_secret (access_key, credential_id, secret_hash)
  values (create_credential.access_key, create_credential.id, create_credential.secret_hash);
  perform auth.note_event('credential.created', create_credential.name, create_credential.id,
    jsonb_build_object('scopes', create_credential.scopes, 'access_key', create_credential.access_key));
  return create_credential.id;
end
$$;
comment on function auth.create_credential(text, text[], text, bytea, uuid) is
  'Makes a credential with its first key and the SHA-256 of its secret; answers its id. Refuses scopes that do not exist.';
grant execute on function auth.create_credential(text, text[], text, bytea, uuid) to service_registrar;
--! EndIncluded functions/auth/create_credential.sql
--! Included functions/auth/rotate_credential.sql
create or replace function auth.rotate_credential(credential_id uuid, access_key text, secret_hash bytea, overlap interval default '0') returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  last_moment constant timestamptz := now() + overlap;
  credential_name text;
begin
  if overlap < interval '0' or last_moment > now() + interval '30 days' then
    raise exception 'An old key can go on for 30 days at most.' using errcode = 'invalid_parameter_value';
  end if;
  update auth.credential set rotated_at = date_trunc('second', now())
  where id = rotate_credential.credential_id and deactivated_at is null
  returning name into credential_name;
  if not found then
    raise exception 'There is no active credential %.', rotate_credential.credential_id using errcode = 'no_data_found';
  end if;
  -- Without an overlap, keys that were to go on after an earlier rotation stop too: whoever does this fears for them.
  if overlap = interval '0' then
    delete from auth.credential_secret as secret where secret.credential_id = rotate_credential.credential_id;
  else
    delete from auth.credential_secret as secret where secret.credential_id = rotate_credential.credential_id and secret.expires_at <= now();
    update auth.credential_secret as secret set expires_at = least(secret.expires_at, last_moment)
    where secret.credential_id = rotate_credential.credential_id;
  end if;
  insert into auth.credential_secret (access_key, credential_id, secret_hash)
  values (rotate_credential.access_key, rotate_credential.credential_id, rotate_credential.secret_hash);
  perform auth.note_event('credential.rotated', credential_name, rotate_credential.credential_id,
    jsonb_build_object('access_key', rotate_credential.access_key, 'old_key_ends_at', case when overlap > interval '0' then last_moment end));
end
$$;
comment on function auth.rotate_credential(uuid, text, bytea, interval) is
  'Gives a credential a new key and secret. Older pairs, and the tokens that were issued for them, stop after the overlap; by default at once.';
grant execute on function auth.rotate_credential(uuid, text, bytea, interval) to service_registrar;
--! EndIncluded functions/auth/rotate_credential.sql
--! Included functions/auth/change_credential.sql
create or replace function auth.change_credential(credential_id uuid, name text, scopes text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  old record;
begin
  perform auth.check_scopes(change_credential.scopes);
  select credential.name, credential.scopes into old from auth.credential where credential.id = change_credential.credential_id for update;
  if not found then
    raise exception 'There is no credential %.', change_credential.credential_id using errcode = 'no_data_found';
  elsif old.name = change_credential.name and old.scopes = change_credential.scopes then
    return;
  end if;
  update auth.credential set name = change_credential.name, scopes = change_credential.scopes
  where credential.id = change_credential.credential_id;
  perform auth.note_event('credential.changed', change_credential.name, change_credential.credential_id, jsonb_build_object(
    'old_name', nullif(old.name, change_credential.name),
    'added', (select jsonb_agg(added) from (select unnest(change_credential.scopes) except select unnest(old.scopes) order by 1) as list (added)),
    'removed', (select jsonb_agg(removed) from (select unnest(old.scopes) except select unnest(change_credential.scopes) order by 1) as list (removed))
  ));
end
$$;
comment on function auth.change_credential(uuid, text, text[]) is
  'Gives a credential another name or other scopes. Scopes that it loses are gone from its tokens at once; those that it gains are in its next ones.';
grant execute on function auth.change_credential(uuid, text, text[]) to service_registrar;
--! EndIncluded functions/auth/change_credential.sql
--! Included functions/auth/activate_credential.sql
create or replace function auth.activate_credential(credential_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  old record;
begin
  select credential.name, credential.deactivated_at into old from auth.credential where credential.id = activate_credential.credential_id for update;
  if not found then
    raise exception 'There is no credential %.', activate_credential.credential_id using errcode = 'no_data_found';
  elsif old.deactivated_at is not null then
    update auth.credential set deactivated_at = null where credential.id = activate_credential.credential_id;
    perform auth.note_event('credential.activated', old.name, activate_credential.credential_id);
  end if;
end
$$;
comment on function auth.activate_credential(uuid) is 'Lets a deactivated credential work again, with the same key and secret. On an active one it changes nothing.';
grant execute on function auth.activate_credential(uuid) to service_registrar;
--! EndIncluded functions/auth/activate_credential.sql
--! Included functions/auth/deactivate_credential.sql
create or replace function auth.deactivate_credential(credential_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  old record;
begin
  select credential.name, credential.deactivated_at into old from auth.credential where credential.id = deactivate_credential.credential_id for update;
  if not found then
    raise exception 'There is no credential %.', deactivate_credential.credential_id using errcode = 'no_data_found';
  elsif old.deactivated_at is null then
    update auth.credential set deactivated_at = date_trunc('second', now()) where credential.id = deactivate_credential.credential_id;
    perform auth.note_event('credential.deactivated', old.name, deactivate_credential.credential_id);
  end if;
end
$$;
comment on function auth.deactivate_credential(uuid) is 'Stops a credential and all of its tokens. Deactivating it again changes nothing.';
grant execute on function auth.deactivate_credential(uuid) to service_registrar;
--! EndIncluded functions/auth/deactivate_credential.sql
--! Included functions/auth/delete_credential.sql
create or replace function auth.delete_credential(credential_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  credential_name text;
begin
  delete from auth.credential where id = delete_credential.credential_id returning name into credential_name;
  if not found then
    raise exception 'There is no credential %.', delete_credential.credential_id using errcode = 'no_data_found';
  end if;
  perform auth.note_event('credential.deleted', credential_name, delete_credential.credential_id);
end
$$;
comment on function auth.delete_credential(uuid) is 'Removes a credential with its secrets. Its tokens stop at once.';
grant execute on function auth.delete_credential(uuid) to service_registrar;
--! EndIncluded functions/auth/delete_credential.sql
--! Included functions/auth/authenticate_credential.sql
create or replace function auth.authenticate_credential(presented_key text, presented_hash bytea)
returns table (credential_id uuid, scopes text[])
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
  candidate record;
begin
  select credential.id, credential.scopes, credential.last_used_at, credential.deactivated_at, secret.secret_hash
  into candidate
  from auth.credential_secret as secret
  join auth.credential on credential.id = secret.credential_id
  where secret.access_key = presented_key and (secret.expires_at is null or secret.expires_at > now());

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
--! EndIncluded functions/auth/authenticate_credential.sql
--! Included functions/auth/active_scopes.sql
create or replace function auth.active_scopes(access_key text) returns table (scopes text[], remaining interval)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select credential.scopes, secret.expires_at - now()
  from auth.credential_secret as secret
  join auth.credential on credential.id = secret.credential_id
  where secret.access_key = active_scopes.access_key and credential.deactivated_at is null
    and (secret.expires_at is null or secret.expires_at > now());
end;
comment on function auth.active_scopes(text) is
  'Scopes that tokens of this access key may have now, and for how long the key goes on, or null when it has no end. No row when it is gone or its credential is deactivated.';
grant execute on function auth.active_scopes(text) to service_auth;
--! EndIncluded functions/auth/active_scopes.sql
--! Included functions/auth/is_session.sql
create or replace function auth.is_session(token_hash bytea) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select exists (select from auth.live_session as session where session.token_hash = is_session.token_hash);
end;
comment on function auth.is_session(bytea) is
  'Whether this is the SHA-256 of the token of a session that is alive. So the API can tell a token of the administration from one that is none.';
select api_meta.give('auth.is_session(bytea)', 'service_registrar');
grant execute on function auth.is_session(bytea) to service_auth;
--! EndIncluded functions/auth/is_session.sql
--! Included functions/auth/record_use.sql
create or replace function auth.record_use(entries jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  with entry as (
    select * from jsonb_to_recordset(entries)
      as e (credential_id uuid, day date, version text, deprecated_field text, requests bigint, last_used_at timestamptz)
  ), present as materialized (
    -- Those that were deleted meanwhile are left out, and the others stay until this has been written. In one order, so
    -- that two processes do not wait for each other in a circle.
    select credential.id from auth.credential
    where credential.id in (select entry.credential_id from entry)
    order by credential.id for key share
  )
  insert into auth.credential_use as use (credential_id, day, version, deprecated_field, requests, last_used_at)
  select entry.credential_id, entry.day, entry.version, coalesce(entry.deprecated_field, ''), sum(entry.requests), max(entry.last_used_at)
  from entry join present on present.id = entry.credential_id
  group by 1, 2, 3, 4
  order by 1, 2, 3, 4
  on conflict on constraint credential_use_pkey do update
  set requests = use.requests + excluded.requests, last_used_at = greatest(use.last_used_at, excluded.last_used_at);

  update auth.credential set last_used_at = newest.moment
  from (
    select e.credential_id as id, max(e.last_used_at) as moment
    from jsonb_to_recordset(entries) as e (credential_id uuid, last_used_at timestamptz) group by 1
  ) as newest
  where credential.id = newest.id and (credential.last_used_at is null or credential.last_used_at < newest.moment - interval '1 minute');
end
$$;
comment on function auth.record_use(jsonb) is
  'Adds up how credentials were used: an array of objects with credential_id, day, version, requests, last_used_at, and for uses of a deprecated field deprecated_field.';
select api_meta.give('auth.record_use(jsonb)', 'service_registrar');
grant execute on function auth.record_use(jsonb) to service_auth;
--! EndIncluded functions/auth/record_use.sql
--! Included functions/auth/administrators.sql
create or replace function auth.create_administrator(name text, password_hash text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  new_id uuid;
begin
  insert into auth.administrator (name, password_hash) values (create_administrator.name, create_administrator.password_hash)
  returning id into new_id;
  perform auth.note_event('administrator.created', create_administrator.name);
  return new_id;
end
$$;
comment on function auth.create_administrator(text, text) is 'Makes an administrator, with the hash of a password by argon2id; answers the id.';

create or replace function auth.reset_administrator_password(name text, password_hash text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found_id uuid;
begin
  update auth.administrator set password_hash = reset_administrator_password.password_hash,
    password_changed_at = date_trunc('second', now()), deactivated_at = null
  where lower(administrator.name) = lower(reset_administrator_password.name)
  returning id into found_id;
  if not found then
    raise exception 'There is no administrator “%”.', reset_administrator_password.name using errcode = 'no_data_found';
  end if;
  delete from auth.administrator_session where administrator_id = found_id;
  perform auth.note_event('administrator.password_reset', reset_administrator_password.name);
end
$$;
comment on function auth.reset_administrator_password(text, text) is
  'Gives an administrator another password, ends all of their sessions, and lets them in again if they were deactivated.';

create or replace function auth.deactivate_administrator(name text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found_id uuid;
begin
  update auth.administrator set deactivated_at = coalesce(deactivated_at, date_trunc('second', now()))
  where lower(administrator.name) = lower(deactivate_administrator.name)
  returning id into found_id;
  if not found then
    raise exception 'There is no administrator “%”.', deactivate_administrator.name using errcode = 'no_data_found';
  end if;
  delete from auth.administrator_session where administrator_id = found_id;
  perform auth.note_event('administrator.deactivated', deactivate_administrator.name);
end
$$;
comment on function auth.deactivate_administrator(text) is 'Ends all sessions of an administrator and lets them in no more.';
--! EndIncluded functions/auth/administrators.sql
--! Included functions/auth/plan.sql
create or replace function auth.current_plan() returns table (name text, limits jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select plan.name, plan.limits from auth.plan where plan.is_current;
end;
comment on function auth.current_plan() is 'The plan that the merchant has, and the limits that come with it.';
grant execute on function auth.current_plan() to service_auth;
-- For mutation.run, the second fence
grant usage on schema auth to service_writer;
grant execute on function auth.current_plan() to service_writer;

create or replace function auth.set_plan(name text, limits jsonb default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  old record;
begin
  select p.name, p.limits into old from auth.plan p where p.is_current for update;
  if not exists (select from auth.plan p where p.name = set_plan.name) then
    raise exception 'There is no plan %.', name using errcode = 'no_data_found';
  end if;
  update auth.plan p set is_current = false where p.is_current and p.name <> set_plan.name;
  update auth.plan p set is_current = true, limits = coalesce(set_plan.limits, p.limits) where p.name = set_plan.name;
  perform auth.note_event('plan.changed', set_plan.name, null, jsonb_build_object('old_plan', nullif(old.name, set_plan.name), 'limits', set_plan.limits));
end
$$;
comment on function auth.set_plan(text, jsonb) is
  'Gives the merchant a plan, with other limits if these are named. Takes effect at once on every process. Raises no_data_found for a plan that does not exist.';
grant execute on function auth.set_plan(text, jsonb) to service_registrar;
--! EndIncluded functions/auth/plan.sql
--! Included functions/administration/require_administrator.sql
create or replace function administration.require_administrator() returns uuid
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  administrator_id constant uuid := auth.acting_administrator();
begin
  if administrator_id is null then
    raise exception 'There is no session, or it has ended.' using errcode = 'invalid_authorization_specification';
  end if;
  return administrator_id;
end
$$;
comment on function administration.require_administrator() is 'The administrator of the session; refuses when there is none that is alive.';
grant execute on function administration.require_administrator() to service_registrar;
--! EndIncluded functions/administration/require_administrator.sql
--! Included functions/administration/log_in.sql
create or replace function administration.password_of(name text) returns table (administrator_id uuid, password_hash text)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select administrator.id, administrator.password_hash from auth.administrator
  where lower(administrator.name) = lower(password_of.name) and administrator.deactivated_at is null;
end;
comment on function administration.password_of(text) is 'The hash that a password is compared with; no row for an administrator who is unknown or deactivated.';

create or replace function administration.start_session(administrator_id uuid, checked_hash text, token_hash bytea) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  administrator_name text;
begin
  -- The hash has been compared before: whoever changed the password since then does not want the old one to get in.
  update auth.administrator set last_log_in_at = date_trunc('second', now())
  where id = start_session.administrator_id and password_hash = start_session.checked_hash and deactivated_at is null
  returning name into administrator_name;
  if not found then
    raise exception 'The password has changed.' using errcode = 'invalid_authorization_specification';
  end if;
  delete from auth.administrator_session as session
  where session.administrator_id = start_session.administrator_id
    and session.token_hash not in (select alive.token_hash from auth.live_session as alive);
  insert into auth.administrator_session (token_hash, administrator_id) values (start_session.token_hash, start_session.administrator_id);
  perform set_config('service.session', encode(start_session.token_hash, 'hex'), true);
  perform auth.note_event('session.started', administrator_name);
end
$$;
comment on function administration.start_session(uuid, text, bytea) is
  'Begins the session of an administrator whose password has been compared with this hash. Sessions of the same administrator that have ended are cleared away.';

create or replace function administration.note_refused_log_in(name text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- A name that nobody has may be a password that got into the wrong field
  perform auth.note_event('session.refused', (select administrator.name from auth.administrator where lower(administrator.name) = lower(note_refused_log_in.name)));
end
$$;
comment on function administration.note_refused_log_in(text) is 'Notes that somebody failed to log in, with the name if there is such an administrator.';

select api_meta.give('administration.password_of(text)', 'service_registrar');
select api_meta.give('administration.start_session(uuid, text, bytea)', 'service_registrar');
select api_meta.give('administration.note_refused_log_in(text)', 'service_registrar');
grant execute on function administration.password_of(text), administration.start_session(uuid, text, bytea),
  administration.note_refused_log_in(text) to service_administration;
--! EndIncluded functions/administration/log_in.sql
--! Included functions/administration/session.sql
create or replace function administration.use_session() returns table (administrator_id uuid, name text, ends_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present record;
begin
  select * into present from auth.live_session as session
  where session.token_hash = decode(current_setting('service.session', true), 'hex');
  if not found then return; end if;
  -- To the minute, so that not every page writes
  update auth.administrator_session as session set last_seen_at = date_trunc('second', now())
  where session.token_hash = present.token_hash and session.last_seen_at < now() - interval '1 minute';
  return query select present.administrator_id, present.name, present.ends_at;
end
$$;
comment on function administration.use_session() is 'Who the session belongs to, and that it is being used; no row when it has ended.';

create or replace function administration.end_session() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  administrator_name constant text := (
    select administrator.name from auth.administrator where administrator.id = administration.require_administrator());
begin
  perform auth.note_event('session.ended', administrator_name);
  delete from auth.administrator_session where token_hash = decode(current_setting('service.session', true), 'hex');
end
$$;
comment on function administration.end_session() is 'Ends the session.';

select api_meta.give('administration.use_session()', 'service_registrar');
select api_meta.give('administration.end_session()', 'service_registrar');
grant execute on function administration.use_session(), administration.end_session() to service_administration;
--! EndIncluded functions/administration/session.sql
--! Included functions/administration/password.sql
create or replace function administration.own_password() returns text
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select administrator.password_hash from auth.administrator where administrator.id = administration.require_administrator();
end;
comment on function administration.own_password() is 'The hash of the administrator''s own password, which changing it is checked with.';

create or replace function administration.change_password(checked_hash text, new_hash text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  own_id constant uuid := administration.require_administrator();
  own_name text;
begin
  update auth.administrator set password_hash = change_password.new_hash, password_changed_at = date_trunc('second', now())
  where id = own_id and password_hash = change_password.checked_hash
  returning name into own_name;
  if not found then
    raise exception 'The password has changed.' using errcode = 'invalid_authorization_specification';
  end if;
  delete from auth.administrator_session
  where administrator_id = own_id and token_hash <> decode(current_setting('service.session', true), 'hex');
  perform auth.note_event('administrator.password_changed', own_name);
end
$$;
comment on function administration.change_password(text, text) is
  'Changes the administrator''s own password, whose present one has been compared with this hash, and ends all other sessions.';

select api_meta.give('administration.own_password()', 'service_registrar');
select api_meta.give('administration.change_password(text, text)', 'service_registrar');
grant execute on function administration.own_password(), administration.change_password(text, text) to service_administration;
--! EndIncluded functions/administration/password.sql
--! Included functions/administration/credentials.sql
create or replace function administration.credentials(wanted uuid default null) returns setof auth.credential_overview
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select * from auth.credential_overview as overview
  where credentials.wanted is null or overview.id = credentials.wanted
  order by lower(overview.name), overview.id;
end
$$;
comment on function administration.credentials(uuid) is 'All credentials, or one, without their secrets.';

create or replace function administration.known_scopes() returns setof text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select auth.known_scopes();
end
$$;
comment on function administration.known_scopes() is 'Every scope that a credential can have.';

create or replace function administration.credential_uses(since date, wanted uuid default null)
returns table (credential_id uuid, day date, version text, deprecated_field text, requests bigint, last_used_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select use.credential_id, use.day, use.version, use.deprecated_field, use.requests, use.last_used_at::timestamptz
  from auth.credential_use as use
  where use.day >= credential_uses.since and (credential_uses.wanted is null or use.credential_id = credential_uses.wanted)
  order by use.day desc, use.version, use.deprecated_field;
end
$$;
comment on function administration.credential_uses(date, uuid) is 'How all credentials, or one, were used since a day.';

select api_meta.give('administration.credentials(uuid)', 'service_registrar');
select api_meta.give('administration.known_scopes()', 'service_registrar');
select api_meta.give('administration.credential_uses(date, uuid)', 'service_registrar');
grant execute on function administration.credentials(uuid), administration.known_scopes(), administration.credential_uses(date, uuid)
  to service_administration;
--! EndIncluded functions/administration/credentials.sql
--! Included functions/administration/change_credentials.sql
create or replace function administration.create_credential(id uuid, name text, scopes text[], access_key text, secret_hash bytea) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.create_credential(create_credential.name, create_credential.scopes, create_credential.access_key, create_credential.secret_hash, create_credential.id);
end
$$;
comment on function administration.create_credential(uuid, text, text[], text, bytea) is
  'Makes a credential, as auth.create_credential. The form brings the id, so that one that is sent twice makes one credential.';

create or replace function administration.rotate_credential(id uuid, present_key text, access_key text, secret_hash bytea, overlap interval) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform from auth.credential where credential.id = rotate_credential.id for update;
  if not exists (
    select from auth.credential_secret as secret
    where secret.credential_id = rotate_credential.id and secret.access_key = rotate_credential.present_key and secret.expires_at is null
  ) then
    return false;
  end if;
  perform auth.rotate_credential(rotate_credential.id, rotate_credential.access_key, rotate_credential.secret_hash, rotate_credential.overlap);
  return true;
end
$$;
comment on function administration.rotate_credential(uuid, text, text, bytea, interval) is
  'Rotates a credential, as auth.rotate_credential, if its newest key is still the one that the page showed; answers whether it was. So a form that is sent twice rotates once.';

create or replace function administration.change_credential(id uuid, name text, scopes text[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.change_credential(change_credential.id, change_credential.name, change_credential.scopes);
end
$$;
comment on function administration.change_credential(uuid, text, text[]) is 'Changes a credential, as auth.change_credential.';

create or replace function administration.set_credential_active(id uuid, active boolean) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  if set_credential_active.active then
    perform auth.activate_credential(set_credential_active.id);
  else
    perform auth.deactivate_credential(set_credential_active.id);
  end if;
end
$$;
comment on function administration.set_credential_active(uuid, boolean) is 'Deactivates a credential, or activates it again.';

create or replace function administration.delete_credential(id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.delete_credential(delete_credential.id);
end
$$;
comment on function administration.delete_credential(uuid) is 'Removes a credential, as auth.delete_credential.';

select api_meta.give('administration.create_credential(uuid, text, text[], text, bytea)', 'service_registrar');
select api_meta.give('administration.rotate_credential(uuid, text, text, bytea, interval)', 'service_registrar');
select api_meta.give('administration.change_credential(uuid, text, text[])', 'service_registrar');
select api_meta.give('administration.set_credential_active(uuid, boolean)', 'service_registrar');
select api_meta.give('administration.delete_credential(uuid)', 'service_registrar');
grant execute on function administration.create_credential(uuid, text, text[], text, bytea),
  administration.rotate_credential(uuid, text, text, bytea, interval), administration.change_credential(uuid, text, text[]),
  administration.set_credential_active(uuid, boolean), administration.delete_credential(uuid) to service_administration;
--! EndIncluded functions/administration/change_credentials.sql
--! Included functions/administration/activity.sql
create or replace function administration.activity(about uuid, before uuid, how_many integer)
returns table (id uuid, happened_at timestamptz, actor text, administrator_name text, address text, action text, credential_id uuid, credential_exists boolean, subject text, details jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select event.id, event.happened_at::timestamptz, event.actor, administrator.name, host(event.address), event.action,
    event.credential_id,
    exists (select from auth.credential where credential.id = event.credential_id), event.subject, event.details
  from auth.audit_event as event
  left join auth.administrator on administrator.id = event.administrator_id
  where (activity.about is null or event.credential_id = activity.about) and (activity.before is null or event.id < activity.before)
  order by event.id desc
  limit least(activity.how_many, 200);
end
$$;
comment on function administration.activity(uuid, uuid, integer) is 'The newest events of the audit, of all or of one credential; or those before one.';
select api_meta.give('administration.activity(uuid, uuid, integer)', 'service_registrar');
grant execute on function administration.activity(uuid, uuid, integer) to service_administration;
--! EndIncluded functions/administration/activity.sql
--! Included functions/administration/plan.sql
create or replace function administration.plans() returns table (name text, is_current boolean, limits jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select plan.name, plan.is_current, plan.limits from auth.plan;
end
$$;
comment on function administration.plans() is 'The plans that there are, of which one is current.';

create or replace function administration.set_plan(name text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  perform auth.set_plan(set_plan.name);
end
$$;
comment on function administration.set_plan(text) is 'Gives the merchant another plan, as auth.set_plan; the limits that come with it stay.';

select api_meta.give('administration.plans()', 'service_registrar');
select api_meta.give('administration.set_plan(text)', 'service_registrar');
grant execute on function administration.plans(), administration.set_plan(text) to service_administration;
--! EndIncluded functions/administration/plan.sql
