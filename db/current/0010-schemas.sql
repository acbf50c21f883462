-- The schemas, from the inside out. Nothing in them is open to the public: grants follow from the API views
-- (see api_meta.derive) or stand beside the object that they open.
drop schema if exists api_2026_06_unstable, api_unstable, api_meta, events, ledger, auth, erp cascade;

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

--!include functions/touch_updated_at.sql
--!include functions/localized.sql
--!include functions/is_string_array.sql
