import { readdir, readFile } from "node:fs/promises";
import type pg from "pg";
import { connect } from "../postgres/client.ts";
import { UserError } from "../errors/user-error.ts";
import { signNextHead } from "../jobs/sign-heads.ts";
import { Secrets } from "../secrets/secrets.ts";
import { say } from "./terminal.ts";
import { asOwner } from "./with-database.ts";

/** Target and amount of demonstration data. */
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
export const defaultUntil = new Date("2026-06-01T08:00:00Z");

/** Whole days for which all moments are moved. */
export const countShiftDays = (until: Date): number =>
  Math.floor((until.getTime() - defaultUntil.getTime()) / 86_400_000);

const dataTables = `
  select array_agg(c.oid::regclass::text order by c.oid::regclass::text) as names
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('erp', 'ledger', 'events', 'sourcing', 'valuation') and c.relkind = 'r' and c.oid <> all (array[
    'erp.language', 'erp.number_range', 'erp.document_type', 'erp.invoice_form', 'erp.tax_reason', 'erp.state_transition', 'ledger.process_type', 'ledger.special_stock_location', 'ledger.booking_reason', 'erp.return_reason', 'ledger.booker',
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
  until = defaultUntil,
  reset = false,
  onProgress = () => {},
}: DemoOptions): Promise<void> {
  const client = await connect(connectionString);
  try {
    await client.query("begin");
    const tables = await findDataTables(client);
    if (reset) await client.query(`truncate ${tables.join(", ")}`);
    else await requireNoData(client, tables);
    await client.query("select set_config('demo.scale', $1, true), set_config('demo.age', $2, true)", [
      String(scale),
      String(countShiftDays(until)),
    ]);
    const steps = await readDemo();
    for (const sql of steps) {
      // The last step switches on the triggers that announce changes
      if (sql === steps.at(-1)) await signDemoHeads(client, until);
      onProgress(`Demonstration data: ${sql.slice(0, sql.indexOf("\n")).replace(/^--\s*/, "")}`);
      await client.query(sql);
    }
    await client.query("commit");
    onProgress("Demonstration data: Gathering statistics");
    await client.query(`analyze ${tables.join(", ")}`);
  } finally {
    await client.end();
  }
}

/** Signs heads of some days, with the key of the demonstration. Postgres can't. */
async function signDemoHeads(client: pg.Client, until: Date): Promise<void> {
  for (let days = 11; days >= 0; days--)
    await signNextHead(client, new Secrets([]), new Date(until.getTime() - days * 86_400_000));
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

export async function fillWithDemo({ scale, reset }: { scale: number; reset?: true }): Promise<void> {
  const start = performance.now();
  const seconds = () => `${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s`;
  const onProgress = (step: string) => say(`${seconds()}  ${step}`);
  await asOwner((_, connectionString) =>
    fillDemo({ connectionString, scale, until: new Date(), reset, onProgress }),
  );
  onProgress("Done");
}
