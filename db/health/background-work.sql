-- What has waited for more than ten minutes, and jobs that have failed.
set local role service_owner;
with waiting (what, minutes, setting) as (
  select w.* from events.backlog() b cross join lateral (values
    ('Committed changes wait to become events', b.outbox_seconds / 60, 'WEBHOOK_CONCURRENCY'),
    ('Webhooks that are due wait', b.delivery_seconds / 60, 'WEBHOOK_CONCURRENCY')
  ) w
  union all
  select 'Jobs wait', extract(epoch from clock_timestamp() - min(run_at)) / 60, 'WORKER_CONCURRENCY'
  from graphile_worker.jobs
  where locked_at is null and attempts < max_attempts and run_at < clock_timestamp()
),
failed as (
  select string_agg(distinct task_identifier || ': ' || left(coalesce(last_error, ''), 200), '; ') as errors
  from graphile_worker.jobs
  where attempts > 0 and last_error is not null
)
select 'warning' as severity, format('%s for %s minutes.', what, round(minutes::numeric)) as what,
  format('See that a process runs with %s above 0, and what its log says.', setting) as "toDo"
from waiting where minutes > 10
union all
select 'note', format('Jobs have failed: %s.', errors), 'db/README.md (Background work).'
from failed where errors is not null;
