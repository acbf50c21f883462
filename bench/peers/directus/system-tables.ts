import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { systemSchema } from "./settings.ts";

/** Lists must be named: it knows foreign keys forward from the database, but not backward. */
const lists = `
  insert into ${systemSchema}.directus_relations (many_collection, many_field, one_collection, one_field)
  values ('sales_order_line_item', 'order_id', 'sales_order', 'line_items');
  insert into ${systemSchema}.directus_fields (collection, field, special) values ('sales_order', 'line_items', 'o2m');`;

/** Makes new tables for Directus' settings. */
export async function makeSystemTables(): Promise<void> {
  await removeSystemTables();
  await run(`create schema ${systemSchema}`);
  const cli = join(dirname(createRequire(import.meta.url).resolve("directus/package.json")), "cli.js");
  await promisify(execFile)(process.execPath, [cli, "bootstrap", "--skipAdminInit"]);
  await run(lists);
}

/** Removes them from the database. */
export function removeSystemTables(): Promise<void> {
  return run(`drop schema if exists ${systemSchema} cascade`);
}

async function run(statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL_WITH_SETTINGS! });
  await client.connect();
  try {
    await client.query(statements);
  } finally {
    await client.end();
  }
}
