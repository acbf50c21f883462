-- Revokes rights that Postgres gives to every role and the service's roles don't need: an injected statement
-- could otherwise leave tables and files behind, or notify others. Can be run again at any time. `npx erp db
-- setup` runs it in the database; without a superuser some rights stay, and the set-up says so.
do $$
declare
  object text;
begin
  execute format('revoke temporary on database %I from public', current_database());
  execute format('grant connect, create, temporary on database %I to service_owner', current_database());
  execute format('grant connect on database %I to service_login, service_api_login', current_database());
  -- Postgres before 15 let every role create tables there
  if to_regnamespace('public') is not null then revoke create on schema public from public; end if;
  if not (select rolsuper from pg_roles where rolname = current_user) then return; end if;

  -- Roles that change credentials, queue jobs, or test whether they hear notifications
  grant execute on function pg_catalog.pg_notify(text, text)
    to service_owner, service_registrar, service_auth, service_worker, service_login;
  for object in
    select oid::regprocedure from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace
      and (proname ~ '^lo_' or proname in ('loread', 'lowrite', 'pg_notify'))
      and has_function_privilege('public', oid, 'execute')
  loop
    execute format('revoke execute on function %s from public', object);
  end loop;
end
$$;
