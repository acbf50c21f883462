import { access, chown, constants, stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { UserError } from "../errors/user-error.ts";
import { retry } from "../lib/retry.ts";

/** Milliseconds that a command waits for others, which hold the lock only briefly, and between two attempts. */
const [defaultWaitMs, everyMs] = [10_000, 20];
/** SQLite's error code SQLITE_BUSY. */
const busyCode = 5;

/**
 * Runs work on the merchants' files while no other command does. It locks an empty SQLite database beside the files: the
 * operating system releases that lock when the process ends, also in a network folder.
 *
 * @param onWait called when another command has the lock
 * @throws {UserError} when another command doesn't end, or this user can't lock the file
 */
export async function withDirectoryLock<T>(
  folder: string,
  work: () => Promise<T>,
  { waitMs = defaultWaitMs, onWait = () => {} }: { waitMs?: number; onWait?: () => void } = {},
): Promise<T> {
  const file = join(folder, ".lock");
  const lock = await openLock(folder, file);
  try {
    await acquireLock(lock, file, performance.now() + waitMs, onWait);
    return await work();
  } finally {
    lock.close();
  }
}

async function openLock(folder: string, file: string): Promise<DatabaseSync> {
  try {
    const lock = new DatabaseSync(file, { timeout: 0 });
    // The user who serves may run commands, too
    const { uid, gid } = await stat(folder);
    if (process.getuid?.() === 0) await chown(file, uid, gid);
    // SQLite would open a read-only file, and lock nothing
    await access(file, constants.W_OK);
    return lock;
  } catch (cause) {
    throw explainLockError(file, cause);
  }
}

const explainLockError = (file: string, cause: unknown): UserError =>
  new UserError(
    `${file} can't be locked: ${(cause as Error).message}. This user must be able to read and write the file.`,
    { cause },
  );

const acquireLock = (lock: DatabaseSync, file: string, deadline: number, onWait: () => void): Promise<void> =>
  retry(async () => lock.exec("begin exclusive"), {
    pauseMs(error, failures) {
      if ((error as { errcode?: number }).errcode !== busyCode) throw explainLockError(file, error);
      if (failures === 1) onWait();
      if (performance.now() < deadline) return everyMs;
      throw new UserError(`Another command is changing the merchants and doesn't end: ${file} is locked.`);
    },
  });
