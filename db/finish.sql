-- What ends a migration that isn't committed. Each brings its own finish_migration, so a database without
-- that migration has the older one.
do $finish$ begin
  if to_regprocedure('api_meta.finish_migration()') is not null then perform api_meta.finish_migration();
  elsif to_regprocedure('api_meta.derive()') is not null then perform api_meta.derive(); end if;
end $finish$;
