-- The schemas of the service as text, one definition a row: db/schema.sql, which a reviewer reads. Each
-- schema has its types, tables, views and functions by name, and each of them what belongs to it. Owners are
-- named where they are others than service_owner. What packages make (graphile_…) is left out.
with own as (
  select n.oid, n.name, p.nspowner as owner, p.nspacl as rights
  from api_meta.own_schema n join pg_namespace p on p.oid = n.oid
),

-- Every object that a definition is given of: its place in the file, and how Postgres' commands call it.
object as (
  select 'pg_namespace'::regclass as class, o.oid, o.name as schema, 0 as place, '' as name,
    'schema ' || o.name as called, o.owner, o.rights, 'n' as acl
  from own o
  union all
  select 'pg_type'::regclass, t.oid, o.name, 1, t.typname, 'type ' || t.oid::regtype, t.typowner, t.typacl,
    'T'
  from pg_type t join own o on o.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid
  where t.typtype in ('e', 'd') or t.typtype = 'c' and c.relkind = 'c'
  union all
  select 'pg_class'::regclass, c.oid, o.name,
    case c.relkind when 'S' then 2 when 'r' then 3 else 4 end, c.relname,
    case c.relkind when 'S' then 'sequence ' when 'r' then 'table ' else 'view ' end || c.oid::regclass,
    c.relowner, c.relacl, case c.relkind when 'S' then 's' else 'r' end
  from pg_class c join own o on o.oid = c.relnamespace
  where c.relkind in ('r', 'v') or c.relkind = 'S' and not exists (
    select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i')
  union all
  select 'pg_proc'::regclass, p.oid, o.name, 5, p.proname, 'function ' || p.oid::regprocedure, p.proowner,
    p.proacl, 'f'
  from pg_proc p join own o on o.oid = p.pronamespace
),

-- Columns of tables, and attributes of composite types
attribute as (
  select a.attrelid, a.attnum, quote_ident(a.attname) as name, a.attacl as rights, c.relkind,
    case c.relkind when 'c' then c.reltype else c.oid end as owner,
    concat_ws(' ', '  ' || quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
      case when a.attcollation <> t.typcollation then 'collate ' || quote_ident(l.collname) end,
      case
        when a.attgenerated <> '' then format('generated always as (%s)%s', pg_get_expr(d.adbin, d.adrelid),
          case a.attgenerated when 's' then ' stored' end)
        when a.attidentity <> '' then
          format('generated %s as identity', case a.attidentity when 'a' then 'always' else 'by default' end)
        else 'default ' || pg_get_expr(d.adbin, d.adrelid) end,
      case when a.attnotnull then 'not null' end) as line
  from pg_attribute a join pg_class c on c.oid = a.attrelid join own o on o.oid = c.relnamespace
  join pg_type t on t.oid = a.atttypid
  left join pg_collation l on l.oid = a.attcollation
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'c', 'v')
),

line as (
  select a.attrelid, string_agg(a.line, E',\n' order by a.attnum) as lines
  from attribute a
  group by a.attrelid
),

definition as (
  select o.class, o.oid, 'create ' || o.called as text
  from object o where o.place in (0, 2)
  union all
  select o.class, o.oid, case t.typtype
    when 'e' then format(E'create %s as enum (\n%s\n)', o.called, (
      select string_agg('  ' || quote_literal(e.enumlabel), E',\n' order by e.enumsortorder)
      from pg_enum e where e.enumtypid = t.oid))
    when 'd'
      then concat_ws(' ', 'create domain', t.oid::regtype, 'as', format_type(t.typbasetype, t.typtypmod), (
      select string_agg(
        format('constraint %I %s', c.conname, pg_get_constraintdef(c.oid)), ' ' order by c.conname
      )
      from pg_constraint c where c.contypid = t.oid))
    else format(E'create %s as (\n%s\n)', o.called, l.lines) end
  from object o join pg_type t on t.oid = o.oid left join line l on l.attrelid = t.typrelid where o.place = 1
  union all
  select o.class, o.oid, format(E'create %s (\n%s\n)', o.called, concat_ws(E',\n', l.lines, (
      select string_agg(
        format('  constraint %I %s', c.conname, pg_get_constraintdef(c.oid)), E',\n' order by c.conname
      )
      from pg_constraint c
      where c.conrelid = o.oid and c.contype not in ('n', 't'))))
        || coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '')
  from object o join pg_class c on c.oid = o.oid left join line l on l.attrelid = o.oid where o.place = 3
  union all
  select o.class, o.oid, format(E'create %s%s as\n%s', o.called,
    ' with (' || array_to_string(c.reloptions, ', ') || ')', rtrim(pg_get_viewdef(o.oid, true), ';'))
  from object o join pg_class c on c.oid = o.oid where o.place = 4
  union all
  select o.class, o.oid, rtrim(pg_get_functiondef(o.oid), E'\n')
  from object o where o.place = 5
),

