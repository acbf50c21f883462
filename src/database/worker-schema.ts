import { readFile } from "node:fs/promises";
import { withClient } from "./client.ts";
import { urlAsOwner } from "./roles.ts";

/**
 * Migrates the schema of the job queue, and grants service_worker its rights in it. Can be repeated.
 *
 * @param adminUrl the database, with a role that may become the owner
 */
export async function installQueueSchema(adminUrl: string): Promise<void> {
  // Most commands don't need it
  const { runMigrations } = await import("graphile-worker");
  await runMigrations({ connectionString: urlAsOwner(adminUrl), maxPoolSize: 2 });
  const rights = await readFile(new URL("../../db/worker.sql", import.meta.url), "utf8");
  await withClient(urlAsOwner(adminUrl), async (client) => {
    // One batch is one transaction; set-ups at the same time take turns
    await client.query(`select pg_advisory_xact_lock(hashtext('rights of the worker')); ${rights}`);
  });
}
