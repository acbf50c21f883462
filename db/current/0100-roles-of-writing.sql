-- What writes: mutation.run, the one way in, and the roles that the functions behind it work as.
create schema if not exists mutation;
comment on schema mutation is 'What all mutations have in common: the way in, keys that make repetitions harmless, user errors.';

--!include functions/api_meta/allow.sql
--!include functions/api_meta/give.sql
--!include functions/api_meta/grant_mutations.sql
--!include functions/api_meta/derive.sql

create table if not exists mutation.idempotency_key (
  credential_id uuid not null,
  key text collate "C" not null,
  request bytea not null,
  payload jsonb,
  created_at timestamptz not null default now(),
  primary key (credential_id, key)
);
create index if not exists idempotency_key_created_at_idx on mutation.idempotency_key (created_at);
alter table mutation.idempotency_key enable row level security;
comment on table mutation.idempotency_key is
  'Which mutations were called with a key in the last 24 hours, by the credential that did; written in the transaction of their effect.';
comment on column mutation.idempotency_key.request is 'SHA-256 of the name of the mutation and its input.';
comment on column mutation.idempotency_key.payload is 'What the mutation answered: ids, not the things themselves.';

--!include functions/mutation/user_errors.sql
--!include functions/mutation/run.sql
select api_meta.give('mutation.run(name, name, jsonb, text, boolean)', 'service_writer');
select api_meta.allow('service_writer', 'mutation.idempotency_key', 'select', 'insert', 'update', 'delete');
grant usage on schema mutation to service_api, service_writer, service_ledger;
grant usage on schema auth, erp, ledger to service_writer;
grant usage on schema erp, ledger to service_ledger;
grant execute on function auth.has_scope(text[]) to service_writer;
grant execute on function mutation.run(name, name, jsonb, text, boolean) to service_api;

-- A temporary table or type of a caller must not take the place of one that a function means
do $$
declare routine regprocedure;
begin
  for routine in
    select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('erp', 'ledger', 'mutation', 'auth', 'events', 'api_meta') and 'search_path=pg_catalog' = any (p.proconfig)
  loop
    execute format('alter function %s set search_path = pg_catalog, pg_temp', routine);
  end loop;
end
$$;
