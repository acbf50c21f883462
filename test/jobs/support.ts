import { setTimeout as sleep } from "node:timers/promises";
import type { Task, TaskList } from "graphile-worker";
import pg from "pg";
import { pino } from "pino";
import { startJobs } from "../../src/jobs/job-runner.ts";
import type { JobRunner, JobRunnerOptions } from "../../src/jobs/job-runner.ts";
import { until } from "../lib/until.ts";

/** The worker of a test. */
export interface TestJobRunner extends JobRunner {
  /** What it wrote to its log. */
  log: any[];
}

/** Starts a worker with the test's tasks. */
export function startTestJobs(
  url: string,
  tasks: TaskList,
  options: Partial<JobRunnerOptions> = {},
): TestJobRunner {
  const log: any[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const usual = { url, tasks, logger, concurrency: 2, crontab: "", atStart: [] };
  return { ...startJobs({ ...usual, ...options }), log };
}

/**
 * A task that notes the numbers of its finished jobs.
 *
 * @param workMs duration of each job, if others should start meanwhile
 */
export function noting(workMs = 0) {
  const done: number[] = [];
  const note: Task = async (payload) => {
    if (workMs > 0) await sleep(workMs);
    done.push((payload as { n: number }).n);
  };
  return { done, note };
}

/** The numbers from 1 on. */
export const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

export const sorted = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b);

/** The queue, as its owner sees it. */
export class Queue {
  readonly owner: pg.Pool;

  constructor(ownerUrl: string) {
    this.owner = new pg.Pool({ connectionString: ownerUrl, max: 2 });
    this.owner.on("error", () => {});
  }

  /** Adds jobs of a task, each with its number from 1 on. */
  async add(task: string, count = 1): Promise<void> {
    await this.owner.query(
      "select graphile_worker.add_job($1, json_build_object('n', n)) from generate_series(1, $2::integer) n",
      [task, count],
    );
  }

  /** Jobs that wait or are being done. */
  async jobs(): Promise<any[]> {
    const { rows } = await this.owner.query(
      "select id::integer, attempts, last_error, locked_by from graphile_worker._private_jobs order by id",
    );
    return rows;
  }

  /** Waits until all jobs are done; jobs that wait for their next attempt get it at once. */
  async empties(): Promise<void> {
    await until(async () => {
      await this.owner.query(
        "select graphile_worker.reschedule_jobs(array_agg(id), now()) from graphile_worker._private_jobs where run_at > now()",
      );
      await this.owner.query(`select pg_notify('jobs:insert', '{"count":1}')`);
      return (await this.jobs()).length === 0;
    });
  }

  /** Deletes all jobs, including running ones. */
  async clear(): Promise<void> {
    // Workers lock jobs in another order
    await this.owner.query(
      "lock table graphile_worker._private_jobs in exclusive mode; delete from graphile_worker._private_jobs",
    );
  }

  /** Ends the worker's connections, as an administrator may. Returns their number. */
  async cutConnections(adminUrl: string): Promise<number> {
    const client = new pg.Client({ connectionString: adminUrl });
    await client.connect();
    const { rowCount } = await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'worker'",
    );
    await client.end();
    return rowCount!;
  }
}
