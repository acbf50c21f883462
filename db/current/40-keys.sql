-- Keys that sign access tokens take turns, and secrets can be kept encrypted
drop function if exists auth.signing_keys(bytea);
do $$
begin
  if exists (
    select from pg_attribute a
    where a.attrelid = 'auth.signing_key'::regclass and a.attname = 'secret' and a.atttypid = 'bytea'::regtype
  ) then
    alter table auth.signing_key drop constraint signing_key_secret_has_32_bytes;
    alter table auth.signing_key alter column secret type text using encode(secret, 'base64');
  end if;
end
$$;
alter table auth.signing_key
  alter column secret drop not null,
  add column if not exists retires_at timestamptz(0),
  drop constraint if exists signing_key_has_its_form,
  drop constraint if exists signing_key_that_signs_is_there;
alter table auth.signing_key
  add constraint signing_key_has_its_form
    check (secret ~ '^([A-Za-z0-9+/]{43}=|sealed:v1:[0-9a-f]{16}:[A-Za-z0-9_-]+)$'),
  add constraint signing_key_that_signs_is_there check (retires_at is not null or secret is not null);
-- Until now the newest signed, and all were accepted. A token lasts ten minutes.
update auth.signing_key k set retires_at = now() + interval '11 minutes'
where k.retires_at is null and exists (
  select from auth.signing_key n where (n.created_at, n.id) > (k.created_at, k.id));
create unique index if not exists signing_key_that_signs_is_one
  on auth.signing_key ((true)) where retires_at is null;
comment on table auth.signing_key is
  'Keys that sign access tokens (HMAC-SHA256). One signs; those before it are accepted until the tokens '
  'that they have signed are over.';
comment on column auth.signing_key.secret is
  '32 bytes in base64, or what they are encrypted to (src/secrets); null after it has retired.';
comment on column auth.signing_key.retires_at is
  'When its signatures are accepted no more; null for the key that signs.';

--!include functions/auth/stored_secrets.sql
--!include functions/auth/signing_keys.sql
--!include views/signing_key_overview.sql
grant usage on schema auth to service_keeper, service_worker;
select api_meta.allow('service_keeper', 'auth.signing_key', 'select', 'update (secret)');
select api_meta.give('auth.erase_retired_keys()', 'service_keeper');
-- Every process reads the keys again. Erasing and encrypting a key changes nothing about it.
create or replace trigger announce_signing_key
  after insert or delete or update of retires_at on auth.signing_key
  for each statement execute function auth.announce_credential_change();

alter table events.webhook_secret drop constraint if exists webhook_secret_has_its_form;
alter table events.webhook_secret add constraint webhook_secret_has_its_form
  check (secret ~ '^(whsec_[A-Za-z0-9+/]{32,}=*|sealed:v1:[0-9a-f]{16}:[A-Za-z0-9_-]+)$');
comment on column events.webhook_secret.secret is
  'whsec_ and the key in base64, or what that is encrypted to (src/secrets).';
select api_meta.allow('service_writer', 'events.webhook_secret', 'insert (id, subscription_id, secret)');
--!include functions/events/webhook_subscription.sql
--!include views/lane_head.sql
