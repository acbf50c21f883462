import pg from "pg";
import { backlogQuery } from "../jobs/backlog.ts";
import type { Backlog } from "../jobs/backlog.ts";
import { startOptions } from "../postgres/pool.ts";
import { abandonedAfter, choresAtQuery, lastDueTime } from "../jobs/chores.ts";
import type { Chore } from "../jobs/chores.ts";
import { Unreachable } from "./away-servers.ts";
import type { MerchantAllotment } from "./connection-budget.ts";

/** Kinds of background work. */
export const kinds = ["webhooks", "bulk", "jobs"] as const;
export type Kind = (typeof kinds)[number];

/** A database's report of its pending work. */
export interface DueWork {
  /** The name of the database, as Postgres knows it. */
  database: string;
  /** Milliseconds until work of a kind is due; Infinity if there is none. */
  inMs: Record<Kind, number>;
  /** When each chore was last done, by name, in milliseconds since 1970. */
  choresAt: Record<string, number>;
  /** Waiting work; null if there is none. */
  backlog: Backlog | null;
}

const inMs = (moment: string): string =>
  `coalesce(extract(epoch from ${moment} - clock_timestamp()) * 1000, 'infinity')::float8`;
const sqlArray = (names: readonly string[]): string => `array[${names.map(pg.escapeLiteral).join()}]`;

/**
 * Returns the query of what is due in a database. It is one message, which reads a few rows by indexes.
 *
 * @param tasks the job tasks that this process can do
 */
export const dueQuery = (tasks: readonly string[], chores: readonly string[]): string =>
  `begin read only; set local role service_delivery;
  select current_database() as database, ${inMs("events.due_at()")} as webhooks;
  set local role service_worker;
  select ${inMs("bulk.due_at()")} as bulk,
    ${inMs(`(select min(coalesce(j.locked_at + interval '${abandonedAfter}', j.run_at)) from graphile_worker.jobs j
      where (j.attempts < j.max_attempts or j.locked_at is not null) and j.task_identifier = any (${sqlArray(tasks)}))`)} as jobs,
    exists (select from graphile_worker.jobs) as "hasJobs",
    (${choresAtQuery(sqlArray(chores))}) as chores;
  commit`;

type Row = Record<Kind, number> & { database: string; chores: Record<string, number>; hasJobs: boolean };
type Queryable = Pick<pg.ClientBase, "query">;

/** Reads what is due and, if there is or will be work, the backlog. */
export async function readDue(client: Queryable, query: string): Promise<DueWork> {
  const { database, chores: choresAt, hasJobs, ...inMs } = await readOne<Row>(client, query);
  const isAwaited = hasJobs || inMs.webhooks < Infinity;
  const backlog = isAwaited ? await readOne<Backlog>(client, backlogQuery) : null;
  return { database, inMs, choresAt, backlog };
}

/** Reads what is due on a connection of a pool. */
export async function readDueBy(pool: pg.Pool, query: string): Promise<DueWork> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    const due = await readDue(client, query);
    isBroken = false;
    return due;
  } finally {
    client.release(isBroken);
  }
}

/** Merges the rows of several statements into one. */
async function readOne<Row>(client: Queryable, query: string): Promise<Row> {
  const answers = (await client.query(query)) as unknown as pg.QueryResult<Partial<Row>>[];
  return Object.assign({}, ...answers.map(({ rows }) => rows[0] ?? {})) as Row;
}

/** Milliseconds after the start within which overdue chores are begun. */
const defaultSpreadMs = 1_800_000;

/**
 * Returns in how many milliseconds work of each kind is due.
 *
 * @param since when this process started, in milliseconds since 1970
 */
export function planWork(
  { inMs, choresAt }: DueWork,
  chores: readonly Chore[],
  { since, spreadMs = defaultSpreadMs }: { since: number; spreadMs?: number | undefined },
): [Kind, number][] {
  const inMsOfChores = chores.map((chore) => {
    const last = lastDueTime(chore);
    const doneAt = choresAt[chore.name] ?? (chore.isForNew ? 0 : lastDueTime(chore, since));
    const lateAt = Math.max(last, since + chore.place * spreadMs);
    return (doneAt >= last ? last + chore.everyMs : lateAt) - Date.now();
  });
  const all = { ...inMs, jobs: Math.min(inMs.jobs, ...inMsOfChores) };
  return kinds.map((kind) => [kind, all[kind]]);
}

/** The number of rows that were written in a database since its statistics were reset. */
export interface Writes {
  rows: number;
  since: string | null;
}

/**
 * Reads how much has been written in each database of a cluster. Every role may read this in any database. Postgres updates
 * it within ten seconds.
 */
export async function readWrites(client: Queryable): Promise<Map<string, Writes>> {
  const { rows } = await client.query<Writes & { name: string }>(
    `select datname as name, (tup_inserted + tup_updated + tup_deleted)::float8 as rows, stats_reset::text as since
     from pg_stat_database where datname is not null`,
  );
  return new Map(rows.map(({ name, ...writes }) => [name, writes]));
}

const isUnreachable = (error: Error): boolean =>
  /^E[A-Z_]+$/.test(String((error as NodeJS.ErrnoException).code)) ||
  // Messages of node-postgres: a proxy in front of an unreachable server may accept connections and close them
  /^(timeout expired|Connection terminated)/.test(error.message);

/** Runs work on a connection, then closes the connection and its allotment. @throws {Unreachable} */
export async function withBriefConnection<T>(
  connectionString: string,
  { Client, close }: MerchantAllotment,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new Client({
    connectionString,
    options: startOptions(),
    application_name: "background",
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
  });
  client.on("error", () => {});
  try {
    await client.connect().catch((cause: Error) => {
      throw isUnreachable(cause) ? new Unreachable("no connection", { cause }) : cause;
    });
    return await work(client);
  } finally {
    await client.end().catch(() => {});
    close();
  }
}
