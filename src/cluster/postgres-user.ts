import { execFile } from "node:child_process";
import { access, chown, constants, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { UserError } from "../errors/user-error.ts";

const run = promisify(execFile);

/** The numeric ids of a user of the operating system and of their group. */
export interface Identity {
  uid: number;
  gid: number;
}

/** A user who may run Postgres, which refuses root. */
export interface PostgresUser {
  /** The user's ids; null for the user of this process. */
  identity: Identity | null;
  execute(program: string, args: string[]): Promise<{ stdout: string; stderr: string }>;
  /** Makes the user the owner of a file or folder. */
  own(path: string): Promise<void>;
  /** Makes the user the owner of a folder and everything in it. */
  ownAll(folder: string): Promise<void>;
  /** Whether the user can enter a folder, or run a program. */
  canReach(path: string): Promise<boolean>;
}

/**
 * Returns the user who runs Postgres: the user of this process. Postgres refuses to run as root; then it is the owner of
 * the folder, or else the system's user `postgres`, which is created if it is missing.
 *
 * @param home the folder for Postgres' data
 * @param runAs name of the user instead; `root` is ignored
 * @throws {UserError} when there is no such user
 */
export async function postgresUser(home: string, runAs?: string): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) {
    return {
      identity: null,
      execute: (path, args) => run(path, args),
      own: async () => {},
      ownAll: async () => {},
      canReach: async () => true,
    };
  }
  const named = runAs === undefined || runAs === "root" ? null : await lookUpUser(runAs);
  const { uid, gid } = named ?? (await userInsteadOfRoot(home));
  const options = { uid, gid, cwd: "/" };
  return {
    identity: { uid, gid },
    execute: (path, args) => run(path, args, options),
    own: (path) => chown(path, uid, gid),
    // There are thousands of files, so one process changes them all
    ownAll: async (folder) => void (await run("chown", ["-R", `${uid}:${gid}`, folder])),
    canReach: (path) =>
      run("/bin/sh", ["-c", 'test -x "$1"', "sh", path], options).then(
        () => true,
        () => false,
      ),
  };
}

async function userInsteadOfRoot(home: string): Promise<Identity> {
  const owner = await stat(home);
  if (owner.uid !== 0) return owner;
  return lookUpUser("postgres").catch(async () => {
    await run("useradd", ["--system", "--user-group", "--shell", "/bin/false", "postgres"]);
    return lookUpUser("postgres");
  });
}

/** Users that were looked up before, because a look-up runs two programs. */
const lookedUp = new Map<string, Identity>();

/**
 * Returns the ids of a user and of their group.
 *
 * @throws {UserError} when there is no such user
 */
export async function lookUpUser(name: string): Promise<Identity> {
  const readId = async (flag: string) => Number((await run("id", [flag, "--", name])).stdout);
  try {
    const found = lookedUp.get(name) ?? { uid: await readId("-u"), gid: await readId("-g") };
    lookedUp.set(name, found);
    return found;
  } catch (cause) {
    throw new UserError(`There is no user ${name} on this machine. Set RUN_AS to an existing user.`, {
      cause,
    });
  }
}

/** Whether a file exists. */
export async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
