import { readdir, readFile } from "node:fs/promises";

/** Ticks of the clock in a second, by which Linux counts processor time. It is the same on all machines of today. */
const ticks = 100;

/**
 * Processor time, in microseconds, that Postgres has used so far: its server processes that are there now. Null where
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
    // After the name of the program, which may hold anything: state, parent, …, 11 and 12 further on its times
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (Number(fields[1]) === postmaster) sum += Number(fields[11]) + Number(fields[12]);
  }
  return (sum / ticks) * 1_000_000;
}
