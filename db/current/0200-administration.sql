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

--!include functions/auth/acting_administrator.sql
--!include functions/auth/note_event.sql
--!include functions/auth/keep_audit.sql
create or replace trigger audit_event_is_kept before update or delete or truncate on auth.audit_event
for each statement execute function auth.keep_audit();
--!include functions/auth/check_scopes.sql
--!include functions/auth/create_credential.sql
--!include functions/auth/rotate_credential.sql
--!include functions/auth/change_credential.sql
--!include functions/auth/activate_credential.sql
--!include functions/auth/deactivate_credential.sql
--!include functions/auth/delete_credential.sql
--!include functions/auth/authenticate_credential.sql
--!include functions/auth/active_scopes.sql
--!include functions/auth/is_session.sql
--!include functions/auth/record_use.sql
--!include functions/auth/administrators.sql
--!include functions/auth/plan.sql
--!include functions/administration/require_administrator.sql
--!include functions/administration/log_in.sql
--!include functions/administration/session.sql
--!include functions/administration/password.sql
--!include functions/administration/credentials.sql
--!include functions/administration/change_credentials.sql
--!include functions/administration/activity.sql
--!include functions/administration/plan.sql
