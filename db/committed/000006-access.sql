--! Previous: sha1:fe2720a9716feb89e7759c4913e76046f4cd836e
--! Hash: sha1:1fe1bec6029c217c814826338217b1b87cf24513
--! Message: access

-- Who may ask: API credentials with their secrets, the keys that sign access tokens, the merchant's plan, and
-- who administrates. What the service needs goes through functions.

--! Included auth/is_scope_list.sql
create or replace function auth.is_scope_list(scopes text[]) returns boolean
language sql immutable parallel safe
return pg_catalog.array_position(scopes, null) is null
  and not exists (
    select from pg_catalog.unnest(scopes) as listed (scope)
    where listed.scope !~ '^[a-z][a-z_]*:(read|write)$'
  )
  and not exists (
    select from pg_catalog.unnest(scopes) as listed (scope)
    where listed.scope ~ ':write$'
      and pg_catalog.regexp_replace(listed.scope, ':write$', ':read') <> all (scopes)
  );
comment on function auth.is_scope_list(text[]) is
  'Whether all elements have the form <resource>:read or <resource>:write, and each write scope has its '
  'read scope beside it.';
grant execute on function auth.is_scope_list(text[]) to service_registrar;
--! EndIncluded auth/is_scope_list.sql

create table auth.credential (
  id uuid primary key default uuidv7(),
  name text not null
    constraint credential_name_has_1_to_100_characters check (length(btrim(name)) between 1 and 100),
  scopes text[] not null constraint credential_scopes_are_scopes check (auth.is_scope_list(scopes)),
  stored_operations_only boolean not null default false,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  last_used_at timestamptz(0),
  rotated_at timestamptz(0),
  deactivated_at timestamptz(0),
  expires_at timestamptz(0)
);
create index credential_expires_at_idx on auth.credential (expires_at) where expires_at is not null;
alter table auth.credential enable row level security;
comment on table auth.credential is
  'What an administrator made for one client of the API: a name and the scopes of its tokens. Its key '
  'and secret are auth.credential_secret.';
comment on column auth.credential.name is 'What the client is called in lists and in the log.';
comment on column auth.credential.scopes is
  'Scopes of its tokens, for example {products:read,stocks:read,stocks:write}. A write scope comes with '
  'its read scope.';
comment on column auth.credential.stored_operations_only is
  'Whether its tokens may send operations of auth.stored_operation only.';
comment on column auth.credential.last_used_at is
  'When it was last exchanged for a token, or a request came with one; to the minute.';
comment on column auth.credential.rotated_at is
  'When its present key and secret took the place of older ones; null while it has its first.';
comment on column auth.credential.deactivated_at is
  'Since when it and its tokens are refused; null while it works.';
comment on column auth.credential.expires_at is
  'When it and its tokens end; null when it has no end.';
comment on index auth.credential_expires_at_idx is 'For auth.prune_credentials.';
select api_meta.allow('service_registrar', 'auth.credential',
  'select', 'insert',
  'update (name, scopes, stored_operations_only, last_used_at, rotated_at, deactivated_at, expires_at)',
  'delete');

create table auth.credential_secret (
  access_key text collate "C" primary key
    constraint credential_secret_access_key_is_printable check (access_key ~ '^[A-Za-z0-9_-]{16,64}$'),
  credential_id uuid not null references auth.credential on delete cascade,
  secret_hash bytea not null
    constraint credential_secret_hash_has_32_bytes check (octet_length(secret_hash) = 32),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  expires_at timestamptz(0)
);
create index credential_secret_credential_id_idx on auth.credential_secret (credential_id);
alter table auth.credential_secret enable row level security;
comment on table auth.credential_secret is
  'Pairs of access key and secret by which a credential is proved. A table of its own, so that after a '
  'rotation an old pair could overlap with the new one.';
comment on column auth.credential_secret.access_key is 'The client_id of the token endpoint. Safe to log.';
comment on column auth.credential_secret.secret_hash is
  'SHA-256 of the secret. The secret has 256 random bits, so a slow hash would protect it no better.';
comment on column auth.credential_secret.expires_at is
  'When the pair ends, after a rotation with an overlap; null while it is the newest.';
select api_meta.allow('service_registrar', 'auth.credential_secret',
  'select', 'insert', 'update (expires_at)', 'delete');

create table auth.signing_key (
  id uuid primary key default uuidv7(),
  secret text,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  retires_at timestamptz(0),
  constraint signing_key_has_its_form
    check (secret ~ '^([A-Za-z0-9+/]{43}=|sealed:v1:[0-9a-f]{16}:[A-Za-z0-9_-]+)$'),
  constraint signing_key_that_signs_is_there check (retires_at is not null or secret is not null)
);
create unique index signing_key_that_signs_is_one on auth.signing_key ((true)) where retires_at is null;
alter table auth.signing_key enable row level security;
comment on table auth.signing_key is
  'Keys that sign access tokens (HMAC-SHA256). One signs; those before it are accepted until the tokens '
  'that they have signed are over.';
comment on column auth.signing_key.secret is
  '32 bytes in base64, or what they are encrypted to (src/secrets); null after it has retired.';
comment on column auth.signing_key.retires_at is
  'When its signatures are accepted no more; null for the key that signs.';
select api_meta.allow('service_keeper', 'auth.signing_key', 'select', 'update (secret)');

-- The merchant's plan: whether the API may be used, whether it may be written by, and how much at once.
create table auth.plan (
  name text primary key
    constraint plan_is_none_read_only_or_full check (name in ('none', 'read_only', 'full')),
  is_current boolean not null default false,
  limits jsonb not null default '{}'
    constraint plan_limits_are_an_object check (jsonb_typeof(limits) = 'object')
);
create unique index plan_is_one on auth.plan (is_current) where is_current;
alter table auth.plan enable row level security;
comment on table auth.plan is 'The plans that a merchant can have, of which one is current.';
comment on column auth.plan.name is
  'none: the API is switched off. read_only: queries only. full: everything.';
comment on column auth.plan.is_current is 'Whether it is the plan that the merchant has.';
comment on column auth.plan.limits is
  'Limits that differ from the settings of the service while the plan is current, by the names that '
  'src/graphql/limits.ts gives them, for example {"cost": 4000}.';
select api_meta.allow('service_registrar', 'auth.plan', 'select', 'update (is_current, limits)');

insert into auth.plan (name, is_current) values ('none', false), ('read_only', false), ('full', true);

create table auth.administrator (
  id uuid primary key default uuidv7(),
  name text not null
    constraint administrator_name_is_a_word_or_an_address check (name ~ '^[^\s[:cntrl:]]{1,100}$'),
  password_hash text not null
    constraint administrator_password_hash_is_argon2id check (password_hash ^@ '$argon2id$'),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  password_changed_at timestamptz(0) not null default date_trunc('second', now()),
  last_log_in_at timestamptz(0),
  deactivated_at timestamptz(0)
);
create unique index administrator_name_is_unique on auth.administrator (lower(name));
alter table auth.administrator enable row level security;
comment on table auth.administrator is
  'Who may use the administration in the browser. Never deleted, for auth.audit_event points to them.';
comment on column auth.administrator.name is
  'The user name, or an e-mail address. Upper and lower case are the same.';
comment on column auth.administrator.deactivated_at is 'Since when there is no way in; null while there is.';
select api_meta.allow('service_registrar', 'auth.administrator',
  'select', 'update (password_hash, password_changed_at, last_log_in_at)');

