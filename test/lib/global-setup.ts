import { rmSync } from "node:fs";
import { chmod, mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import pg from "pg";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import { exists } from "../../src/cluster/postgres-user.ts";
import { readCommittedKeys, templateName } from "../../src/migrations/templates.ts";
import { setUpDatabase } from "../../src/migrations/open-database.ts";
import { memoryFolder } from "./memory-folder.ts";
import { copyPrepared, prepare, unsafe } from "./prepared.ts";

const inMemory = await memoryFolder();
const directory = inMemory ?? resolve(".data/test");
const temporary = join(directory, "tmp");
/** Paths that a run leaves behind. */
const remains =
  inMemory === null ? ["postgres", "password", "port"].map((name) => join(directory, name)) : [inMemory];
let cluster: Cluster | undefined;

/**
 * Starts one Postgres for all test files, with template databases to clone: `template_schema` is migrated,
 * `template_demo` also has the demonstration data. Test files get its URLs from TEST_ADMIN_URL and TEST_LOGIN_URL.
 */
export async function globalSetup(): Promise<void> {
  // Stops the Postgres of a run that was killed. If that run is still active, this fails
  if (await exists(`${directory}/postgres/postmaster.pid`)) await (await startCluster({ directory })).stop();
  await prepare();
  for (const path of remains) await rm(path, { recursive: true, force: true });
  await copyPrepared(directory);
  // Databases exist for seconds, so vacuuming them is useless
  cluster = await startCluster({ directory, flags: { ...unsafe, autovacuum_naptime: "1h" } });
  const admin = new pg.Client({ connectionString: cluster.adminUrl("postgres") });
  await admin.connect();
  const postmaster = await admin.query<{ pid: number }>(
    "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer as pid",
  );
  // An interrupted run has no teardown
  process.on("exit", () => end(postmaster.rows[0]!.pid));
  if (inMemory !== null) await useForTemporaryFolders();
  // Commands find a template with the committed migrations. They may replace it, so tests use another one
  const committed = templateName("schema", (await readCommittedKeys()).at(-1)!);
  await admin.query(`create database template_committed template ${committed} owner service_owner`);
  const loginUrl = await setUpDatabase(cluster.adminUrl("template_committed"), { renewPassword: true });
  await admin.query("alter database empty rename to template_schema");
  await admin.query("alter database erp rename to template_demo");
  await admin.end();
  process.env.GRAPHILE_ENV = "development";
  // Test files are separate processes, but import mostly the same modules
  process.env.NODE_COMPILE_CACHE = resolve(".data/test/compiled");
  process.env.TEST_ADMIN_URL = cluster.adminUrl("postgres");
  process.env.TEST_LOGIN_URL = loginUrl!;
}

export async function globalTeardown(): Promise<void> {
  await cluster?.stop();
  removeRemains();
}

/** Puts the temporary folders of tests in memory as well: some contain a Postgres. */
async function useForTemporaryFolders(): Promise<void> {
  await mkdir(temporary);
  await chmod(temporary, 0o1777);
  process.env.TMPDIR = temporary;
}

/** Kills the Postgres of an interrupted run. Its data aren't needed any more. */
function end(pid: number): void {
  try {
    process.kill(pid, "SIGQUIT");
  } catch {
    // It has already ended
  }
  removeRemains();
}

/** Deletes what a run leaves in memory. */
function removeRemains(): void {
  if (inMemory === null) return;
  for (const path of remains) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
}
