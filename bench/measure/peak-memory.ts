import { readFile, writeFile } from "node:fs/promises";

/** Reads the peak memory of a process, in bytes. */
export async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1_024;
}

/** Resets the peak memory of a process. @returns whether the system supports that */
export async function resetPeakMemory(pid: number): Promise<boolean> {
  // 5: reset the peak, see proc(5)
  return writeFile(`/proc/${pid}/clear_refs`, "5").then(
    () => true,
    () => false,
  );
}
