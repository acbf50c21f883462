import { resolve } from "node:path";
import pg from "pg";
import { fillDemo } from "../../src/commands/demo.ts";
import type { Cluster } from "../../src/database/cluster/cluster.ts";
import { startCluster } from "../../src/database/cluster/cluster.ts";
import { hasCurrentMigration, runCurrentMigration } from "../../src/database/migrations/migrations.ts";
import { committedKeys, templateName } from "../../src/database/migrations/templates.ts";
import { setUpDatabase } from "../../src/database/open.ts";
import { urlAsOwner } from "../../src/database/roles.ts";
import { statisticsModule } from "../../src/database/statement-statistics.ts";

let cluster: Cluster | undefined;

/**
 * One Postgres for all test files, with template databases that each clones: `template_schema` is migrated,
 * `template_demo` has the demonstration data too. TEST_ADMIN_URL and TEST_LOGIN_URL tell test files where it is.
 */
export async function globalSetup(): Promise<void> {
  cluster = await startCluster({
    directory: ".data/test",
    // Nothing outlives the run, so nothing needs to be safe on disk
    flags: {
      fsync: "off",
      synchronous_commit: "off",
      full_page_writes: "off",
      shared_preload_libraries: statisticsModule,
    },
  });
  const admin = new pg.Client({ connectionString: cluster.adminUrl("postgres") });
  await admin.connect();
  const postmaster = await admin.query<{ pid: number }>(
    "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer as pid",
  );
  // For an interrupted run, which has no teardown
  process.on("exit", () => end(postmaster.rows[0]!.pid));
  const { rows } = await admin.query(
    "select datname as name from pg_database where datname not in ('postgres', 'template0', 'template1')",
  );
  for (const { name } of rows)
    await admin.query(`drop database ${admin.escapeIdentifier(name)} with (force)`);
  await admin.query("create database template_committed");
  const loginUrl = await setUpDatabase(cluster.adminUrl("template_committed"), { renewPassword: true });
  // Commands that need a database with the committed migrations find one. They may replace it, so tests have their own
  const committed = templateName("schema", (await committedKeys()).at(-1)!);
  await admin.query(`create database ${committed} template template_committed owner service_owner`);
  await admin.query("create database template_schema template template_committed owner service_owner");
  const url = cluster.adminUrl("template_schema");
  if (await hasCurrentMigration()) await runCurrentMigration(url);
  await admin.query("create database template_demo template template_schema owner service_owner");
  await fillDemo({
    connectionString: urlAsOwner(cluster.adminUrl("template_demo")),
    scale: 1,
    onProgress: () => {},
  });
  await admin.end();
  process.env.GRAPHILE_ENV = "development";
  // Test files import mostly the same modules, each in its own process
  process.env.NODE_COMPILE_CACHE = resolve(".data/test/compiled");
  process.env.TEST_ADMIN_URL = cluster.adminUrl("postgres");
  process.env.TEST_LOGIN_URL = loginUrl!;
}

export async function globalTeardown(): Promise<void> {
  await cluster?.stop();
}

/** Kills the Postgres: nothing of it is kept. */
function end(pid: number): void {
  try {
    process.kill(pid, "SIGQUIT");
  } catch {
    // It has ended
  }
}
