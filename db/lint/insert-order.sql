-- Inserts of several rows without an order, into a table whose ids sort by the time when they are drawn.
-- Lists are ordered by id, so the rows would be in a random order. The query takes a text apart at its
-- parentheses, from the innermost outwards, to check each select by itself.
-- Remedy: order by, at the end of the select.
with recursive source as (
  select p.oid, lower(regexp_replace(
    regexp_replace(raw.text, '--[^\n]*', '', 'g'), '''[^'']*''', '', 'g')) as text
  from pg_proc p join pg_roles o on o.oid = p.proowner and o.rolname like 'service\_%'
  cross join lateral (select coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) as text offset 0) raw
  -- Others can insert nothing
  where p.provolatile = 'v' and raw.text ilike '%insert%'
),
level as (
  select s.oid, s.text from source s where s.text ~ '\minsert\M'
  union all
  select l.oid, regexp_replace(l.text, '\([^()]*\)', ' ', 'g') from level l where l.text ~ '\([^()]*\)'
),
statement as (
  select l.oid, m[1] as text from level l cross join regexp_matches(l.text, '\(([^()]*)\)', 'g') m
  union all
  select l.oid, piece
  from level l
  cross join regexp_split_to_table(l.text, ';') piece
  where l.text !~ '\([^()]*\)'
)
select s.oid::regprocedure as object, i[1] as fills
from (select * from statement s where strpos(s.text, 'insert') > 0 offset 0) s
cross join regexp_matches(s.text, '\minsert\s+into\s+(\w+\.\w+)(.*)$') i
where i[2] ~ '\mselect\M.*\mfrom\M' and i[2] !~ '\morder\s+by\M'
  -- More than one row would be an error there
  and i[2] !~ '\mreturning\M.*\minto\M'
  and exists (
    select from pg_attrdef d
    where d.adrelid = to_regclass(i[1]) and pg_get_expr(d.adbin, d.adrelid) ~ '\muuidv7\(');
