-- Keeps the service's roles, and those of merchants, from leaving large objects and temporary tables behind
-- in the databases that every cluster has. Postgres can take that from all roles only; others that need it
-- are granted it by name. `npx erp db setup` and `npx erp merchants add` run this in the database
-- postgres. It does nothing unless a superuser runs it, and can be run again at any time.
do $$
declare
  object text;
begin
  if not (select rolsuper from pg_roles where rolname = current_user) then return; end if;
  perform pg_advisory_xact_lock(hashtext('roles of the service'));
  -- New databases are copies of it, so that its own rights stay as they are
  if has_database_privilege('public', 'template1', 'connect') then
    revoke connect on database template1 from public;
  end if;
  if has_database_privilege('public', current_database(), 'temporary') then
    execute format('revoke temporary on database %I from public', current_database());
  end if;
  for object in
    select oid::regprocedure from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace
      and (proname ~ '^lo_' or proname in ('loread', 'lowrite'))
      and has_function_privilege('public', oid, 'execute')
  loop
    execute format('revoke execute on function %s from public', object);
  end loop;
end
$$;
