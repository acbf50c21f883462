-- Makes a database that of one merchant of many, on a cluster that they share: only the merchant's own two
-- roles may connect, and these may do in it what service_login and service_api_login may. They have the
-- names in merchant.login and merchant.api_login. `npx erp merchants` runs this in the database, again
-- after each migration.
do $$
declare
  login constant text := current_setting('merchant.login');
  api_login constant text := current_setting('merchant.api_login');
  models constant jsonb := jsonb_build_object(login, 'service_login', api_login, 'service_api_login');
  one record;
begin
  for one in select name from jsonb_object_keys(models) name loop
    if to_regrole(quote_ident(one.name)) is null then
      execute format('create role %I login noinherit', one.name);
    end if;
  end loop;

  for one in
    select model.key as name, member.roleid::regrole as narrow
    from jsonb_each_text(models) model
    join pg_auth_members member on member.member = model.value::regrole
  loop
    execute format('grant %s to %I with inherit false, set true', one.narrow, one.name);
  end loop;

  for one in
    select model.key as name, split_part(setting, '=', 1) as setting,
      substr(setting, strpos(setting, '=') + 1) as value
    from jsonb_each_text(models) model
    join pg_db_role_setting given on given.setrole = model.value::regrole and given.setdatabase = 0
    cross join unnest(given.setconfig) setting
  loop
    execute format('alter role %I set %I = %L', one.name, one.setting, one.value);
  end loop;

  -- What the models may do in this database by themselves
  for one in
    select model.key as name, format('%s on %s %s', acl.privilege_type, object.kind, object.name) as rights
    from jsonb_each_text(models) model
    cross join (
      select 'schema' as kind, oid::regnamespace::text as name, nspacl as acl from pg_namespace
      union all
      select 'function', oid::regprocedure::text, proacl from pg_proc where prokind = 'f'
      union all
      select 'table', oid::regclass::text, relacl from pg_class where relkind in ('r', 'p', 'v', 'm')
    ) object
    cross join aclexplode(object.acl) acl
    where acl.grantee = model.value::regrole
  loop
    execute format('grant %s to %I', one.rights, one.name);
  end loop;

  execute format('revoke all on database %I from public, service_login, service_api_login',
    current_database());
  execute format('grant connect on database %I to %I, %I', current_database(), login, api_login);
end
$$;
