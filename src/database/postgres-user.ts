import { execFile } from "node:child_process";
import { access, chown, constants } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Runs a program of Postgres, under a user that Postgres accepts. */
export interface PostgresUser {
  execute(program: string, args: string[]): Promise<{ stdout: string; stderr: string }>;
  /** Gives a file or folder to that user. */
  own(path: string): Promise<void>;
}

/**
 * Who runs Postgres: the user of this process, or, as Postgres refuses to run as root, the system's user `postgres`,
 * which is made when missing.
 *
 * @param program a program of Postgres
 * @param folder where its data are to be
 */
export async function postgresUser(program: string, folder: string): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) return { execute: (path, args) => run(path, args), own: async () => {} };

  const idOf = async (flag: string) => Number((await run("id", [flag, "postgres"])).stdout);
  await idOf("-u").catch(() =>
    run("useradd", ["--system", "--user-group", "--shell", "/bin/false", "postgres"]),
  );
  const [uid, gid] = [await idOf("-u"), await idOf("-g")];

  const plainly = { uid, gid, cwd: "/" };
  const reachable = await run(program, ["--version"], plainly)
    .then(() => run("test", ["-x", folder], plainly))
    .then(
      () => true,
      () => false,
    );
  // A folder such as /root lets nobody but root in. Then the user gets that one right of root's for itself.
  const through = ["--reuid", `${uid}`, "--regid", `${gid}`, "--clear-groups"];
  const capability = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  return {
    execute: (path, args) =>
      reachable
        ? run(path, args, plainly)
        : run("setpriv", [...through, ...capability, path, ...args], { cwd: "/" }),
    own: (path) => chown(path, uid, gid),
  };
}

/** Whether a file is there. */
export async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
