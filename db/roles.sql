-- The roles, which belong to the whole cluster and so to no migration. Can be run again at any time, by a superuser
-- or a role that may create roles. `npm run db:setup` does, and gives service_login its password.
do $$
begin
  if to_regrole('service_owner') is null then create role service_owner nologin; end if;
  if to_regrole('service_login') is null then create role service_login login noinherit; end if;
  if to_regrole('service_api') is null then create role service_api nologin; end if;
  if to_regrole('service_auth') is null then create role service_auth nologin; end if;
  -- whoever sets up may become the owner, to migrate
  if not pg_has_role(current_user, 'service_owner', 'set') then
    execute format('grant service_owner to %I with set true', current_user);
  end if;
end
$$;
grant service_api, service_auth to service_login with inherit false, set true;

comment on role service_owner is 'Owns every object and runs the migrations. Serves no request.';
comment on role service_login is 'Logs in for the service. May do nothing but become one of the narrow roles.';
comment on role service_api is 'Reads for clients of the API, through row-level security. Owns nothing.';
comment on role service_auth is 'Exchanges credentials for tokens, through functions of the schema auth only.';
