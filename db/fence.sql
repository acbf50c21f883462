-- What Postgres lets anybody do who can log in, and the service's roles need not: whoever gets a statement of
-- their own into one of ours could leave tables and files behind, or wake others up. Can be run again at any
-- time. `npm run db:setup` does, in the database; what takes a superuser stays undone when it isn't run by
-- one, and the set-up says so.
do $$
declare
  object text;
begin
  execute format('revoke temporary on database %I from public', current_database());
  execute format('grant connect, create, temporary on database %I to service_owner', current_database());
  execute format('grant connect on database %I to service_login, service_api_login', current_database());
  -- Postgres before 15 let everybody create tables there
  if to_regnamespace('public') is not null then revoke create on schema public from public; end if;
  if not (select rolsuper from pg_roles where rolname = current_user) then return; end if;

  -- Those who change credentials, give jobs to background work, or listen whether they are still heard
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
