import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFile,
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  writeFile,
} from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ClientBase } from "pg";
import { fillDemo } from "../../src/commands/demo.ts";
import { withClient } from "../../src/postgres/client.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import type { Cluster, ClusterOptions } from "../../src/cluster/cluster.ts";
import { postgresUser } from "../../src/cluster/postgres-user.ts";
import { reachableData } from "../../src/cluster/shelter.ts";
import { hasCurrentMigration, runCurrentMigration } from "../../src/migrations/migrations.ts";
import { readCommittedKeys, templateName } from "../../src/migrations/templates.ts";
import { setUpDatabase } from "../../src/migrations/open-database.ts";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import { statisticsModule } from "../../src/plans/statement-statistics.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const home = join(root, ".data/prepared");
/** The files that determine the content of the databases. */
const sources = [
  "db",
  "src/postgres",
  "src/cluster",
  "src/migrations",
  "src/plans",
  "src/commands/demo.ts",
  "test/lib/prepared.ts",
  "package-lock.json",
];

/** Settings without disk synchronisation: tests' data needn't survive a crash. */
const withoutSync = {
  ...{ fsync: "off", full_page_writes: "off", wal_init_zero: "off" },
  // Keeps shared memory in the data folder: in /dev/shm it would remain after the Postgres is killed
  dynamic_shared_memory_type: "mmap",
};

/** Settings for data that needn't even survive a crash of Postgres. */
export const unsafe = {
  ...{ ...withoutSync, synchronous_commit: "off" },
  shared_preload_libraries: statisticsModule,
};

/** Turns disk synchronisation off for a Postgres that a service starts with its own settings. */
export function disableFsync(data: string): Promise<void> {
  const lines = Object.entries(withoutSync).map(([name, value]) => `${name} = ${value}\n`);
  return appendFile(join(data, "postgresql.conf"), lines.join(""));
}

/**
 * Creates the data of a Postgres, unless they exist: the service's own database `erp` with demonstration data and without
 * credentials, `empty` without data, and the template of the committed migrations that commands look for. Creating them
 * takes fifteen seconds, copying a fraction of a second.
 */
export async function prepare(): Promise<void> {
  const key = await contentHash(sources);
  if ((await readFile(join(home, "key"), "utf8").catch(() => "")) === key) return;
  await removePrepared();
  const cluster = await startCluster({
    directory: home,
    // Keeps no spare segments of the write-ahead log, which would be copied each time
    flags: {
      ...unsafe,
      wal_level: "minimal",
      max_wal_senders: "0",
      min_wal_size: "32MB",
      wal_recycle: "off",
    },
  });
  try {
    await withClient(cluster.adminUrl("postgres"), (admin) => makeDatabases(cluster, admin));
  } finally {
    await cluster.stop();
  }
  await disableFsync(join(home, "postgres"));
  // Each copy chooses a free port
  await rm(join(home, "port"));
  await writeFile(join(home, "key"), key);
}

/** Removes earlier prepared data. They may be in another folder, which Postgres' user can access. */
async function removePrepared(): Promise<void> {
  const data = await realpath(join(home, "postgres")).catch(() => null);
  if (data !== null && dirname(data) !== home) await rm(dirname(data), { recursive: true, force: true });
  await rm(home, { recursive: true, force: true });
}

async function makeDatabases(cluster: Cluster, admin: ClientBase): Promise<void> {
  const committed = templateName("schema", (await readCommittedKeys()).at(-1)!);
  await admin.query(`create database ${committed}`);
  await setUpDatabase(cluster.adminUrl(committed), { renewPassword: true });
  await admin.query(`alter database ${committed} owner to service_owner`);
  await withClient(cluster.adminUrl(committed), shrinkCatalog);
  await admin.query(`create database empty template ${committed} owner service_owner`);
  if (await hasCurrentMigration()) await runCurrentMigration(cluster.adminUrl("empty"));
  await admin.query("create database erp template empty owner service_owner");
  const connectionString = urlAsOwner(cluster.adminUrl("erp"));
  await fillDemo({ connectionString, scale: 1, onProgress: () => {} });
}

/** Vacuums the catalog. After migrations, a fifth of a database are its dead rows, which would be copied each time. */
async function shrinkCatalog(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select oid::regclass::text as name from pg_class where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r' and not relisshared",
  );
  for (const { name } of rows) await client.query(`vacuum (full, analyze) ${name}`);
}

/** Computes a hash of the content of files and folders. */
async function contentHash(paths: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const path of paths) {
    const entries = await readdir(join(root, path), { recursive: true, withFileTypes: true }).catch(
      () => null,
    );
    const files = entries
      ?.filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    for (const file of files?.sort() ?? [join(root, path)])
      hash.update(`${file.slice(root.length)}\n`).update(await readFile(file));
  }
  return hash.digest("hex");
}

/**
 * Copies the prepared data into a folder, which is created if it is missing. A service or a test can then start its own
 * Postgres there.
 *
 * @param runAs the user who will run it, see {@link ClusterOptions}
 */
export async function copyPrepared(directory: string, runAs?: string): Promise<void> {
  const target = resolve(directory);
  if ((await mkdir(target, { recursive: true })) !== undefined) await chmod(target, 0o755);
  const user = await postgresUser(target, runAs);
  const data = await reachableData(user, join(target, "postgres"));
  const password = join(target, "password");
  await run("cp", ["-Rp", await realpath(join(home, "postgres")), data]);
  await rm(join(data, "server.log"), { force: true });
  await copyFile(join(home, "password"), password);
  if (user.identity === null) return;
  const { uid, gid } = user.identity;
  await run("chown", ["-R", `${uid}:${gid}`, data, password]);
}

/** A test's own Postgres, with an empty database of the service. */
export interface OwnPostgres {
  cluster: Cluster;
  /** URL of the database with the superuser. */
  adminUrl: string;
  /** URL of the database with the service's login role. */
  loginUrl: string;
}

/** Starts a Postgres on a copy of the prepared data. */
export async function startOwnPostgres(options: ClusterOptions): Promise<OwnPostgres> {
  await copyPrepared(options.directory, options.runAs);
  const cluster = await startCluster(options);
  const adminUrl = cluster.adminUrl("empty");
  return { cluster, adminUrl, loginUrl: (await setUpDatabase(adminUrl, { renewPassword: true }))! };
}
