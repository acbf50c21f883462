import { readdir, readFile } from "node:fs/promises";

/** Ticks of the clock in a second, by which Linux counts processor time. It is the same on all machines of today. */
const ticks = 100;

/**
 * Processor time, in microseconds, that Postgres has used so far: all of its server processes, also those that have ended. Null where
 * that can't be found out, which is everywhere but on Linux.
 *
 * @param postmaster the process id of Postgres' first process
 */
export async function postgresCpu(postmaster: number): Promise<number | null> {
  if (process.platform !== "linux") return null;
  const names = await readdir("/proc");
  const stats = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readFile(`/proc/${name}/stat`, "utf8").catch(() => "")),
  );
  let sum = 0;
  for (const stat of stats) {
    // After the name of the program, which may hold anything: state, parent, …, 11 and 12 further on its times, and
    // behind them those of its children that have ended
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    if (fields[1] === postmaster) sum += fields[11]! + fields[12]!;
    if (stat.startsWith(`${postmaster} `)) sum += fields[13]! + fields[14]!;
  }
  return (sum / ticks) * 1_000_000;
}
