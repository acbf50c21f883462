import { readdir, readFile, readlink, realpath } from "node:fs/promises";

/** Returns the ids of the serving processes of `npx erp start --workers N`. */
export async function servingProcesses(parent: number): Promise<number[]> {
  const found: number[] = [];
  for (const name of await childrenOf(parent)) {
    const file = async (part: string) => readFile(`/proc/${name}/${part}`, "utf8").catch(() => "");
    if (!/^\d+$/.test(name) || !(await file("cmdline")).includes("worker-process.ts")) continue;
    if (new RegExp(`^PPid:\\s+${parent}$`, "m").test(await file("status"))) found.push(Number(name));
  }
  return found;
}

/** Returns the ids of a process's children, or of all processes if the kernel doesn't list children. */
function childrenOf(parent: number): Promise<string[]> {
  return readFile(`/proc/${parent}/task/${parent}/children`, "utf8").then(
    (list) => list.trim().split(" "),
    () => readdir("/proc"),
  );
}

/** Returns the ids of the processes with this working directory, such as all processes of a Postgres. */
export async function processesIn(folder: string): Promise<number[]> {
  const path = await realpath(folder);
  const found: number[] = [];
  for (const name of await readdir("/proc"))
    if ((await readlink(`/proc/${name}/cwd`).catch(() => "")) === path) found.push(Number(name));
  return found;
}
