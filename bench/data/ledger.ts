import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type pg from "pg";
import { withClient } from "../../src/postgres/client.ts";

/** Years over which the added movements are spread, before all existing ones. */
const years = 5;
/** Most movements copied at a time: all movements of the shop. */
const mostCopied = 100_000;
/** Connections that create indexes concurrently. */
const atOnce = 2;

/** Selects the newest movements to copy, of products without batches, in order. */
const template = (most: number): string => `
  create temporary table template as
  select row_number() over (order by m.id) as nth, m.*
  from (select * from ledger.stock_movement order by id desc limit ${most}) m
  join erp.product p on p.id = m.product_id where not p.is_batch_managed;
  create index on template (nth); analyze template`;

/** Removes the newest movements, to insert them last, as in production. Pages are then full and in order. */
const takeOut = `
  create temporary table newest as select * from ledger.stock_movement;
  delete from ledger.stock_movement; delete from ledger.movement_sequence`;
const putBack = "insert into ledger.stock_movement select * from newest order by id";
const number = `
  insert into ledger.movement_sequence (sequence, movement_id)
  select row_number() over (order by id), id from ledger.stock_movement`;

/** Whether a copy moves the goods as the original did, or back. */
type Direction = "there" | "back";

/** Returns the value of a column in a copy. For the way back, source and destination are swapped. */
function valueOf(column: string, direction: Direction): string {
  if (column === "id") return "uuidv7(t.at - clock_timestamp())";
  if (column === "created_at") return "date_trunc('second', t.at)";
  if (column === "microseconds") return "extract(microsecond from t.at)::integer % 1000000";
  if (column === "transaction_id") return "null";
  if (direction === "there") return `t.${column}`;
  return `t.${column.replace(/^(source|destination)_/, (_, side) => (side === "source" ? "destination_" : "source_"))}`;
}

/** Copies movements, one each $2, from $1 on, without booking them. */
function copyStatement(columns: readonly string[], direction: Direction): string {
  return `
    insert into ledger.stock_movement (${columns.join(", ")})
    select ${columns.map((column) => valueOf(column, direction)).join(", ")}
    from (select m.*, $1::timestamptz + m.nth * $2::interval as at from template m) t order by t.nth`;
}

/** A ledger that gets copies of its movements. */
export interface Copies {
  /** How many movements a copy has. */
  size: number;
  add(direction: Direction, from: Date, secondsEach: number): Promise<void>;
}

/**
 * Prepares copying on a connection, and turns off its triggers.
 *
 * @param most most movements to copy, newest first
 */
export async function prepareCopies(client: pg.Client, most: number): Promise<Copies> {
  await client.query("set session_replication_role = replica; set timezone = 'UTC'");
  await client.query(template(most));
  const { rows: columns } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = 'ledger.stock_movement'::regclass and attnum > 0 and not attisdropped`,
  );
  const names = columns.map(({ name }) => name);
  const { rows } = await client.query<{ size: string }>("select count(*) as size from template");
  return {
    size: Number(rows[0]!.size),
    async add(direction, from, secondsEach) {
      const values = [from, `${secondsEach} seconds`];
      await client.query({ name: direction, text: copyStatement(names, direction), values });
    },
  };
}

/**
 * Adds old movements without booking them. Each is reversed by another one, so the stored figures stay correct.
 *
 * @param count minimum number of movements
 */
export async function extendLedger(
  adminUrl: string,
  count: number,
  onProgress: (step: string) => void,
): Promise<void> {
  const open = await withClient(adminUrl, (client) => addPast(client, count, onProgress));
  onProgress("Numbers and indexes of movements");
  const work = async () => {
    for (let next = open.shift(); next !== undefined; next = open.shift())
      await runWithMemory(adminUrl, next);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  onProgress("Vacuuming");
  await withClient(adminUrl, async (client) => {
    await client.query("vacuum (freeze, analyze) ledger.stock_movement, ledger.movement_sequence");
    await client.query("checkpoint");
  });
  // Pending disk writes would disturb the next measurement
  await promisify(execFile)("sync").catch(() => {});
}

/** @returns the statements that are left to do */
async function addPast(
  client: pg.Client,
  count: number,
  onProgress: (step: string) => void,
): Promise<string[]> {
  const { size, add } = await prepareCopies(client, mostCopied);
  const { rows } = await client.query<{ present: string; oldest: Date }>(
    "select count(*) as present, min(created_at) as oldest from ledger.stock_movement",
  );
  const { present, oldest } = rows[0]!;
  const copies = 2 * Math.max(0, Math.ceil((count - Number(present)) / (2 * size)));
  if (copies === 0) return [];
  const indexes = await dropIndexes(client);
  await client.query(takeOut);
  await client.query("vacuum ledger.stock_movement, ledger.movement_sequence");
  const seconds = years * 365 * 86_400;
  for (let copy = 0; copy < copies; copy++) {
    const from = new Date(oldest.getTime() - (1 - copy / copies) * seconds * 1_000);
    await add(copy % 2 === 0 ? "there" : "back", from, seconds / (copies * size));
    if (copy % 100 === 0) onProgress(`${copy * size} of ${copies * size} movements`);
  }
  await client.query(putBack);
  return [number, ...indexes];
}

/** Drops the indexes of movements, except that of their key, which others refer to; the largest come first. */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(`
    select i.indexrelid::regclass as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i where i.indrelid = 'ledger.stock_movement'::regclass and not i.indisprimary
    order by i.indpred is not null, pg_relation_size(i.indexrelid) desc`);
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

async function runWithMemory(adminUrl: string, statement: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    await client.query("set maintenance_work_mem = '1GB'; set max_parallel_maintenance_workers = 0");
    await client.query("set work_mem = '1GB'");
    await client.query(statement);
  });
}
