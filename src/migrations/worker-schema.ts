import { readFile } from "node:fs/promises";
import { withClient } from "../postgres/client.ts";
import { openPool } from "../postgres/pool.ts";
import { urlAsOwner } from "../postgres/roles.ts";

/**
 * Migrates the schema of the job queue, and grants service_worker its rights in it. Can be repeated.
 *
 * @param adminUrl the database, with a role that may become the owner
 */
export async function installQueueSchema(adminUrl: string): Promise<void> {
  // Most commands don't need it
  const { runMigrations } = await import("graphile-worker");
  // Of a pool of its own it doesn't await the end: a Postgres that is then stopped would end the process, too
  const pgPool = openPool({ connectionString: urlAsOwner(adminUrl), max: 2 });
  try {
    await runMigrations({ pgPool });
  } finally {
    await pgPool.end();
  }
  const rights = await readFile(new URL("../../db/worker.sql", import.meta.url), "utf8");
  await withClient(urlAsOwner(adminUrl), async (client) => {
    // One batch is one transaction; set-ups at the same time take turns
    await client.query(`select pg_advisory_xact_lock(hashtext('rights of the worker')); ${rights}`);
  });
}
