import { readdir, readFile } from "node:fs/promises";
import type pg from "pg";
import { openForCommand } from "../migrations/open-database.ts";
import { connect } from "../postgres/client.ts";
import { readSettings } from "../process/settings.ts";
import { UserError } from "../errors/user-error.ts";
import { atTheCommandLine } from "./command-line.ts";
import { say } from "./terminal.ts";

/** Where to put demonstration data, and how much. */
export interface DemoOptions {
  /** The database, as the owner of its tables. */
  connectionString: string;
  /** Scale 1 is a small shop of about 200 products and 500 orders; 100 is a hundred times that. */
  scale: number;
  /**
   * The day to which the data reaches, up to eight in the morning; by default the first of June 2026, so that answers
   * in guides and tests stay the same.
   */
  until?: Date;
  /** Whether to empty the tables first, including other data. */
  reset?: boolean;
  /** Called with the name of each step when it begins. */
  onProgress?: (step: string) => void;
}

const folder = new URL("../../db/demo/", import.meta.url);

/** To which moment the data reaches unless it is moved. */
const firstUntil = new Date("2026-06-01T08:00:00Z");

/** Whole days for which all moments are moved. */
const ageOf = (until: Date): number => Math.floor((until.getTime() - firstUntil.getTime()) / 86_400_000);

const dataTables = `
  select array_agg(c.oid::regclass::text order by c.oid::regclass::text) as names
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('erp', 'ledger', 'events') and c.relkind = 'r' and c.oid <> all (array[
    'erp.language', 'erp.number_range', 'erp.document_type', 'erp.state_transition', 'ledger.process_type', 'ledger.special_stock_location',
    'events.subject', 'events.field', 'events.topic', 'events.occasion', 'events.log_head']::regclass[])`;

/**
 * Fills an empty database with a realistic shop. The same scale always gives the same rows, apart from their moments,
 * which reach to `until`. It is one transaction, which commits only if the proof of the stock ledger is empty.
 *
 * @throws {UserError} when there is data already and `reset` is not set
 */
export async function fillDemo({
  connectionString,
  scale,
  until = firstUntil,
  reset = false,
  onProgress = () => {},
}: DemoOptions): Promise<void> {
  if (!Number.isInteger(scale) || scale < 1 || scale > 1000)
    throw new UserError("The scale is a whole number from 1 to 1000.");
  const client = await connect(connectionString);
  try {
    await client.query("begin");
    await client.query("set local statement_timeout = 0");
    await client.query("set local timezone to 'UTC'");
    // Sorting and joining at scale 100 would otherwise use the disk
    await client.query("set local work_mem to '128MB'");
    const tables = await findDataTables(client);
    if (reset) await client.query(`truncate ${tables.join(", ")}`);
    else await requireNoData(client, tables);
    await client.query("select set_config('demo.scale', $1, true), set_config('demo.age', $2, true)", [
      ...[String(scale), String(ageOf(until))],
    ]);
    for (const sql of await readDemo()) {
      onProgress(`Demonstration data: ${sql.slice(0, sql.indexOf("\n")).replace(/^--\s*/, "")}`);
      await client.query(sql);
    }
    await requireProof(client);
    await client.query("commit");
    onProgress("Demonstration data: Gathering statistics");
    await client.query(`analyze ${tables.join(", ")}`);
  } finally {
    await client.end();
  }
}

/** The texts of db/demo, in the order in which they run. */
export async function readDemo(): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(names.map((name) => readFile(new URL(name, folder), "utf8")));
}

async function findDataTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ names: string[] }>(dataTables);
  return rows[0]!.names;
}

async function requireNoData(client: pg.Client, tables: string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    tables.map((name) => `(select '${name}' as name from ${name} limit 1)`).join(" union all "),
  );
  if (rows.length > 0) {
    throw new UserError(
      "The database has data already. Demonstration data needs an empty one: --reset deletes everything first.",
    );
  }
}

async function requireProof(client: pg.Client): Promise<void> {
  const { rows } = await client.query("select * from ledger.proof limit 20");
  if (rows.length > 0)
    throw new Error(`Stored figures differ from the ledger: ${JSON.stringify(rows, null, 2)}`);
}

const usage = `Fills the database with a demonstration shop.

Usage: npm run demo -- [--scale N] [--reset]

  --scale N   how much: 1 (default) is 200 products and 500 orders, 100 is a hundred times that
  --reset     delete all data first; without it, a database that has data is refused

Works on the embedded Postgres, whether the service runs or not, or on DATABASE_URL, which then must be an
administrator's. Exit code 0: done, 1: refused or failed, 2: invalid arguments.
`;

const options = {
  scale: { type: "string", default: "1" },
  reset: { type: "boolean", default: false },
} as const;

async function main({ scale, reset }: { scale: string; reset: boolean }): Promise<void> {
  const start = performance.now();
  const seconds = () => `${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s`;
  const onProgress = (step: string) => say(`${seconds()}  ${step}`);
  const database = await openForCommand(readSettings());
  try {
    await fillDemo({
      ...{ connectionString: database.url, scale: Number(scale), until: new Date() },
      ...{ reset, onProgress },
    });
    onProgress("Done");
  } catch (error) {
    throw explain(error);
  } finally {
    await database.close();
  }
}

/** Explains errors that the person at the terminal can solve; other errors are ours and stay unchanged. */
function explain(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "42501") return new UserError("DATABASE_URL must be an administrator's for this.");
  // undefined_table, invalid_schema_name
  if (code === "42P01" || code === "3F000") {
    return new UserError("The database has not been set up yet. Run `npm run db:setup` first.");
  }
  return error;
}

if (import.meta.main) await atTheCommandLine({ usage, options }, main);
