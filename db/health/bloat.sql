-- Dead rows that autovacuum should have removed, and transaction ids after which Postgres is in danger.
select 'warning' as severity,
  format('%s has %s dead rows beside %s.', relid::regclass, n_dead_tup, n_live_tup) as what,
  format('vacuum (analyze) %s; and see what keeps autovacuum from it.', relid::regclass) as "toDo"
from pg_stat_user_tables
where n_dead_tup > 100000 and n_dead_tup > 0.4 * (n_live_tup + n_dead_tup)
union all
select 'error', 'autovacuum is off: tables only grow.', 'Switch it on.'
where not current_setting('autovacuum')::boolean
union all
select 'error',
  format('The oldest transaction id is %s ids old; at 2 billion Postgres stops writing.', age(datfrozenxid)),
  'vacuum (freeze), as superuser.'
from pg_database
where datname = current_database() and age(datfrozenxid) > 1000000000
union all
(select 'warning', format('A transaction is open for more than an hour: process %s (%s). Nothing can be '
  'cleared up meanwhile.', pid, application_name), 'select pg_terminate_backend(pid), if nobody needs it.'
from pg_stat_activity
where datname = current_database() and xact_start < now() - interval '1 hour'
order by xact_start
limit 1);
