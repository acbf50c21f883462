-- Slots, standbys, and the archive of the write-ahead log. A standby may lack, and a slot keep, a gigabyte.
with slot as (
  select slot_name as name, active, wal_status,
    coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0) as bytes,
    format('Start what uses it, or: select pg_drop_replication_slot(%L).', slot_name) as remedy
  from pg_replication_slots
  where not temporary and not pg_is_in_recovery()
)
select 'warning' as severity, 'This is a standby: nothing can be written.' as what,
  'Examine the primary; after its loss, promote this one.' as "toDo"
where pg_is_in_recovery()
union all
select 'error', format('The replication slot %s is lost.', name), 'Make its standby anew. ' || remedy
from slot where wal_status = 'lost'
union all
select 'error', format('The replication slot %s keeps %s MB of log, until the disk is full.', name,
  to_char(bytes / 1e6, 'FM999,999,990')), remedy
from slot where wal_status is distinct from 'lost' and bytes > 2 ^ 30
union all
select 'warning', format('Nobody uses the replication slot %s, which keeps log.', name), remedy
from slot where wal_status is distinct from 'lost' and bytes <= 2 ^ 30 and not active
union all
select 'warning', format('The standby %s lacks %s MB of log.', application_name,
  to_char(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) / 1e6, 'FM999,999,990')),
  'Look at its log, disk and network.'
from pg_stat_replication
where not pg_is_in_recovery() and pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) > 2 ^ 30
union all
select 'error', format('Postgres can''t archive its log since %s.', last_failed_wal),
  'Its log (server.log) says why; the disk fills until it can.'
from pg_stat_archiver
where not pg_is_in_recovery() and last_failed_time > coalesce(last_archived_time, '-infinity')
  and current_setting('archive_mode') <> 'off';
