import { hash } from "node:crypto";
import { readFile, statfs } from "node:fs/promises";
import { join, resolve } from "node:path";

const gib = 2 ** 30;
const sharedMemory = "/dev/shm";
/** Matches a mounted folder in memory from which programs may run. */
const mounted = new RegExp(`^\\S+ ${sharedMemory} tmpfs (?!\\S*noexec)`, "m");

/**
 * Returns a folder in memory for the tests' files, or null if there is not enough memory. A database has a thousand
 * files, and creating them on a disk takes a third of a second.
 */
export async function memoryFolder(): Promise<string | null> {
  if (!mounted.test(await readFile("/proc/mounts", "utf8").catch(() => ""))) return null;
  const { bavail, bsize } = await statfs(sharedMemory);
  // A run needs a quarter of this
  if (bavail * bsize < 4 * gib || process.availableMemory() < 8 * gib) return null;
  return join(sharedMemory, `tests-${hash("sha256", resolve()).slice(0, 12)}`);
}
