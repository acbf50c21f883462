import { createHash } from "node:crypto";
import type { Pool } from "pg";
import { importRatesAt, upkeep } from "./crontab.ts";
import type { TaskSettings } from "./tasks.ts";

const [minuteMs, hourMs] = [60_000, 3_600_000];

/** Jobs that are queued at intervals if one process works for many merchants. */
export interface Chore {
  /** The name in graphile-worker's list of cron jobs, which stores when it last ran. */
  name: string;
  everyMs: number;
  /** When it runs within the interval. Whole milliseconds, as the database stores them. */
  offsetMs: number;
  /** A number from 0 to 1 that spreads merchants over time. */
  place: number;
  /** Whether it runs at once for a new merchant, instead of waiting for its next time. */
  isForNew: boolean;
  tasks: readonly string[];
}

/** Returns the jobs of crontabOf (crontab.ts), but queued rarely, and for each merchant at a different time. */
export function listChores({ exchangeRatesFrom }: TaskSettings, merchant: string): Chore[] {
  const place = createHash("sha256").update(merchant).digest().readUInt32BE() / 2 ** 32;
  const everyMs = 6 * hourMs;
  const { task, hour, minute } = importRatesAt;
  const offsetMs = hour * hourMs + minute * minuteMs + Math.floor(place * 30 * minuteMs);
  return [
    {
      name: "upkeep",
      everyMs,
      offsetMs: Math.floor(place * everyMs),
      place,
      isForNew: false,
      tasks: upkeep,
    },
    ...(exchangeRatesFrom === undefined
      ? []
      : [{ name: task, everyMs: 24 * hourMs, offsetMs, place, isForNew: true, tasks: [task] }]),
  ];
}

/** Returns the newest time at which a chore was due, in milliseconds since 1970. */
export const lastDueTime = ({ everyMs, offsetMs }: Chore, now = Date.now()): number =>
  Math.floor((now - offsetMs) / everyMs) * everyMs + offsetMs;

// graphile-worker's list of cron jobs stores the last times. It has no public interface. The name is from version 0.18;
// test/jobs/queue-inside.test.ts fails if it changes
const knownCrontabs = "graphile_worker._private_known_crontabs";

/** Returns a query for the last times of chores by name, as JSON. @param names an SQL expression for an array of texts */
export const choresAtQuery = (names: string): string =>
  `select coalesce(json_object_agg(identifier, extract(epoch from last_execution) * 1000), '{}')
   from ${knownCrontabs} where identifier = any (${names})`;

/** Queues due chores, unless another process has queued them. */
export async function queueChores(pool: Pool, chores: readonly Chore[]): Promise<void> {
  for (const chore of chores)
    await pool.query(
      `with due as (
         insert into ${knownCrontabs} as known (identifier, known_since, last_execution)
         values ($1, now(), $2)
         on conflict (identifier) do update set last_execution = excluded.last_execution
           where known.last_execution is null or known.last_execution < excluded.last_execution
         returning 1)
       select graphile_worker.add_job(task, '{}', job_key => task) from due, unnest($3::text[]) task`,
      [chore.name, new Date(lastDueTime(chore)), chore.tasks],
    );
}

/** Age of a lock after which a job's process must have been killed: each of our jobs takes seconds. */
export const abandonedAfter = "10 minutes";

/** Returns abandoned jobs to the queue. A long-running graphile-worker does so only after four hours. */
export async function returnAbandonedJobs(pool: Pool): Promise<void> {
  await pool.query(
    `select graphile_worker.force_unlock_workers(array_agg(distinct locked_by))
     from graphile_worker.jobs where locked_at < now() - interval '${abandonedAfter}'`,
  );
}
