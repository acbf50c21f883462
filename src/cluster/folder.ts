import { mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { exists } from "./postgres-user.ts";

/** Files beside the data. They outlast data that were removed, or whose disk isn't mounted. */
const besides = ["password", "port"];

/**
 * Whether a folder has no cluster, and never had one.
 *
 * @throws {UserError} when it once had one, or has one that isn't whole: a new one there would look like the old one
 */
export async function isNewFolder(directory: string): Promise<boolean> {
  const home = resolve(directory);
  const data = join(home, "postgres");
  const names = await namesIn(data);
  if (names?.includes("PG_VERSION")) return false;
  if (names !== null && names.length > 0)
    throw new UserError(
      `${data} isn't whole: it has no PG_VERSION. Move it away, and restore a backup: docs/guides/backups.md.`,
    );
  const left = (await namesIn(home))?.filter((name) => besides.includes(name)) ?? [];
  if (left.length === 0) return true;
  throw new UserError(
    `${home} once had data: ${left.join(" and ")} ${left.length === 1 ? "is" : "are"} left, ${data} is gone. If it is on another disk, mount that. ` +
      `Else restore a backup (\`npx erp restore\`), or move ${home} away to begin with a new shop.`,
  );
}

/** @throws {UserError} when a folder has no cluster */
export async function requireData(directory: string): Promise<void> {
  if (await isNewFolder(directory))
    throw new UserError(
      `There are no data in ${resolve(directory)}. Is its disk mounted, and DATA_DIRECTORY right?`,
    );
}

/** The names in a folder; null when it doesn't exist. */
async function namesIn(folder: string): Promise<string[] | null> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw fileFailure(error);
  }
}

/**
 * Makes a folder, and those that it is in. Node's own `recursive` never ends where a folder exists that takes none, such
 * as `/proc`.
 *
 * @returns whether it is new
 */
export async function makeFolder(path: string, mode?: number): Promise<boolean> {
  const make = async () => {
    await mkdir(path, { mode });
    return true;
  };
  try {
    return await make();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(path).catch(() => null))?.isDirectory()) return false;
    const above = dirname(path);
    if (code !== "ENOENT" || above === path || (await exists(above))) throw fileFailure(error);
    await makeFolder(above, mode);
    return make().catch((again: unknown) => {
      throw fileFailure(again);
    });
  }
}

/** A failure of the file system in words for the operator; another error stays unchanged. */
export function fileFailure(error: unknown): unknown {
  const { code, path = "A file", syscall } = error as NodeJS.ErrnoException;
  const words: Record<string, string> = {
    ENOSPC: `There is no room on the disk: ${path} can't be written.`,
    EDQUOT: `There is no room left for this user: ${path} can't be written.`,
    EROFS: `${path} is on a disk that can't be written.`,
    EACCES: `${path} can't be read or written. Run this as root, or as who runs Postgres.`,
    EPERM: `${path} can't be changed. Run this as root, or as who runs Postgres.`,
    ENOTDIR: `${path} can't be used: it, or a part of its path, is a file and no folder.`,
    EEXIST: `${path} is a file, and no folder.`,
    ...(syscall === "mkdir" && { ENOENT: `${path} can't be made there.` }),
  };
  return code !== undefined && words[code] ? new UserError(words[code], { cause: error }) : error;
}
