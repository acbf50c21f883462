-- Indexes that nothing in the schema needs: they are no rule, and begin neither with the columns of a foreign
-- key nor with one that a list of the API can be filtered by; or another index begins with all of their
-- columns. Each makes writing slower. What the others are for: select * from api_meta.index_use.
-- Remedy: drop index OBJECT, or say what else needs it: comment on index OBJECT is 'For …'
select i.index as object, 'as ' || i.covered_by as instead
from api_meta.index_use i
where obj_description(i.index, 'pg_class') is null and (i.needs = '{}' or i.covered_by is not null);
