-- The roles, which belong to the whole cluster and so to no migration. Can be run again at any time, by a
-- superuser or a role that may create roles. `npx erp db setup` does, and gives service_login its password.
do $$
declare
  narrow constant text[] := array['service_api', 'service_auth', 'service_document', 'service_worker',
    'service_limiter', 'service_delivery',
    'service_administration', 'service_writer', 'service_ledger', 'service_keeper', 'service_registrar',
      'service_recorder', 'service_booker', 'service_searcher'];
  name text;
begin
  foreach name in array narrow || array['service_owner'] loop
    if to_regrole(name) is null then execute format('create role %I nologin', name); end if;
  end loop;
  foreach name in array array['service_login', 'service_api_login'] loop
    if to_regrole(name) is null then execute format('create role %I login noinherit', name); end if;
  end loop;
  -- the role that sets up may become the owner, to migrate
  if not pg_has_role(current_user, 'service_owner', 'set') then
    execute format('grant service_owner to %I with set true', current_user);
  end if;
end
$$;
grant service_api, service_auth, service_document, service_worker, service_limiter, service_administration,
  service_delivery
  to service_login with inherit false, set true;
-- and no more: an injected statement of the API can become no role that sees secrets
grant service_api to service_api_login with inherit false, set true;
-- so that migrations can give functions to these roles, and replace them later
grant service_writer, service_ledger, service_booker, service_document, service_keeper, service_registrar,
  service_recorder, service_searcher
  to service_owner with inherit true, set true;
-- so that the role that sets up may run commands as it, such as `npx erp rates`
grant service_worker to service_owner with inherit false, set true;

comment on role service_owner is 'Owns every table and runs the migrations. Serves no request.';
comment on role service_login is
  'Logs in for the service. May do nothing but become one of the narrow roles.';
comment on role service_api_login is
  'Logs in for what clients ask of the API. May do nothing but become service_api.';
comment on role service_api is
  'Reads for clients of the API, through row-level security, and may call mutation.run. Owns nothing.';
comment on role service_auth is
  'Exchanges credentials for tokens, through functions of the schema auth only.';
comment on role service_document is
  'Opens documents by their addresses. Reads the table of documents and nothing else; owns the function '
  'that compares codes.';
comment on role service_limiter is
  'Counts what clients of the API take, so that all processes together keep to the limits. Sees one '
  'table of counts.';
comment on role service_writer is
  'Runs mutations, inside of mutation.run: changes master data and documents, but not the ledger. '
  'Nobody logs in as it.';
comment on role service_ledger is
  'Books stock, inside of the functions that it owns: takes the locks, checks, and has service_booker '
  'write. Nobody logs in as it.';
comment on role service_booker is
  'Writes bookings, inside of the two functions that it owns: adds movements, and brings the figures and '
  'the events up to date with them. Triggers that do so for everybody else stand aside for it. Nobody '
  'logs in as it.';
comment on role service_worker is
  'Takes jobs from the queue of background work, and calls the functions that they are about. Sees no '
  'table but those of the queue.';
comment on role service_keeper is
  'Does background work, inside of the functions that it owns: keeps exchange rates, fills in prices. '
  'Nobody logs in as it.';
comment on role service_administration is
  'Serves the pages of the administration, through functions of the schema administration, which ask '
  'for a session. Sees no table but the count of failed log-ins.';
comment on role service_registrar is
  'Keeps credentials, sessions and the audit, inside of the functions that it owns. Nobody logs in as it.';
comment on role service_delivery is
  'Tells subscribers of events: reads what is to be sent, and with which secret, and notes what became '
  'of it. The only role that sees the secrets of webhooks.';
comment on role service_recorder is
  'Writes events down, inside of the functions that it owns: triggers put them into the outbox, the '
  'sequencer moves them into the log. Nobody logs in as it.';
comment on role service_searcher is
  'Finds rows by words, inside of the functions that it owns: reads what lists can be searched by. Nobody '
  'logs in as it.';

-- Default settings of the service's sessions. Poolers ignore them.
do $$
declare
  login text;
begin
  foreach login in array array['service_login', 'service_api_login'] loop
    execute format('alter role %I set timezone = %L', login, 'UTC');
    execute format('alter role %I set statement_timeout = %L', login, '5s');
    execute format('alter role %I set lock_timeout = %L', login, '3s');
    execute format('alter role %I set idle_in_transaction_session_timeout = %L', login, '30s');
    execute format('alter role %I set jit = off', login);
  end loop;
end
$$;