-- What is said of each object in commands of its own, in the order in which it is to be read
further as (
  select o.class, o.oid, 1 as position, '' as key,
    format('alter %s owner to %s', o.called, o.owner::regrole) as text
  from object o where o.place > 0 and o.owner::regrole <> 'service_owner'::regrole
  union all
  select o.class, o.oid, 2, i.relname, pg_get_indexdef(i.oid)
  from object o join pg_index x on x.indrelid = o.oid join pg_class i on i.oid = x.indexrelid
  where o.place = 3 and not exists (
    select from pg_constraint c
    where c.conindid = i.oid and c.conrelid = o.oid and c.contype in ('p', 'u', 'x'))
  union all
  select o.class, o.oid, 3, t.tgname, pg_get_triggerdef(t.oid)
  from object o join pg_trigger t on t.tgrelid = o.oid where o.place in (3, 4) and not t.tgisinternal
  union all
  select o.class, o.oid, 4, '', format('alter %s enable row level security', o.called)
  from object o join pg_class c on c.oid = o.oid where o.place = 3 and c.relrowsecurity
  union all
  select o.class, o.oid, 5, p.polname,
    concat_ws(' ', format('create policy %I on %s', p.polname, o.oid::regclass),
    case when not p.polpermissive then 'as restrictive' end,
    'for ' || case p.polcmd
      when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete'
        else 'all' end,
    'to '
      || (
        select string_agg(r.oid::regrole::text, ', ' order by r.rolname)
        from pg_roles r
        where r.oid = any (p.polroles)
      ),
    'using (' || pg_get_expr(p.polqual, p.polrelid) || ')',
    'with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')')
  from object o join pg_policy p on p.polrelid = o.oid where o.place = 3
  union all
  select o.class, o.oid, 7, g.audience, format('grant %s on %s to %s', g.rights, o.called, g.audience)
  from object o cross join lateral (
    select case r.grantee when 0 then 'public' else r.grantee::regrole::text end as audience,
      string_agg(lower(r.privilege_type), ', ' order by r.privilege_type) as rights
    from aclexplode(coalesce(o.rights, acldefault(o.acl::"char", o.owner))) r
    where r.grantee <> o.owner and r.grantee <> 'service_owner'::regrole
    group by r.grantee
  ) g
  where not (o.place = 1 and g.audience = 'public')
  union all
  select o.class, o.oid, 8, g.audience || g.right,
    format('grant %s (%s) on %s to %s', g.right, g.columns, o.called, g.audience)
  from object o join (
    select a.attrelid, r.grantee::regrole::text as audience, lower(r.privilege_type) as right,
      string_agg(a.name, ', ' order by a.attnum) as columns
    from attribute a cross join lateral aclexplode(a.rights) r
    group by a.attrelid, r.grantee, r.privilege_type
  ) g on g.attrelid = o.oid
  union all
  select o.class, o.oid, 9, '', format('comment on %s is %L', o.called, d.description)
  from object o join pg_description d on d.classoid = o.class and d.objoid = o.oid and d.objsubid = 0
  union all
  select o.class, o.oid, 9, to_char(a.attnum, '0000'),
    format('comment on column %s.%s is %L', split_part(o.called, ' ', 2), a.name, d.description)
  from object o join attribute a on a.owner = o.oid
  join pg_description d on d.classoid = 'pg_class'::regclass and d.objoid = a.attrelid
    and d.objsubid = a.attnum
  union all
  select o.class, o.oid, 10, c.conname,
    format('comment on constraint %I on %s is %L', c.conname, c.conrelid::regclass, d.description)
  from object o join pg_constraint c on c.conrelid = o.oid
  join pg_description d on d.classoid = 'pg_constraint'::regclass and d.objoid = c.oid
  where o.place = 3
  union all
  select o.class, o.oid, 11, i.relname, format('comment on index %s is %L', i.oid::regclass, d.description)
  from object o join pg_index x on x.indrelid = o.oid join pg_class i on i.oid = x.indexrelid
  join pg_description d on d.classoid = 'pg_class'::regclass and d.objoid = i.oid and d.objsubid = 0
  where o.place = 3
  union all
  select o.class, o.oid, 12, t.tgname,
    format('comment on trigger %I on %s is %L', t.tgname, t.tgrelid::regclass, d.description)
  from object o join pg_trigger t on t.tgrelid = o.oid
  join pg_description d on d.classoid = 'pg_trigger'::regclass and d.objoid = t.oid
)
select concat_ws(E'\n', d.text || ';', f.texts) as definition
from object o join definition d on d.class = o.class and d.oid = o.oid
left join (
  select f.class, f.oid,
    string_agg(f.text || ';', E'\n' order by f.position, f.key collate "C", f.text collate "C") as texts
  from further f group by f.class, f.oid
) f on f.class = o.class and f.oid = o.oid
order by o.schema collate "C", o.place, o.name collate "C", o.called collate "C";
