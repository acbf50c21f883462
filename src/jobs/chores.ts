import { createHash } from "node:crypto";
import type { Pool } from "pg";
import { importRatesAt, upkeep } from "./crontab.ts";
import type { TaskSettings } from "./tasks.ts";

const [minuteMs, hourMs] = [60_000, 3_600_000];

/** Jobs that are queued again and again where one process works for many merchants. */
export interface Chore {
  /** Under which graphile-worker's list of cron jobs has when it was last done. */
  name: string;
  everyMs: number;
  /** When it is done within that time. Whole milliseconds, as the database keeps them. */
  offsetMs: number;
  /** From 0 to 1: where the merchant is among all. */
  place: number;
  /** Whether a new merchant has it done at once, and not only at the next of its times. */
  isForNew: boolean;
  tasks: readonly string[];
}

/** The jobs of crontabOf (crontab.ts), queued rarely, and for each merchant at another time. */
export function choresOf({ exchangeRatesFrom }: TaskSettings, merchant: string): Chore[] {
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

/** When a chore should have been done for the last time. In milliseconds since 1970. */
export const lastTimeOf = ({ everyMs, offsetMs }: Chore, now = Date.now()): number =>
  Math.floor((now - offsetMs) / everyMs) * everyMs + offsetMs;

// The last times are in graphile-worker's list of cron jobs, for which it has no public interface. It looked like this in
// version 0.18; test/jobs/queue-inside.test.ts notices when it changes
const knownCrontabs = "graphile_worker._private_known_crontabs";

/** A query for the last times of chores by their names, as JSON. @param names an array of texts, in SQL */
export const choresAtQuery = (names: string): string =>
  `select coalesce(json_object_agg(identifier, extract(epoch from last_execution) * 1000), '{}')
   from ${knownCrontabs} where identifier = any (${names})`;

/** Queues what is due, unless another process has done so. */
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
      [chore.name, new Date(lastTimeOf(chore)), chore.tasks],
    );
}

/** A job that is locked for longer belongs to a process that was killed: every job takes seconds. */
export const abandonedAfter = "10 minutes";

/** Releases such jobs. graphile-worker itself does so after four hours. */
export async function returnAbandoned(pool: Pool): Promise<void> {
  await pool.query(
    `select graphile_worker.force_unlock_workers(array_agg(distinct locked_by))
     from graphile_worker.jobs where locked_at < now() - interval '${abandonedAfter}'`,
  );
}