create table auth.administrator_session (
  token_hash bytea primary key
    constraint administrator_session_token_hash_has_32_bytes check (octet_length(token_hash) = 32),
  administrator_id uuid not null references auth.administrator on delete cascade,
  started_at timestamptz(0) not null default date_trunc('second', now()),
  last_seen_at timestamptz(0) not null default date_trunc('second', now())
);
create index administrator_session_administrator_id_idx on auth.administrator_session (administrator_id);
alter table auth.administrator_session enable row level security;
comment on table auth.administrator_session is
  'Sessions in the browser. When one ends is in auth.live_session.';
comment on column auth.administrator_session.token_hash is
  'SHA-256 of the token in the cookie, which has 256 random bits.';
comment on column auth.administrator_session.last_seen_at is 'When it was last used, to the minute.';
select api_meta.allow('service_registrar', 'auth.administrator_session',
  'select', 'insert', 'update (last_seen_at)', 'delete');

create table auth.log_in_attempt (
  key text primary key,
  points integer not null default 0,
  expire bigint
);
alter table auth.log_in_attempt enable row level security;
comment on table auth.log_in_attempt is
  'Log-ins that failed lately, by name and address. Of the package rate-limiter-flexible, which counts '
  'here by statements of its own, so that all processes count together.';
select api_meta.allow('service_administration', 'auth.log_in_attempt',
  'select', 'insert', 'update', 'delete');

create table auth.audit_event (
  id uuid primary key default uuidv7(),
  happened_at timestamptz(0) not null default date_trunc('second', now()),
  actor text not null
    constraint audit_event_actor_is_known check (actor in ('administrator', 'command line', 'nobody')),
  administrator_id uuid references auth.administrator on delete restrict,
  address inet,
  action text not null
    constraint audit_event_action_names_thing_and_deed check (action ~ '^[a-z_]+\.[a-z_]+$'),
  credential_id uuid,
  subject text,
  details jsonb not null default '{}'
    constraint audit_event_details_are_an_object check (jsonb_typeof(details) = 'object'),
  constraint audit_event_of_an_administrator_names_one
    check ((actor = 'administrator') = (administrator_id is not null))
);
create index audit_event_administrator_id_idx on auth.audit_event (administrator_id);
create index audit_event_credential_id_idx
  on auth.audit_event (credential_id, id) where credential_id is not null;
alter table auth.audit_event enable row level security;
comment on table auth.audit_event is
  'What was done to credentials, administrators and settings, by whom and from where. Only ever added '
  'to. Never holds a secret.';
comment on column auth.audit_event.actor is 'nobody: whoever tried to log in without being known.';
comment on column auth.audit_event.credential_id is
  'The credential that it is about; no foreign key, for the credential may be deleted.';
comment on column auth.audit_event.subject is
  'What it is about as people called it then: the name of the credential or of the administrator.';
comment on index auth.audit_event_credential_id_idx is 'For the page of a credential.';
select api_meta.allow('service_keeper', 'auth.audit_event', 'select', 'delete');
select api_meta.allow('service_registrar', 'auth.audit_event', 'select', 'insert');

create table auth.credential_use (
  credential_id uuid not null references auth.credential on delete cascade,
  day date not null,
  version text not null,
  deprecated_field text not null default '',
  requests bigint not null constraint credential_use_requests_are_counted check (requests > 0),
  last_used_at timestamptz(0) not null,
  primary key (credential_id, day, version, deprecated_field)
);
alter table auth.credential_use enable row level security;
comment on table auth.credential_use is
  'How many requests each credential sent to each version on each day, by UTC.';
comment on column auth.credential_use.deprecated_field is
  'Type.field, when the row counts requests that used this deprecated field; empty when it counts all.';
select api_meta.allow('service_registrar', 'auth.credential_use',
  'select', 'insert', 'update (requests, last_used_at)', 'delete');

-- Which fields of the API each credential uses, and when last: tells whom a change would break
create table auth.field_use (
  credential_id uuid not null references auth.credential on delete cascade,
  version text not null,
  field text not null,
  last_used_on date not null,
  primary key (credential_id, version, field)
);
alter table auth.field_use enable row level security;
comment on table auth.field_use is
  'When each credential last used each field of each version, by UTC: whom a change of it would break.';
comment on column auth.field_use.field is
  'Type.field, or Type.field(argument:) for an argument that was given.';
select api_meta.allow('service_registrar', 'auth.field_use',
  'select', 'insert', 'update (last_used_on)', 'delete');

-- Which operations credentials send, how often, and how long their statements take
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
select api_meta.allow('service_registrar', 'auth.operation',
  'select', 'insert', 'update (name, statement, slowest_ms, slowest_on)', 'delete');

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
select api_meta.allow('service_registrar', 'auth.operation_use',
  'select', 'insert', 'update (requests, ms, slowest_ms)', 'delete');

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
create index stored_operation_credential_id_idx on auth.stored_operation (credential_id);
alter table auth.stored_operation enable row level security;
comment on table auth.stored_operation is
  'Operations that were published for clients: they may be sent by the SHA-256 of their document alone.';
comment on column auth.stored_operation.sha256 is 'Of the document, in UTF-8.';
comment on column auth.stored_operation.credential_id is 'Who may send it; null: every credential.';
comment on column auth.stored_operation.name is 'What the document or the manifest calls it.';
select api_meta.allow('service_registrar', 'auth.stored_operation', 'select');

-- Not worth a log: after a crash every bucket counts as full.
create unlogged table auth.bucket (
  key text primary key,
  full_at timestamptz not null
);
alter table auth.bucket enable row level security;
comment on table auth.bucket is 'When buckets of points are full again. A bucket that is not here is full.';
comment on column auth.bucket.key is 'What the points are for, and whose they are.';
comment on column auth.bucket.full_at is 'When all points that were taken will have come back.';
select api_meta.allow('service_limiter', 'auth.bucket', 'select', 'insert', 'update', 'delete');

--! Included auth/live_session.sql
create or replace view auth.live_session with (security_invoker) as
select session.token_hash, session.administrator_id, administrator.name, session.started_at,
  session.last_seen_at,
  least(session.started_at + interval '12 hours', session.last_seen_at + interval '60 minutes') as ends_at
from auth.administrator_session as session
join auth.administrator on administrator.id = session.administrator_id
where administrator.deactivated_at is null
  and least(session.started_at + interval '12 hours', session.last_seen_at + interval '60 minutes') > now();
comment on view auth.live_session is
  'Sessions that are alive: begun within 12 hours, used within one, of an administrator who is active.';
grant select on auth.live_session to service_registrar;
--! EndIncluded auth/live_session.sql
--! Included auth/acting_administrator.sql
create or replace function auth.acting_administrator() returns uuid
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select session.administrator_id from auth.live_session as session
  where session.token_hash = decode(current_setting('service.session', true), 'hex');
end;
comment on function auth.acting_administrator() is
  'The administrator whose session the transaction belongs to: the setting service.session has the '
  'SHA-256 of its token, in hex. Null when there is none that is alive.';
