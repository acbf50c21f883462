-- Rights of service_worker in graphile-worker's own schema, in whose tables it keeps its state by its own
-- statements. Runs, as the owner, after the package's migrations of that schema, which are not in
-- db/committed. Can be run again at any time. The tables are those of version 0.18;
-- test/jobs/queue-inside.test.ts notices when they change.
do $$
declare
  name text;
begin
  foreach name in array array['_private_jobs', '_private_job_queues', '_private_tasks',
    '_private_known_crontabs'] loop
    -- The package opens none of its tables: row-level security is on, without a policy
    if not exists (
      select from pg_policies p
      where p.schemaname = 'graphile_worker' and p.tablename = name and p.policyname = 'worker'
    ) then
      execute format(
        'create policy worker on graphile_worker.%I to service_worker using (true) with check (true)', name
      );
    end if;
  end loop;
end
$$;
grant usage on schema graphile_worker to service_worker;
grant select on graphile_worker.migrations, graphile_worker.jobs to service_worker;
grant select, insert, update, delete on graphile_worker._private_jobs to service_worker;
grant select, insert, update (locked_at, locked_by) on graphile_worker._private_job_queues to service_worker;
grant select, insert on graphile_worker._private_tasks to service_worker;
grant select, insert, update (last_execution) on graphile_worker._private_known_crontabs to service_worker;
grant execute on function graphile_worker.add_job, graphile_worker.add_jobs,
  graphile_worker.force_unlock_workers to service_worker;
-- Migrations are run at the set-up, never by the service
comment on schema graphile_worker is
  'The queue of background work: tables and functions of the package graphile-worker.';
