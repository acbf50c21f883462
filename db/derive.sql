-- Runs after every migration: what follows from the API views is never forgotten. The first migrations come before it.
do $$
begin
  if to_regprocedure('api_meta.derive()') is not null then
    perform api_meta.derive();
  end if;
end
$$;
