import { readdir, readFile } from "node:fs/promises";

/** Ticks per second in which Linux counts processor time: the same on all present machines. */
const ticks = 100;

/**
 * Processor time of all Postgres processes so far, ended ones included, in microseconds. Null if unknown, which is
 * everywhere except on Linux.
 *
 * @param postmaster the process id of Postgres' first process
 */
export async function postgresCpu(postmaster: number): Promise<number | null> {
  if (process.platform !== "linux") return null;
  const names = await readdir("/proc");
  const stats = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map((name) => Promise.all([read(name, "stat"), read(name, "schedstat")])),
  );
  let sum = 0;
  for (const [stat, schedule] of stats) {
    // After the name of the program, which may contain anything: state, parent, …, and from the 11th on its times and
    // those of its ended children
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    // A tick is long beside what one of many connections takes: nanoseconds, where Linux counts these, too
    const exactly = Number(schedule.split(" ")[0]) / 1e9;
    if (fields[1] === postmaster) sum += exactly > 0 ? exactly * ticks : fields[11]! + fields[12]!;
    if (stat.startsWith(`${postmaster} `)) sum += fields[13]! + fields[14]!;
  }
  return (sum / ticks) * 1_000_000;
}

const read = (name: string, file: string): Promise<string> =>
  readFile(`/proc/${name}/${file}`, "utf8").catch(() => "");
