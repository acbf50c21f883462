--! Previous: -
--! Hash: sha1:93723be5d05e8cc98ccb5994766a5a7e9824956c
--! Message: schemas

--! split: 0010-schemas.sql
-- The schemas, from the inside out. Nothing in them is open to the public: grants follow from the API views
-- (see api_meta.derive) or stand beside the object that they open.

create schema erp;
comment on schema erp is 'Tables of the shop and the rules about them. Not an interface: clients read the api schemas.';
create schema ledger;
comment on schema ledger is 'Posting of stock movements, and the proof that every stored figure follows from them.';
create schema auth;
comment on schema auth is 'API credentials, signing keys and the functions that decide what a caller may see.';
create schema events;
comment on schema events is 'Webhook subscriptions and what is delivered to them.';
create schema api_meta;
comment on schema api_meta is 'Functions that derive grants, policies and descriptions of the api schemas, and that freeze a version.';
create schema api_unstable;
comment on schema api_unstable is 'The head of the API: one view per GraphQL type. Released versions are frozen clones of it.';

grant usage on schema auth to service_api, service_auth;
alter default privileges revoke execute on functions from public;

--! Included functions/touch_updated_at.sql
create or replace function erp.touch_updated_at() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  new.updated_at := pg_catalog.date_trunc('second', pg_catalog.now());
  return new;
end
$$;
comment on function erp.touch_updated_at() is 'Trigger: sets updated_at to the time of the transaction, in whole seconds.';
--! EndIncluded functions/touch_updated_at.sql
--! Included functions/localized.sql
create or replace function erp.localized(texts jsonb) returns text
language sql stable parallel safe
return coalesce(texts ->> pg_catalog.current_setting('service.locale', true), texts ->> 'en-GB');
comment on function erp.localized(jsonb) is
  'The text of an erp.localized_text in the locale of the request (setting service.locale), or in en-GB, which every text has.';
grant execute on function erp.localized(jsonb) to service_api;

create or replace function erp.is_localized_text(texts jsonb) returns boolean
language sql immutable strict parallel safe
return pg_catalog.jsonb_typeof(texts) = 'object' and coalesce(texts ->> 'en-GB', '') <> ''
  and not pg_catalog.jsonb_path_exists(texts, '$.* ? (@.type() != "string")');
comment on function erp.is_localized_text(jsonb) is
  'Whether a JSON value is an object from locale to text that has at least the default locale, en-GB.';
--! EndIncluded functions/localized.sql
--! Included functions/is_string_array.sql
create or replace function erp.is_string_array(value jsonb) returns boolean
language sql immutable parallel safe
return pg_catalog.jsonb_typeof(value) = 'array'
  and not pg_catalog.jsonb_path_exists(value, 'strict $[*] ? (@.type() != "string")');
comment on function erp.is_string_array(jsonb) is 'Whether a JSON value is an array that holds nothing but strings.';
--! EndIncluded functions/is_string_array.sql
