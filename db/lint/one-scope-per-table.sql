-- Tables that more than one scope opens, other than by the link views of many-to-many relations. A view
-- that joins another resource's table would let its own callers read that table. A table that is about
-- several resources, the log of events, has a restrictive policy that tells its rows apart.
-- Remedy: leave the other resource's table out of the view, and make a relation to its view by
-- @foreignKey.
select r.table_id::regclass as object, r.scopes
from api_meta.read_policy r
where cardinality(r.scopes) > 1
  and not exists (select from pg_policy p where p.polrelid = r.table_id and not p.polpermissive) and exists (
  select from api_meta.view_column_source s
  where s.table_id = r.table_id
    and not exists (select from api_meta.view_tag(s.view, 'behavior') b where b = '-*')
);
