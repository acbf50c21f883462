-- Settings by which data are lost, or days begin at another hour. The service's logins get their own in this
-- database, their own everywhere, the database's, or the server's.
with given as (
  select s.setrole, s.setdatabase, lower(split_part(c, '=', 1)) as name,
    substr(c, strpos(c, '=') + 1) as value
  from pg_db_role_setting s cross join unnest(s.setconfig) c
  where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
),
used as (
  select p.name, coalesce(g.value, p.reset_val) as value,
    format('for %s; `\drds` of psql shows whether a role or the database has it, else postgresql.conf does.',
      string_agg(r.rolname, ', ' order by r.rolname)) as place
  from pg_settings p
  join pg_roles r on r.rolname ~ '^service_' and r.rolcanlogin
  left join lateral (
    select g.value
    from given g
    where g.name = lower(p.name) and g.setrole in (0, r.oid)
    order by g.setrole = 0, g.setdatabase = 0
    limit 1
  ) g on true
  group by 1, 2
)
select 'error' as severity, format('%s is off: %s.', name, harm) as what, 'Switch it on, ' || place as "toDo"
from used
join (values
  ('fsync', 'a crash of the machine may destroy all data'),
  ('full_page_writes', 'a crash of the machine may leave torn pages, which nothing mends'),
  ('synchronous_commit', 'a crash may lose bookings that were confirmed'),
  ('track_counts', 'autovacuum doesn''t know which tables need it, so these only grow')
) when_off (name, harm) using (name)
where value ~* '^(off|false|no|0)$'
union all
select 'warning', format('The time zone is %s: days begin at another hour where a pooler keeps the service '
  'from setting its own.', value), 'Set timezone to UTC, ' || place
from used
where name = 'TimeZone' and value !~* '^(Etc/)?(UTC|UCT|GMT|Zulu|Universal)$';
