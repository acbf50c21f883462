import { execFile } from "node:child_process";
import { access, chown, constants, stat } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Runs a program of Postgres, under a user that Postgres accepts. */
export interface PostgresUser {
  execute(program: string, args: string[]): Promise<{ stdout: string; stderr: string }>;
  /** Gives a file or folder to that user. */
  own(path: string): Promise<void>;
  /** Whether that user can enter a folder, or run a program. */
  canReach(path: string): Promise<boolean>;
}

/**
 * Who runs Postgres: the user of this process, or, as Postgres refuses to run as root, the owner of the folder, or
 * else the system's user `postgres`, which is made when missing.
 *
 * @param home the folder for Postgres' data
 */
export async function postgresUser(home: string): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) {
    return {
      execute: (path, args) => run(path, args),
      own: async () => {},
      canReach: async () => true,
    };
  }
  const { uid, gid } = await userInsteadOfRoot(home);
  const identity = { uid, gid, cwd: "/" };
  return {
    execute: (path, args) => run(path, args, identity),
    own: (path) => chown(path, uid, gid),
    canReach: (path) =>
      run("/bin/sh", ["-c", 'test -x "$1"', "sh", path], identity).then(
        () => true,
        () => false,
      ),
  };
}

async function userInsteadOfRoot(home: string): Promise<{ uid: number; gid: number }> {
  const owner = await stat(home);
  if (owner.uid !== 0) return owner;
  const idOf = async (flag: string) => Number((await run("id", [flag, "postgres"])).stdout);
  await idOf("-u").catch(() =>
    run("useradd", ["--system", "--user-group", "--shell", "/bin/false", "postgres"]),
  );
  return { uid: await idOf("-u"), gid: await idOf("-g") };
}

/** Whether a file is there. */
export async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
