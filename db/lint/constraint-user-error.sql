-- Checks and unique keys of columns that mutations write, and primary keys that clients choose, without a
-- user error in their comment, or with one that names no code or no column; foreign keys, too, unless an
-- input has a column of their name, for then it is clear what is missing. Clients who violate such a rule
-- would get an internal error.
-- Remedy: comment on constraint … on OBJECT is E'@userError NOT_UNIQUE code\nAnother one has this code.'; or
-- '@internal' where the functions that write already ensure the rule.
select c.conrelid::regclass as object, c.conname
from pg_constraint c
cross join lateral regexp_match(
  coalesce(obj_description(c.oid, 'pg_constraint'), ''), '^@userError +([A-Z_]+) *([a-z_,]*)\n.'
) m
where c.contype in ('c', 'u', 'p')
  and (m is not null
    or c.contype <> 'p' and exists (
      select from unnest(c.conkey) k
      where has_column_privilege('service_writer', c.conrelid, k, 'insert, update')
    )
    -- With the primary key in it, a unique key only serves foreign keys
    and not exists (
      select from pg_constraint p
      where p.conrelid = c.conrelid and p.contype = 'p' and c.contype = 'u' and p.conkey <@ c.conkey
    )
    or c.contype = 'p' and exists (select from api_meta.view_column_source s where s.table_id = c.conrelid)
      and not exists (
        select from pg_attribute a
        where a.attrelid = c.conrelid and a.attnum = any (c.conkey) and (a.atthasdef or a.attidentity <> '')
      )
      and exists (
        select from unnest(c.conkey) k
        where has_column_privilege('service_writer', c.conrelid, k, 'insert')
          and not exists (
            select from pg_constraint f
            where f.conrelid = c.conrelid and f.contype = 'f' and k = any (f.conkey)
          )
      )
  )
  and coalesce(obj_description(c.oid, 'pg_constraint'), '') !~ '^@internal'
  and (m is null
    or not exists (
      select from pg_enum e where e.enumtypid = 'api_unstable.user_error_code'::regtype and e.enumlabel = m[1]
    )
    or exists (select from unnest(string_to_array(nullif(m[2], ''), ',')) name
      where not exists (
        select from pg_attribute a where a.attrelid = c.conrelid and a.attname = name and a.attnum > 0
      )))
union all
select c.conrelid::regclass, c.conname
from pg_constraint c
join pg_class t on t.oid = c.conrelid join api_meta.own_schema s on s.oid = t.relnamespace
where c.contype = 'f' and coalesce(obj_description(c.oid, 'pg_constraint'), '') !~ '^@(internal|userError)'
  and exists (
    select from unnest(c.conkey) k join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k
    where has_column_privilege('service_writer', c.conrelid, k, 'insert, update') and not exists (
      select from pg_attribute i join pg_class y on y.oid = i.attrelid and y.relkind = 'c'
      where y.relnamespace = 'api_unstable'::regnamespace and i.attname = a.attname
    )
  );
