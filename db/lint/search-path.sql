-- Functions whose search_path isn't pinned: a caller could shadow an object by another one. Temporary tables
-- and types come first unless pg_temp is named, so it is, and last. Functions in the standard's form (return
-- ...) are bound to objects when they are made, and need no search_path.
-- Remedy: alter function OBJECT set search_path = pg_catalog, pg_temp
select p.oid::regprocedure as object
from pg_proc p join api_meta.own_schema s on s.oid = p.pronamespace
where p.prosqlbody is null
  and not exists (select from unnest(p.proconfig) c where c = 'search_path=pg_catalog, pg_temp');
