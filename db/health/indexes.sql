-- Indexes that are broken or that nobody uses, and tables that are read whole more often than by an index.
-- An index that nobody uses is worth a thought from 8 MB on, when statistics are of 30 days.
select 'error' as severity, format('The index %s of %s is invalid: making it has failed, and every write '
  'still pays for it.', i.indexrelid::regclass, i.indrelid::regclass) as what,
  format('drop index concurrently %s, and make it again.', i.indexrelid::regclass) as "toDo"
from pg_index i
join pg_class c on c.oid = i.indexrelid join api_meta.own_schema s on s.oid = c.relnamespace
where not i.indisvalid
union all
select 'note', format('Nobody has used the index %s of %s (%s MB) for 30 days.', u.indexrelid::regclass,
  u.relid::regclass, to_char(pg_relation_size(u.indexrelid) / 1e6, 'FM999,999,990')),
  '`select * from api_meta.index_use` says what needs it; drop it in a migration if nothing does.'
from pg_stat_user_indexes u
join api_meta.own_schema s on s.name = u.schemaname join pg_index i on i.indexrelid = u.indexrelid
where i.indisvalid and not i.indisunique and u.idx_scan = 0 and pg_relation_size(u.indexrelid) > 8e6
  and (
    select coalesce(stats_reset, pg_postmaster_start_time())
    from pg_stat_database
    where datname = current_database()
  ) < now() - interval '30 days'
union all
select 'note', format('%s with its %s rows was read whole %s times, oftener than by an index.',
  relid::regclass, n_live_tup, seq_scan),
  '`npx erp db slow` finds the operation, and the index that it lacks.'
from pg_stat_user_tables u join api_meta.own_schema s on s.name = u.schemaname
where n_live_tup > 50000 and seq_scan > 1000 and seq_scan > idx_scan;
