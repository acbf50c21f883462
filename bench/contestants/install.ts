import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { UserError } from "../../src/errors/user-error.ts";

/**
 * Installs the dependencies of a peer, unless the versions of its lock file are already there. Scripts of packages don't
 * run: they would compile or download what isn't used here.
 *
 * @throws {UserError} when that fails
 */
export async function install(folder: URL, onProgress: (step: string) => void): Promise<void> {
  const changed = async (file: string) => (await stat(new URL(file, folder)).catch(() => null))?.mtimeMs ?? 0;
  // npm writes this file last
  const installed = await changed("node_modules/.package-lock.json");
  if (installed >= (await changed("package-lock.json"))) return;
  const path = fileURLToPath(folder);
  onProgress(`Installing what ${path} needs`);
  try {
    await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: path });
  } catch (cause) {
    throw new UserError(`npm ci failed in ${path}:\n${(cause as { stderr?: string }).stderr}`, { cause });
  }
}
