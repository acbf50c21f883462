import { hash } from "node:crypto";
import { readFile, statfs } from "node:fs/promises";
import { join, resolve } from "node:path";

const gib = 2 ** 30;
const sharedMemory = "/dev/shm";
/** Programs may be run from it. */
const mounted = new RegExp(`^\\S+ ${sharedMemory} tmpfs (?!\\S*noexec)`, "m");

/**
 * A folder in memory for what the tests of this project leave behind; null where there is no room for it. Each database
 * is a thousand files, and making them on a disk takes the system a third of a second.
 */
export async function memoryFolder(): Promise<string | null> {
  if (!mounted.test(await readFile("/proc/mounts", "utf8").catch(() => ""))) return null;
  const { bavail, bsize } = await statfs(sharedMemory);
  // A run takes a quarter of this
  if (bavail * bsize < 4 * gib || process.availableMemory() < 8 * gib) return null;
  return join(sharedMemory, `tests-${hash("sha256", resolve()).slice(0, 12)}`);
}
