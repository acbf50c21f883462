import type { Pool } from "pg";
import { readAs } from "../postgres/as-role.ts";

/** Counts of waiting work in the database. */
export interface Backlog {
  /** Committed changes that aren't numbered events yet, and the age of the oldest. */
  outbox: number;
  outboxSeconds: number;
  /** Waiting webhook messages, and how long the oldest has been due. */
  deliveries: number;
  deliverySeconds: number;
  /** Subscriptions by health. */
  subscriptions: Record<string, number>;
  jobs: { due: number; running: number; later: number; failed: number };
  jobSeconds: number;
  /** Calls about shipping labels that carriers haven't answered, and how long the oldest has been waiting. */
  labels: number;
  labelSeconds: number;
}

type WorkerBacklog = Pick<Backlog, "jobs" | "jobSeconds" | "labels" | "labelSeconds">;

export type ReadBacklog = () => Promise<Backlog>;

const eventsQuery = `select outbox, outbox_seconds as "outboxSeconds", deliveries,
  delivery_seconds as "deliverySeconds", subscriptions from events.backlog()`;

// Completed jobs are deleted, so the table is small
const jobsQuery = `with few as (
    select j.attempts >= j.max_attempts as is_failed, j.locked_at is not null as is_running, j.run_at
    from graphile_worker.jobs j limit 10001)
  select c.*, l.labels, l.label_seconds as "labelSeconds" from erp.label_backlog() l cross join (
  select json_build_object('due', count(*) filter (where is_due), 'running', count(*) filter (where is_running),
      'later', count(*) filter (where not (is_failed or is_running or is_due)),
      'failed', count(*) filter (where is_failed)) as jobs,
    coalesce(extract(epoch from clock_timestamp() - min(run_at) filter (where is_due)), 0)::float8 as "jobSeconds"
  from (select *, not is_failed and not is_running and run_at <= clock_timestamp() as is_due from few) f) c`;

/** A query for the whole backlog in one message. Each statement returns a part. */
export const backlogQuery = `begin read only; set local role service_delivery; ${eventsQuery};
  set local role service_worker; ${jobsQuery}; commit`;

/** Makes a function that reads the backlog. It counts up to 10,001 rows. */
export function backlogReader(pool: Pool): ReadBacklog {
  return async () => {
    const [events] = await readAs<Omit<Backlog, keyof WorkerBacklog>>(pool, "service_delivery", eventsQuery);
    const [jobs] = await readAs<WorkerBacklog>(pool, "service_worker", jobsQuery);
    return { ...events!, ...jobs! };
  };
}
