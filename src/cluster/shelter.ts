import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { exists } from "./postgres-user.ts";
import type { PostgresUser } from "./postgres-user.ts";

// Root may start the service in a folder that no other user may enter, such as one under /root. Postgres' programs and
// data then go to this folder, which the user who runs Postgres can enter
const publicDirectory = "/var/lib/stock-and-order-graphql";

const packageFile = z.object({ version: z.string() });

/**
 * Returns the folder of Postgres' programs: the original, or a copy that the user can run.
 *
 * @param program the path of one of the programs
 */
export async function reachablePrograms(user: PostgresUser, program: string): Promise<string> {
  if (await user.canReach(program)) return dirname(program);
  const original = dirname(dirname(program));
  const description = await readFile(join(dirname(original), "package.json"), "utf8");
  const { version } = packageFile.parse(JSON.parse(description));
  const copy = join(publicDirectory, `postgres-${version}`);
  if (!(await exists(copy))) {
    await makePublicDirectory();
    const temporary = await mkdtemp(`${copy}-`);
    await cp(original, temporary, { recursive: true, verbatimSymlinks: true });
    await promisify(execFile)("chmod", ["-R", "a+rX", temporary]);
    await rename(temporary, copy).catch(async (error: unknown) => {
      await rm(temporary, { recursive: true, force: true });
      if (!(await exists(copy))) throw error; // Otherwise another process was faster
    });
  }
  return join(copy, "bin");
}

/** Returns the data folder: the wanted one, or one that the user can enter, with a symbolic link from the wanted path. */
export async function reachableData(user: PostgresUser, wanted: string): Promise<string> {
  if (await exists(wanted)) return realpath(wanted);
  if (await user.canReach(dirname(wanted))) return wanted;
  await makePublicDirectory();
  const place = await mkdtemp(join(publicDirectory, "data-"));
  await chmod(place, 0o755);
  await rm(wanted, { force: true }); // A broken link
  const data = join(place, basename(wanted));
  await symlink(data, wanted);
  return data;
}

async function makePublicDirectory(): Promise<void> {
  await mkdir(publicDirectory, { recursive: true });
  await chmod(publicDirectory, 0o755);
}
