import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/**
 * Whether a Postgres is running in a data folder.
 *
 * pg_ctl isn't enough: it only checks whether a process has the id in postmaster.pid. After a crash that may be another
 * program, or a zombie. This function removes such a file, which would confuse Postgres too.
 */
export async function isServerRunning(data: string): Promise<boolean> {
  const file = join(data, "postmaster.pid");
  const pid = Number.parseInt(await readFile(file, "utf8").catch(() => ""));
  if (!(pid > 0) || !isAlive(pid)) return false; // Postgres can handle such a file
  const command = await commandOf(pid);
  if (command.includes("postgres") && command.includes(data)) return true;
  await rm(file, { force: true });
  return false;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function commandOf(pid: number): Promise<string> {
  if (process.platform === "linux") return readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  const { stdout } = await promisify(execFile)("ps", ["-ww", "-o", "command=", "-p", String(pid)]).catch(
    () => ({ stdout: "" }),
  );
  return stdout;
}
