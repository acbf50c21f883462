import { mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { exists } from "./postgres-user.ts";

/** Files beside the data. They remain if the data are removed, or their disk isn't mounted. */
const companionFiles = ["password", "port"];

/**
 * Whether a folder has no cluster and never had one.
 *
 * @throws {UserError} when it once had one, or has an incomplete one: a new cluster there would be mistaken for it
 */
export async function isNewFolder(directory: string): Promise<boolean> {
  const home = resolve(directory);
  const data = join(home, "postgres");
  const names = await namesIn(data);
  if (names?.includes("PG_VERSION")) return false;
  if (names !== null && names.length > 0)
    throw new UserError(
      `${data} is incomplete: it has no PG_VERSION. Move it away, and restore a backup: docs/guides/backups.md.`,
    );
  const left = (await namesIn(home))?.filter((name) => companionFiles.includes(name)) ?? [];
  if (left.length === 0) return true;
  throw new UserError(
    `${home} once had data: ${left.join(" and ")} ${left.length === 1 ? "is" : "are"} left, but ${data} is missing. If it is on another disk, mount that disk. ` +
      `Otherwise restore a backup (\`npx erp restore\`), or move ${home} away to begin with a new shop.`,
  );
}

/** @throws {UserError} when a folder has no cluster */
export async function requireData(directory: string): Promise<void> {
  if (await isNewFolder(directory))
    throw new UserError(
      `There are no data in ${resolve(directory)}. Is its disk mounted, and DATA_DIRECTORY right?`,
    );
}

/** Returns the names in a folder; null when it doesn't exist. */
async function namesIn(folder: string): Promise<string[] | null> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw explainFileError(error);
  }
}

/**
 * Creates a folder and its parent folders. Node's own `recursive` never ends in a folder that accepts no new ones, such as
 * `/proc`.
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
    if (code !== "ENOENT" || above === path || (await exists(above))) throw explainFileError(error);
    await makeFolder(above, mode);
    return make().catch((again: unknown) => {
      throw explainFileError(again);
    });
  }
}

/** Explains an error of the file system to the operator; returns other errors unchanged. */
export function explainFileError(error: unknown): unknown {
  const { code, path = "A file", syscall } = error as NodeJS.ErrnoException;
  const words: Record<string, string> = {
    ENOSPC: `The disk is full: ${path} can't be written.`,
    EDQUOT: `This user's disk quota is used up: ${path} can't be written.`,
    EROFS: `${path} is on a read-only disk.`,
    EACCES: `${path} can't be read or written. Run this as root, or as the user who runs Postgres.`,
    EPERM: `${path} can't be changed. Run this as root, or as the user who runs Postgres.`,
    ENOTDIR: `${path} can't be used: it, or a part of its path, is a file and not a folder.`,
    EEXIST: `${path} is a file and not a folder.`,
    ...(syscall === "mkdir" && { ENOENT: `${path} can't be created.` }),
  };
  return code !== undefined && words[code] ? new UserError(words[code], { cause: error }) : error;
}