select api_meta.give('auth.acting_administrator()', 'service_registrar');
--! EndIncluded auth/acting_administrator.sql
--! Included auth/activate_credential.sql
create or replace function auth.activate_credential(credential_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  old record;
begin
  select credential.name, credential.deactivated_at, credential.expires_at
  into old
  from auth.credential
  where credential.id = activate_credential.credential_id for update;
  if not found then
    raise exception 'There is no credential %.',
      activate_credential.credential_id using errcode = 'no_data_found';
  elsif old.expires_at <= now() then
    raise exception 'The credential % has ended.',
      activate_credential.credential_id using errcode = 'no_data_found';
  elsif old.deactivated_at is not null then
    update auth.credential set deactivated_at = null where credential.id = activate_credential.credential_id;
    perform auth.note_event('credential.activated', old.name, activate_credential.credential_id);
  end if;
end
$$;
comment on function auth.activate_credential(uuid) is
  'Lets a deactivated credential work again, with the same key and secret. On an active one it changes '
  'nothing; one that has ended stays so.';
grant execute on function auth.activate_credential(uuid) to service_registrar;
--! EndIncluded auth/activate_credential.sql
--! Included auth/active_scopes.sql
create or replace function auth.active_scopes(access_key text)
returns table (scopes text[], remaining interval, stored_operations_only boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select credential.scopes, least(secret.expires_at, credential.expires_at) - now(),
    credential.stored_operations_only
  from auth.credential_secret as secret
  join auth.credential on credential.id = secret.credential_id
  where secret.access_key = active_scopes.access_key and credential.deactivated_at is null
    and (secret.expires_at is null or secret.expires_at > now())
    and (credential.expires_at is null or credential.expires_at > now());
end;
comment on function auth.active_scopes(text) is
  'Scopes that tokens of this access key may have now, for how long the key goes on, or null when it has '
  'no end, and whether they may send stored operations only. No row when it is gone or its credential has '
  'ended or is deactivated.';
grant execute on function auth.active_scopes(text) to service_auth;
--! EndIncluded auth/active_scopes.sql
--! Included auth/add_first_signing_key.sql
create or replace function auth.add_first_signing_key(id uuid, secret text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- If several processes start at the same time, one makes the key and the others use it.
  lock table auth.signing_key in share row exclusive mode;
  insert into auth.signing_key (id, secret)
  select add_first_signing_key.id, add_first_signing_key.secret
  where not exists (select from auth.signing_key k where k.retires_at is null);
end
$$;
comment on function auth.add_first_signing_key(uuid, text) is
  'Takes a key to sign access tokens, when there is none that signs.';
grant execute on function auth.add_first_signing_key(uuid, text) to service_auth;
--! EndIncluded auth/add_first_signing_key.sql
--! Included auth/announce_credential_change.sql
create or replace function auth.announce_credential_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('service_credential_change', '');
  return null;
end
$$;
comment on function auth.announce_credential_change() is
  'Trigger: tells every process of the service to forget what it remembers about credentials and the '
  'plan, as soon as the change is committed.';
--! EndIncluded auth/announce_credential_change.sql
--! Included auth/authenticate_credential.sql
create or replace function auth.authenticate_credential(presented_key text, presented_hash bytea)
returns table (credential_id uuid, scopes text[])
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
  candidate record;
begin
  select credential.id, credential.scopes, credential.last_used_at, credential.deactivated_at,
    secret.secret_hash
  into candidate
  from auth.credential_secret as secret
  join auth.credential on credential.id = secret.credential_id
  where secret.access_key = presented_key and (secret.expires_at is null or secret.expires_at > now())
    and (credential.expires_at is null or credential.expires_at > now());

  -- Hashing both sides once more with a nonce makes the time of the comparison independent of the stored
  -- hash. An unknown key takes the same path, with a hash that no secret has.
  if sha256(nonce || presented_hash) <> sha256(nonce || coalesce(candidate.secret_hash, nonce))
    or candidate.deactivated_at is not null
  then
    return;
  end if;

  -- To the minute, so that a busy client does not write a row for each token.
  update auth.credential set last_used_at = date_trunc('second', now())
  where credential.id = candidate.id
    and (candidate.last_used_at is null or candidate.last_used_at < now() - interval '1 minute');
  return query select candidate.id, candidate.scopes;
end
$$;
comment on function auth.authenticate_credential(text, bytea) is
  'The active credential that has this access key and SHA-256 of a secret, or no row. The row does not '
  'tell what was wrong.';
grant execute on function auth.authenticate_credential(text, bytea) to service_auth;
--! EndIncluded auth/authenticate_credential.sql
--! Included auth/change_credential.sql
create or replace function auth.change_credential(credential_id uuid, name text, scopes text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  old record;
begin
  perform auth.check_scopes(change_credential.scopes);
  select credential.name, credential.scopes
  into old
  from auth.credential
  where credential.id = change_credential.credential_id for update;
  if not found then
    raise exception 'There is no credential %.',
      change_credential.credential_id using errcode = 'no_data_found';
  elsif old.name = change_credential.name and old.scopes = change_credential.scopes then
    return;
  end if;
  update auth.credential set name = change_credential.name, scopes = change_credential.scopes
  where credential.id = change_credential.credential_id;
  perform auth.note_event('credential.changed', change_credential.name, change_credential.credential_id,
    jsonb_build_object(
    'old_name', nullif(old.name, change_credential.name),
    'added', (
      select jsonb_agg(added)
      from (
        select unnest(change_credential.scopes) except select unnest(old.scopes) order by 1
      ) as list (added)
    ),
    'removed', (
      select jsonb_agg(removed)
      from (
        select unnest(old.scopes) except select unnest(change_credential.scopes) order by 1
      ) as list (removed)
    )
  ));
end
$$;
comment on function auth.change_credential(uuid, text, text[]) is
  'Gives a credential another name or other scopes. Scopes that it loses are gone from its tokens at '
  'once; those that it gains are in its next ones.';
grant execute on function auth.change_credential(uuid, text, text[]) to service_registrar;
--! EndIncluded auth/change_credential.sql
--! Included auth/charge_points.sql
create or replace function auth.charge_points(
  bucket text, refill_ms double precision, maximum_ms double precision
)
returns void
language sql volatile set search_path = pg_catalog, pg_temp
begin atomic
  insert into auth.bucket as b (key, full_at)
  values (bucket, clock_timestamp() + least(refill_ms, maximum_ms) * interval '1 ms')
  on conflict (key) do update set full_at = least(
    greatest(b.full_at, clock_timestamp()) + refill_ms * interval '1 ms',
    clock_timestamp() + maximum_ms * interval '1 ms');
end;
comment on function auth.charge_points(text, double precision, double precision) is
  'Takes points out of a bucket after the fact, whether or not they are there. Afterwards it is full '
  'again in maximum_ms milliseconds at most.';
grant execute on function auth.charge_points(text, double precision, double precision) to service_limiter;
--! EndIncluded auth/charge_points.sql
--! Included auth/check_scopes.sql
create or replace function auth.check_scopes(scopes text[]) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  unknown constant text[] := array(select unnest(check_scopes.scopes) except select auth.known_scopes());
begin
  if unknown <> '{}' then
    raise exception 'There is no scope %.',
      array_to_string(unknown, ', ') using errcode = 'invalid_parameter_value';
  end if;
end
$$;
comment on function auth.check_scopes(text[]) is 'Refuses scopes that do not exist.';
grant execute on function auth.check_scopes(text[]) to service_registrar;
--! EndIncluded auth/check_scopes.sql
--! Included auth/clear_full_buckets.sql
create or replace function auth.clear_full_buckets() returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cleared integer;
begin
  delete from auth.bucket b where b.key = any (array(
    select o.key from auth.bucket o where o.full_at < clock_timestamp() limit 10000 for update skip locked));
  get diagnostics cleared = row_count;
  return cleared;
end
$$;
comment on function auth.clear_full_buckets() is
  'Deletes up to 10,000 full buckets: a missing one counts as full. Answers how many.';
grant execute on function auth.clear_full_buckets() to service_limiter;
--! EndIncluded auth/clear_full_buckets.sql
--! Included auth/create_administrator.sql
create or replace function auth.create_administrator(name text, password_hash text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  new_id uuid;
begin
  insert into auth.administrator (name, password_hash)
  values (create_administrator.name, create_administrator.password_hash)
  returning id into new_id;
  perform auth.note_event('administrator.created', create_administrator.name);
  return new_id;
end
$$;
comment on function auth.create_administrator(text, text) is
  'Makes an administrator, with the hash of a password by argon2id; answers the id.';
--! EndIncluded auth/create_administrator.sql
--! Included auth/create_credential.sql
create or replace function auth.create_credential(
  name text, scopes text[], access_key text, secret_hash bytea, id uuid default uuidv7()
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform auth.check_scopes(create_credential.scopes);
  insert into auth.credential (id, name, scopes)
  values (create_credential.id, create_credential.name, create_credential.scopes);
  insert into auth.credential_secret (access_key, credential_id, secret_hash)
  values (create_credential.access_key, create_credential.id, create_credential.secret_hash);
  perform auth.note_event('credential.created', create_credential.name, create_credential.id,
    jsonb_build_object('scopes', create_credential.scopes, 'access_key', create_credential.access_key));
  return create_credential.id;
end
$$;
comment on function auth.create_credential(text, text[], text, bytea, uuid) is
  'Makes a credential with its first key and the SHA-256 of its secret; answers its id. Refuses scopes '
  'that do not exist.';
grant execute on function auth.create_credential(text, text[], text, bytea, uuid) to service_registrar;
--! EndIncluded auth/create_credential.sql
--! Included auth/credential_overview.sql
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
  credential.deactivated_at is null and (credential.expires_at is null or credential.expires_at > now())
    as active,
  credential.created_at,
  credential.last_used_at,
  credential.rotated_at,
  credential.deactivated_at,
  (select max(secret.expires_at) from auth.credential_secret as secret
    where secret.credential_id = credential.id and secret.expires_at > now()) as old_key_ends_at,
  credential.stored_operations_only,
  credential.expires_at
from auth.credential;
comment on view auth.credential_overview is
  'Credentials as an administrator sees them: everything but the secrets. The newest key comes first; '
  'those before it end.';
grant select on auth.credential_overview to service_registrar;
--! EndIncluded auth/credential_overview.sql
--! Included auth/current_plan.sql
create or replace function auth.current_plan() returns table (name text, limits jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select plan.name, plan.limits from auth.plan where plan.is_current;
end;
comment on function auth.current_plan() is
  'The plan that the merchant has, and the limits that come with it.';
grant execute on function auth.current_plan() to service_auth, service_delivery, service_recorder,
  service_writer;
--! EndIncluded auth/current_plan.sql
--! Included auth/deactivate_administrator.sql
create or replace function auth.deactivate_administrator(name text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found_id uuid;
begin
  update auth.administrator set deactivated_at = coalesce(deactivated_at, date_trunc('second', now()))
  where lower(administrator.name) = lower(deactivate_administrator.name)
  returning id into found_id;
  if not found then
    raise exception 'There is no administrator “%”.',
      deactivate_administrator.name using errcode = 'no_data_found';
  end if;
  delete from auth.administrator_session where administrator_id = found_id;
  perform auth.note_event('administrator.deactivated', deactivate_administrator.name);
end
$$;
comment on function auth.deactivate_administrator(text) is
  'Ends all sessions of an administrator and lets them in no more.';
--! EndIncluded auth/deactivate_administrator.sql
--! Included auth/deactivate_credential.sql
create or replace function auth.deactivate_credential(credential_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  old record;
begin
  select credential.name, credential.deactivated_at
  into old
  from auth.credential
  where credential.id = deactivate_credential.credential_id for update;
  if not found then
    raise exception 'There is no credential %.',
      deactivate_credential.credential_id using errcode = 'no_data_found';
  elsif old.deactivated_at is null then
    update auth.credential
    set deactivated_at = date_trunc('second', now())
    where credential.id = deactivate_credential.credential_id;
    perform auth.note_event('credential.deactivated', old.name, deactivate_credential.credential_id);
  end if;
end
$$;
comment on function auth.deactivate_credential(uuid) is
  'Stops a credential and all of its tokens. Deactivating it again changes nothing.';
grant execute on function auth.deactivate_credential(uuid) to service_registrar;
--! EndIncluded auth/deactivate_credential.sql
--! Included auth/delete_credential.sql
create or replace function auth.delete_credential(credential_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  credential_name text;
begin
  delete from auth.credential where id = delete_credential.credential_id returning name into credential_name;
  if not found then
    raise exception 'There is no credential %.',
      delete_credential.credential_id using errcode = 'no_data_found';
  end if;
  perform auth.note_event('credential.deleted', credential_name, delete_credential.credential_id);
end
$$;
comment on function auth.delete_credential(uuid) is
  'Removes a credential with its secrets. Its tokens stop at once.';
grant execute on function auth.delete_credential(uuid) to service_registrar;
--! EndIncluded auth/delete_credential.sql
--! Included auth/erase_retired_keys.sql
create or replace function auth.erase_retired_keys() returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  erased integer;
begin
  update auth.signing_key k set secret = null
  where k.secret is not null and k.retires_at <= clock_timestamp();
  get diagnostics erased = row_count;
  return erased;
end
$$;
comment on function auth.erase_retired_keys() is
  'Erases keys that have retired; that they were there stays known. Answers how many.';
select api_meta.give('auth.erase_retired_keys()', 'service_keeper');
grant execute on function auth.erase_retired_keys() to service_worker;
--! EndIncluded auth/erase_retired_keys.sql
--! Included auth/is_session.sql
create or replace function auth.is_session(token_hash bytea) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select exists (select from auth.live_session as session where session.token_hash = is_session.token_hash);
end;
comment on function auth.is_session(bytea) is
  'Whether this is the SHA-256 of the token of a session that is alive. So the API can tell a token of '
  'the administration from one that is none.';
select api_meta.give('auth.is_session(bytea)', 'service_registrar');
grant execute on function auth.is_session(bytea) to service_auth;
--! EndIncluded auth/is_session.sql
--! Included auth/keep_audit.sql
create or replace function auth.keep_audit() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Only the trigger for deletions has a row
  if tg_op = 'DELETE' and current_user = 'service_keeper' then
    if old.happened_at < now() - auth.audit_lifetime() then
      return old;
    end if;
  end if;
  raise exception 'Events of the audit are never changed, and deleted only by age.' using errcode
    = 'integrity_constraint_violation';
end
$$;
comment on function auth.keep_audit() is
  'Trigger: refuses changes and deletions, also by the owner, but for what auth.prune_audit deletes.';
--! EndIncluded auth/keep_audit.sql
--! Included auth/known_scopes.sql
create or replace function auth.known_scopes() returns setof text
language sql stable parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  with api_object (oid) as (
    select pg_class.oid from pg_class
    join pg_namespace on pg_namespace.oid = pg_class.relnamespace
    where pg_namespace.nspname ^@ 'api_' and pg_class.relkind = 'v'
    union all
    select pg_proc.oid from pg_proc
    join pg_namespace on pg_namespace.oid = pg_proc.pronamespace
    where pg_namespace.nspname ^@ 'api_'
  ), named (resource, level) as (
    select scope.match[1], scope.match[2]
    from api_object
    join pg_description on pg_description.objoid = api_object.oid
      and pg_description.classoid in ('pg_class'::regclass, 'pg_proc'::regclass)
    cross join lateral regexp_matches(
      pg_description.description, '@requiresScopes\s+([^\n|]+)', 'g'
    ) as tag (match)
    cross join lateral regexp_matches(tag.match[1], '([a-z][a-z_]*):([a-z]+)', 'g') as scope (match)
  )
  select scope.resource || ':' || scope.level
  from (
    select named.resource, 'read' as level from named
    union
    select named.resource, named.level from named
  ) scope
  order by scope.resource, scope.level;
end;
comment on function auth.known_scopes() is
  'Every scope that a credential can have: those that a @requiresScopes tag names in an API schema, and '
  'reading of what can be written. So a scope is declared in one place, beside the view that it protects or '
  'the mutation that needs it, and nobody is offered to write what no mutation writes.';
grant execute on function auth.known_scopes() to service_registrar;
--! EndIncluded auth/known_scopes.sql
--! Included auth/limit_credential.sql
create or replace function auth.limit_credential(credential_id uuid, lasts interval) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  ends_at constant timestamptz := date_trunc('second', now() + lasts);
  credential_name text;
begin
  if lasts <= interval '0' then
    raise exception 'A credential lasts longer than nothing.' using errcode = 'invalid_parameter_value';
  end if;
  update auth.credential set expires_at = ends_at
  where credential.id = limit_credential.credential_id
  returning credential.name into credential_name;
  if not found then
    raise exception 'There is no credential %.',
      limit_credential.credential_id using errcode = 'no_data_found';
  end if;
  perform auth.note_event('credential.limited', credential_name, limit_credential.credential_id,
    jsonb_build_object('ends_at', ends_at));
end
$$;
comment on function auth.limit_credential(uuid, interval) is
  'Lets a credential last for a while from now on, whatever its end was. Then it is refused, as all of its '
  'keys and tokens are; rotating it moves no end.';
grant execute on function auth.limit_credential(uuid, interval) to service_registrar;
--! EndIncluded auth/limit_credential.sql
--! Included auth/note_event.sql
create or replace function auth.note_event(
  action text, subject text, credential_id uuid default null, details jsonb default '{}'
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  administrator_id constant uuid := auth.acting_administrator();
begin
  insert into auth.audit_event (actor, administrator_id, address, action, credential_id, subject, details)
  values (
    case
      when administrator_id is not null then 'administrator'
      when current_setting('service.address', true) <> '' then 'nobody'
      else 'command line' end,
    administrator_id, nullif(current_setting('service.address', true), '')::inet,
    note_event.action, note_event.credential_id, note_event.subject, jsonb_strip_nulls(note_event.details)
  );
end
$$;
comment on function auth.note_event(text, text, uuid, jsonb) is
  'Adds to the audit, as done by the administrator of the session; without one, at the command line, or if '
  'there is an address (setting service.address), by a visitor who is not logged in.';
grant execute on function auth.note_event(text, text, uuid, jsonb) to service_registrar;
--! EndIncluded auth/note_event.sql
--! Included auth/operation_overview.sql
create or replace view auth.operation_overview with (security_invoker) as
select
  o.id,
  o.version,
  o.name,
  o.document,
  o.statement,
  sum(u.requests)::bigint as requests,
  sum(u.ms) as ms,
  max(u.slowest_ms) as slowest_ms,
  count(distinct u.credential_id) as tokens,
  max(u.day) as last_used_on
from auth.operation o
join auth.operation_use u on u.operation_id = o.id
group by o.id;
comment on view auth.operation_overview is
  'Operations of the last 14 days with their sums: requests, milliseconds of their statements, tokens.';
grant select on auth.operation_overview to service_registrar;
--! EndIncluded auth/operation_overview.sql
--! Included auth/prune_audit.sql
create or replace function auth.prune_audit(batch integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lifetime constant interval := auth.audit_lifetime();
  deleted integer;
begin
  if lifetime is null or not pg_try_advisory_xact_lock(hashtextextended('auth.prune_audit', 0)) then
    return 0;
  end if;
  -- Ids are ordered by time
  delete from auth.audit_event e where e.id = any (array(
    select o.id from auth.audit_event o
    where o.id < uuidv7(-lifetime) and o.happened_at < now() - lifetime order by o.id limit batch));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
comment on function auth.prune_audit(integer) is
  'Deletes events of the audit that are older than auth.audit_lifetime(), at most as many as the batch. '
  'Answers how many: to be called again until that is 0.';
select api_meta.give('auth.prune_audit(integer)', 'service_keeper');
grant execute on function auth.prune_audit(integer) to service_worker;
--! EndIncluded auth/prune_audit.sql
--! Included auth/prune_credentials.sql
create or replace function auth.prune_credentials(batch integer default 100) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  ended constant uuid[] := array(
    select c.id from auth.credential c
    where c.expires_at < now() - auth.use_lifetime()
      and not exists (select from events.webhook_subscription s where s.credential_id = c.id)
    order by c.expires_at limit batch for update skip locked);
begin
  -- Deleting nothing would be announced too
  if ended <> '{}' then
    delete from auth.credential c where c.id = any (ended);
  end if;
  return cardinality(ended);
end
$$;
comment on function auth.prune_credentials(integer) is
  'Deletes credentials that ended longer ago than auth.use_lifetime(), with what is left of the counts of '
  'their use, at most as many as the batch; those that a webhook subscription names stay. Answers how many: '
  'to be called again until that is 0.';
select api_meta.give('auth.prune_credentials(integer)', 'service_registrar');
grant execute on function auth.prune_credentials(integer) to service_worker;
--! EndIncluded auth/prune_credentials.sql
--! Included auth/prune_operations.sql
create or replace function auth.prune_operations(batch integer default 2000) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  oldest constant date := (now() at time zone 'UTC')::date - 14;
  count integer;
  deleted integer;
begin
  delete from auth.operation_use u where u.ctid = any (array(
    select o.ctid from auth.credential c
    cross join lateral (
      select x.ctid from auth.operation_use x where x.credential_id = c.id and x.day < oldest limit batch
    ) o
    limit batch));
  get diagnostics count = row_count;

  delete from auth.operation p where p.id = any (array(
    select o.id from auth.operation o
    where not exists (select from auth.operation_use u where u.operation_id = o.id)
    limit batch));
  get diagnostics deleted = row_count;
  return count + deleted;
end
$$;
comment on function auth.prune_operations(integer) is
  'Forgets what was sent more than 14 days ago, and operations that nobody sends any more, at most as many '
  'of each as the batch. Answers how many: to be called again until that is 0.';
select api_meta.give('auth.prune_operations(integer)', 'service_registrar');
grant execute on function auth.prune_operations(integer) to service_worker;
--! EndIncluded auth/prune_operations.sql
--! Included auth/prune_uses.sql
create or replace function auth.prune_uses(batch integer default 1000) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  oldest constant date := (now() at time zone 'UTC')::date - extract(day from auth.use_lifetime())::integer;
  count integer;
  deleted integer;
begin
  -- By credential, as the primary keys are ordered
  delete from auth.credential_use u where u.ctid = any (array(
    select o.ctid from auth.credential c
    cross join lateral (
      select x.ctid from auth.credential_use x where x.credential_id = c.id and x.day < oldest limit batch
    ) o
    limit batch));
  get diagnostics count = row_count;
  delete from auth.field_use u where u.ctid = any (array(
    select o.ctid from auth.credential c
    cross join lateral (
      select x.ctid from auth.field_use x
      where x.credential_id = c.id and x.last_used_on < oldest limit batch
    ) o
    limit batch));
  get diagnostics deleted = row_count;
  return count + deleted;
end
$$;
comment on function auth.prune_uses(integer) is
  'Forgets which credentials used what longer ago than auth.use_lifetime(), at most as many rows of each '
  'kind as the batch. Answers how many: to be called again until that is 0.';
select api_meta.give('auth.prune_uses(integer)', 'service_registrar');
grant execute on function auth.prune_uses(integer) to service_worker;
--! EndIncluded auth/prune_uses.sql
--! Included auth/publish_operations.sql
create or replace function auth.publish_operations(version text, credential_id uuid, operations jsonb)
returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  published integer;
  total record;
begin
  -- One after the other, so that the limits below hold
  lock table auth.stored_operation in share row exclusive mode;
  insert into auth.stored_operation (version, credential_id, sha256, name, document)
  select publish_operations.version, publish_operations.credential_id,
    pg_catalog.sha256(convert_to(given.document, 'UTF8')), given.name, given.document
  from jsonb_to_recordset(publish_operations.operations) as given (name text, document text)
  on conflict on constraint stored_operation_is_stored_once do nothing;
  get diagnostics published = row_count;
  select count(*) as operations, sum(octet_length(document)) as bytes into total from auth.stored_operation;
  if total.operations > 5000 or total.bytes > 16777216 then
    raise exception 'There would be % stored operations of % bytes: 5000 of 16777216 bytes are the most.',
      total.operations, total.bytes using errcode = 'program_limit_exceeded';
  end if;
  if published > 0 then
    perform auth.note_event('operations.published', coalesce(
        (select c.name from auth.credential c where c.id = publish_operations.credential_id), 'all tokens'
      ), publish_operations.credential_id,
      jsonb_build_object('operations', published, 'version', publish_operations.version));
  end if;
  return published;
end
$$;
comment on function auth.publish_operations(text, uuid, jsonb) is
  'Stores operations of a version, for one credential or, with null, for all: an array of objects with name '
  'and document. Those that are stored already stay as they are. Answers how many are new.';
--! EndIncluded auth/publish_operations.sql
--! Included auth/record_fields.sql
create or replace function auth.record_fields(entries jsonb) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with present as materialized (
    -- Those that were deleted meanwhile are left out; in one order, as auth.record_use has it
    select credential.id from auth.credential
    where credential.id in (select (e ->> 'credential_id')::uuid from jsonb_array_elements(entries) e)
    order by credential.id for key share
  )
  insert into auth.field_use as use (credential_id, version, field, last_used_on)
  select e.credential_id, e.version, e.field, max(e.day)
  from jsonb_to_recordset(entries) as e (credential_id uuid, version text, field text, day date)
  join present on present.id = e.credential_id
  group by 1, 2, 3
  order by 1, 2, 3
  on conflict on constraint field_use_pkey do update set last_used_on = excluded.last_used_on
  where use.last_used_on < excluded.last_used_on
$$;
comment on function auth.record_fields(jsonb) is
  'Notes the last day on which credentials used fields: an array of objects with credential_id, version, '
  'field, day.';
select api_meta.give('auth.record_fields(jsonb)', 'service_registrar');
grant execute on function auth.record_fields(jsonb) to service_auth;
--! EndIncluded auth/record_fields.sql
--! Included auth/record_operations.sql
create or replace function auth.record_operations(entries jsonb) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with present as materialized (
    -- Those that were deleted meanwhile are left out; in one order, as auth.record_use has it
    select credential.id from auth.credential
    where credential.id in (select (e ->> 'credential_id')::uuid from jsonb_array_elements(entries) e)
    order by credential.id for key share
  ), given as materialized (
    select e.* from jsonb_to_recordset(entries) as e (
      id text, version text, name text, document text, credential_id uuid, day date, requests bigint,
      ms double precision, slowest_ms double precision, statement text
    ) join present on present.id = e.credential_id
  ), one as (
    select g.id, g.credential_id, g.day, sum(g.requests) as requests, sum(g.ms) as ms,
      max(g.slowest_ms) as slowest_ms, u.operation_id is not null as is_known
    from given g left join auth.operation_use u
      on u.credential_id = g.credential_id and u.day = g.day and u.operation_id = g.id
    group by g.id, g.credential_id, g.day, u.operation_id
  ), numbered as (
    select one.*, row_number() over (partition by credential_id, day, is_known order by requests desc, id)
      + present_already as nth
    from one cross join lateral (
      select count(*) as present_already from auth.operation_use u
      where u.credential_id = one.credential_id and u.day = one.day
    ) p
  ), kept as materialized (
    -- So many of a credential on a day: nobody fills the journal for others
    select * from numbered where is_known or nth <= 300
  ), operations as (
    insert into auth.operation as o (id, version, name, document, slowest_ms, statement, slowest_on)
    select distinct on (g.id) g.id, g.version, g.name, g.document, g.slowest_ms, g.statement, g.day
    from given g where g.id in (select kept.id from kept)
    order by g.id, g.slowest_ms desc
    on conflict on constraint operation_pkey do update
    set name = excluded.name, slowest_ms = excluded.slowest_ms, statement = excluded.statement,
      slowest_on = excluded.slowest_on
    where o.slowest_ms < excluded.slowest_ms or o.slowest_on < excluded.slowest_on - 14
  )
  insert into auth.operation_use as u (credential_id, day, operation_id, requests, ms, slowest_ms)
  select kept.credential_id, kept.day, kept.id, kept.requests, kept.ms, kept.slowest_ms
  from kept order by 1, 2, 3
  on conflict on constraint operation_use_pkey do update
  set requests = u.requests + excluded.requests, ms = u.ms + excluded.ms,
    slowest_ms = greatest(u.slowest_ms, excluded.slowest_ms)
$$;
comment on function auth.record_operations(jsonb) is
  'Adds up the operations that credentials sent: an array of objects with id, version, name, document, '
  'credential_id, day, requests, ms, slowest_ms, statement. Of one credential 300 operations a day are kept.';
select api_meta.give('auth.record_operations(jsonb)', 'service_registrar');
grant execute on function auth.record_operations(jsonb) to service_auth;
--! EndIncluded auth/record_operations.sql
--! Included auth/record_use.sql
create or replace function auth.record_use(entries jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  with entry as (
    select * from jsonb_to_recordset(entries)
      as e (
        credential_id uuid, day date, version text, deprecated_field text, requests bigint,
        last_used_at timestamptz
      )
  ), present as materialized (
    -- Deleted credentials are left out, and the others can't be deleted until this has been written. In one
    -- order, so that two processes can't deadlock.
    select credential.id from auth.credential
    where credential.id in (select entry.credential_id from entry)
    order by credential.id for key share
  )
  insert into auth.credential_use as use (
    credential_id, day, version, deprecated_field, requests, last_used_at
  )
  select entry.credential_id, entry.day, entry.version, coalesce(entry.deprecated_field, ''),
    sum(entry.requests), max(entry.last_used_at)
  from entry join present on present.id = entry.credential_id
  group by 1, 2, 3, 4
  order by 1, 2, 3, 4
  on conflict on constraint credential_use_pkey do update
  set requests = use.requests + excluded.requests,
    last_used_at = greatest(use.last_used_at, excluded.last_used_at);

  update auth.credential set last_used_at = newest.moment
  from (
    select e.credential_id as id, max(e.last_used_at) as moment
    from jsonb_to_recordset(entries) as e (credential_id uuid, last_used_at timestamptz) group by 1
  ) as newest
  where credential.id = newest.id
    and (credential.last_used_at is null or credential.last_used_at < newest.moment - interval '1 minute');
end
$$;
comment on function auth.record_use(jsonb) is
  'Adds up how credentials were used: an array of objects with credential_id, day, version, requests, '
  'last_used_at, and for uses of a deprecated field deprecated_field.';
select api_meta.give('auth.record_use(jsonb)', 'service_registrar');
grant execute on function auth.record_use(jsonb) to service_auth;
--! EndIncluded auth/record_use.sql
--! Included auth/remove_operations.sql
create or replace function auth.remove_operations(version text, credential_id uuid, hashes text[])
returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  removed integer;
begin
  delete from auth.stored_operation o
  where (remove_operations.version is null or o.version = remove_operations.version)
    and (remove_operations.credential_id is null or o.credential_id = remove_operations.credential_id)
    and (remove_operations.hashes is null or encode(o.sha256, 'hex') = any (remove_operations.hashes));
  get diagnostics removed = row_count;
  if removed > 0 then
    perform auth.note_event('operations.removed', coalesce(
        (select c.name from auth.credential c where c.id = remove_operations.credential_id), 'all tokens'
      ), remove_operations.credential_id,
      jsonb_build_object('operations', removed, 'version', remove_operations.version));
  end if;
  return removed;
end
$$;
comment on function auth.remove_operations(text, uuid, text[]) is
  'Removes stored operations: those of a version, of a credential and with these SHA-256 in hex; null stands '
  'for any. Answers how many there were.';
--! EndIncluded auth/remove_operations.sql
--! Included auth/reset_administrator_password.sql
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
    raise exception 'There is no administrator “%”.',
      reset_administrator_password.name using errcode = 'no_data_found';
  end if;
  delete from auth.administrator_session where administrator_id = found_id;
  perform auth.note_event('administrator.password_reset', reset_administrator_password.name);
end
$$;
comment on function auth.reset_administrator_password(text, text) is
  'Gives an administrator another password, ends all of their sessions, and lets them in again if they '
  'were deactivated.';
--! EndIncluded auth/reset_administrator_password.sql
--! Included auth/restrict_operations.sql
create or replace function auth.restrict_operations(credential_id uuid, stored_only boolean) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  old record;
begin
  select credential.name, credential.stored_operations_only
  into old
  from auth.credential
  where credential.id = restrict_operations.credential_id for update;
  if not found then
    raise exception 'There is no credential %.',
      restrict_operations.credential_id using errcode = 'no_data_found';
  elsif old.stored_operations_only <> restrict_operations.stored_only then
    update auth.credential set stored_operations_only = restrict_operations.stored_only
    where credential.id = restrict_operations.credential_id;
    perform auth.note_event('credential.changed', old.name, restrict_operations.credential_id,
      jsonb_build_object('stored_operations_only', restrict_operations.stored_only));
  end if;
end
$$;
comment on function auth.restrict_operations(uuid, boolean) is
  'Lets a credential send stored operations only, or all operations again.';
grant execute on function auth.restrict_operations(uuid, boolean) to service_registrar;
--! EndIncluded auth/restrict_operations.sql
--! Included auth/retire_signing_key.sql
create or replace function auth.retire_signing_key(id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update auth.signing_key k
  set retires_at = least(k.retires_at, date_trunc('second', clock_timestamp())), secret = null
  where k.id = retire_signing_key.id and k.retires_at is not null;
  if not found then
    raise exception 'There is no key % that could retire: the one that signs can not.', retire_signing_key.id
      using errcode = 'no_data_found';
  end if;
  perform auth.note_event('signing_key.retired', retire_signing_key.id::text);
end
$$;
comment on function auth.retire_signing_key(uuid) is
  'Ends the acceptance of a key, and so the access tokens that it has signed, at once. Not that of the key '
  'that signs.';
--! EndIncluded auth/retire_signing_key.sql
--! Included auth/rotate_credential.sql
create or replace function auth.rotate_credential(
  credential_id uuid, access_key text, secret_hash bytea, overlap interval default '0'
)
returns void
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
    and (expires_at is null or expires_at > now())
  returning name into credential_name;
  if not found then
    raise exception 'There is no active credential %.',
      rotate_credential.credential_id using errcode = 'no_data_found';
  end if;
  -- Without an overlap, keys from an earlier overlap stop too, because they may have leaked.
  if overlap = interval '0' then
    delete from auth.credential_secret as secret where secret.credential_id = rotate_credential.credential_id;
  else
    delete
    from auth.credential_secret as secret
    where secret.credential_id = rotate_credential.credential_id and secret.expires_at <= now();
    update auth.credential_secret as secret set expires_at = least(secret.expires_at, last_moment)
    where secret.credential_id = rotate_credential.credential_id;
  end if;
  insert into auth.credential_secret (access_key, credential_id, secret_hash)
  values (rotate_credential.access_key, rotate_credential.credential_id, rotate_credential.secret_hash);
  perform auth.note_event('credential.rotated', credential_name, rotate_credential.credential_id,
    jsonb_build_object(
      'access_key', rotate_credential.access_key, 'old_key_ends_at',
      case when overlap > interval '0' then last_moment end
    ));
end
$$;
comment on function auth.rotate_credential(uuid, text, bytea, interval) is
  'Gives a credential a new key and secret. Older credentials, and the tokens that were issued for them, '
  'stop after the overlap; by default at once.';
grant execute on function auth.rotate_credential(uuid, text, bytea, interval) to service_registrar;
--! EndIncluded auth/rotate_credential.sql
--! Included auth/rotate_signing_key.sql
create or replace function auth.rotate_signing_key(id uuid, secret text, overlap interval) returns timestamptz
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  last_moment constant timestamptz(0) := clock_timestamp() + overlap;
begin
  lock table auth.signing_key in share row exclusive mode;
  update auth.signing_key k set retires_at = last_moment where k.retires_at is null;
  insert into auth.signing_key (id, secret) values (rotate_signing_key.id, rotate_signing_key.secret);
  perform auth.erase_retired_keys();
  perform auth.note_event('signing_key.rotated', rotate_signing_key.id::text);
  return last_moment;
end
$$;
comment on function auth.rotate_signing_key(uuid, text, interval) is
  'Makes a new signing key. The previous one is accepted for the overlap, which must outlast the tokens that '
  'it has signed. Answers until when.';
--! EndIncluded auth/rotate_signing_key.sql
--! Included auth/secrets_key_id.sql
create or replace function auth.secrets_key_id(secret text) returns text
language sql immutable set search_path = pg_catalog, pg_temp
return substring(secret from '^sealed:v1:([0-9a-f]{16}):');
comment on function auth.secrets_key_id(text) is
  'The id of the key that a secret is encrypted with (src/secrets); null when it is plain.';
--! EndIncluded auth/secrets_key_id.sql
--! Included auth/set_plan.sql
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
  update auth.plan p
  set is_current = true, limits = coalesce(set_plan.limits, p.limits)
  where p.name = set_plan.name;
  perform auth.note_event(
    'plan.changed', set_plan.name, null,
    jsonb_build_object('old_plan', nullif(old.name, set_plan.name), 'limits', set_plan.limits)
  );
end
$$;
comment on function auth.set_plan(text, jsonb) is
  'Gives the merchant a plan, with other limits if these are named. Takes effect at once on every '
  'process. Raises no_data_found for a plan that does not exist.';
grant execute on function auth.set_plan(text, jsonb) to service_registrar;
--! EndIncluded auth/set_plan.sql
--! Included auth/signing_key_overview.sql
create or replace view auth.signing_key_overview with (security_invoker = true) as
select k.id, k.created_at, k.retires_at,
  case
    when k.retires_at is null then 'signs'
    when k.secret is null or k.retires_at <= now() then 'retired'
    else 'verifies'
  end as state,
  auth.secrets_key_id(k.secret) as key_id
from auth.signing_key k;
comment on view auth.signing_key_overview is
  'Keys that sign access tokens as an administrator sees them: everything but the keys. key_id is that of '
  'the key that they are encrypted with.';
--! EndIncluded auth/signing_key_overview.sql
--! Included auth/signing_keys.sql
create or replace function auth.signing_keys()
returns table (id uuid, secret text, signs boolean, remaining interval)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select k.id, k.secret, k.retires_at is null, k.retires_at - clock_timestamp()
  from auth.signing_key k
  where k.secret is not null and (k.retires_at is null or k.retires_at > clock_timestamp());
end;
comment on function auth.signing_keys() is
  'The keys whose signatures of access tokens are accepted, which of them signs, and how long the others '
  'have left.';
grant execute on function auth.signing_keys() to service_auth;
--! EndIncluded auth/signing_keys.sql
--! Included auth/stored_document.sql
create or replace function auth.stored_document(wanted text) returns text
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select o.document from auth.stored_operation o where o.sha256 = decode(wanted, 'hex') limit 1;
end;
comment on function auth.stored_document(text) is
  'The document of a stored operation, by its SHA-256 in hex; null when there is none.';
select api_meta.give('auth.stored_document(text)', 'service_registrar');
grant execute on function auth.stored_document(text) to service_auth;
--! EndIncluded auth/stored_document.sql
--! Included auth/stored_operation_overview.sql
create or replace view auth.stored_operation_overview with (security_invoker) as
select
  operation.version,
  encode(operation.sha256, 'hex') as sha256,
  operation.name,
  octet_length(operation.document) as bytes,
  operation.published_at,
  operation.credential_id,
  credential.name as credential_name
from auth.stored_operation as operation
left join auth.credential on credential.id = operation.credential_id;
comment on view auth.stored_operation_overview is
  'Stored operations without their documents. Those without a credential are for all of them.';
grant select on auth.stored_operation_overview to service_registrar;
--! EndIncluded auth/stored_operation_overview.sql
--! Included auth/stored_operations.sql
create or replace function auth.stored_operations()
returns table (version text, sha256 text, credential_id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select o.version, encode(o.sha256, 'hex'), o.credential_id from auth.stored_operation o;
end;
comment on function auth.stored_operations() is
  'Which operations are stored, by version and SHA-256 of their document, and for which credential; null: '
  'for all of them.';
select api_meta.give('auth.stored_operations()', 'service_registrar');
grant execute on function auth.stored_operations() to service_auth;
--! EndIncluded auth/stored_operations.sql
--! Included auth/supported_locales.sql
create or replace function auth.supported_locales() returns setof text
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select language.code from erp.language order by language.code;
end;
comment on function auth.supported_locales() is
  'Locales that a request may ask for: those that names are kept in.';
grant execute on function auth.supported_locales() to service_auth;
--! EndIncluded auth/supported_locales.sql
--! Included auth/take_points.sql
create or replace function auth.take_points(
  bucket text, refill_ms double precision, capacity_ms double precision
)
returns table (is_allowed boolean, full_in_ms double precision)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := clock_timestamp();
  refill constant interval := refill_ms * interval '1 ms';
  latest constant timestamptz := moment + capacity_ms * interval '1 ms';
  full_at timestamptz;
begin
  if refill_ms <= capacity_ms then
    insert into auth.bucket as b (key, full_at) values (bucket, moment + refill)
    on conflict (key) do update set full_at = greatest(b.full_at, moment) + refill
      where greatest(b.full_at, moment) + refill <= latest
    returning b.full_at into full_at;
  end if;
  is_allowed := full_at is not null;
  if not is_allowed then
    select b.full_at into full_at from auth.bucket b where b.key = bucket;
  end if;
  full_in_ms := greatest(0, extract(epoch from coalesce(full_at, moment) - moment) * 1000);
  return next;
end
$$;
comment on function auth.take_points(text, double precision, double precision) is
  'Takes points out of a bucket, by the generic cell rate algorithm: only the moment is kept at which '
  'the bucket is full again. refill_ms is how long what is taken takes to come back, capacity_ms how '
  'long all of it takes, both in milliseconds. Takes all or nothing; answers which, and in how many '
  'milliseconds the bucket is full.';
grant execute on function auth.take_points(text, double precision, double precision) to service_limiter;
--! EndIncluded auth/take_points.sql
--! Included auth/use_lifetime.sql
create or replace function auth.use_lifetime() returns interval
language sql stable
return greatest(interval '90 days', coalesce(
  nullif(pg_catalog.current_setting('service.keep_use_counts', true), '')::interval, interval '400 days'));
comment on function auth.use_lifetime() is
  'How long it is kept which credential used what: the setting service.keep_use_counts, at least the 90 days '
  'that checks of a change look back on, and without it 400.';
grant execute on function auth.use_lifetime() to service_registrar;

create or replace function auth.audit_lifetime() returns interval
language sql stable
return case when nullif(pg_catalog.current_setting('service.keep_audit', true), '') is not null
  then greatest(interval '365 days', pg_catalog.current_setting('service.keep_audit')::interval) end;
comment on function auth.audit_lifetime() is
  'How long events of the audit are kept: the setting service.keep_audit, at least a year. Null without it: '
  'for ever.';
grant execute on function auth.audit_lifetime() to service_registrar, service_keeper;
--! EndIncluded auth/use_lifetime.sql

create trigger audit_event_is_kept before update or truncate on auth.audit_event
  for each statement execute function auth.keep_audit();
create trigger audit_event_is_kept_until_its_age before delete on auth.audit_event
  for each row execute function auth.keep_audit();
create trigger credential_announces_changes
  after update of scopes, deactivated_at, stored_operations_only, expires_at or delete or truncate
  on auth.credential for each statement execute function auth.announce_credential_change();
create trigger credential_secret_announces_changes after delete or update or truncate
  on auth.credential_secret
  for each statement
  execute function auth.announce_credential_change();
create trigger announce_change after insert or delete or update on auth.plan
  for each statement execute function auth.announce_credential_change();
create trigger announce_signing_key after insert or delete or update of retires_at on auth.signing_key
  for each statement execute function auth.announce_credential_change();
create trigger stored_operation_announces_changes after insert or update or delete or truncate
  on auth.stored_operation for each statement execute function auth.announce_credential_change();
