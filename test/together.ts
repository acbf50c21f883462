import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Files that some processes run one after the other. It comes last in the alphabet: shorter work at the end of a run. */
const folder = "test/~together";

/** Marks a file that shares no process, and says why. */
const alone = /^\/\/ Has a process of its own: /m;

/** Marks a file that starts processes, by its imports. */
const startsSome = /from "(?:node:child_process|\S+\/(?:process|project|prepared|chromium|standby)\.ts)"/m;

/**
 * How many files share a process, about: it ends long before its time limit, also on a busy machine. Those that start
 * processes wait for them, so others run beside them, which keep the processors busy; these come last, as they take less long.
 */
const kinds = [
  { name: "processes", startSome: true, usual: 8 },
  { name: "quick", startSome: false, usual: 30 },
];

export interface Divided {
  /** Files with a process each. */
  single: string[];
  /** The others, by the file that runs them. */
  together: Map<string, string[]>;
}

/**
 * Divides test files into those that have a process each, and those that share one, which loads modules and compiles them
 * once for several.
 *
 * @param textOf returns the text of a file
 */
export function divide(files: readonly string[], textOf: (file: string) => string): Divided {
  const texts = new Map(files.map((file) => [file, textOf(file)]));
  const single = files.filter((file) => alone.test(texts.get(file)!));
  const made: { at: number; name: string; files: string[] }[] = [];
  for (const { name, startSome, usual } of kinds) {
    const shared = files.filter((file) => {
      const text = texts.get(file)!;
      return !alone.test(text) && startsSome.test(text) === startSome;
    });
    const processes = share(shared, Math.ceil(shared.length / usual), (file) => texts.get(file)!.length);
    for (const [index, some] of processes.entries()) {
      if (some.length === 1) single.push(some[0]!);
      else made.push({ at: (index + (startSome ? 0 : 1)) / processes.length, name, files: some });
    }
  }
  const together = made
    .sort((one, other) => one.at - other.at)
    .map(({ name, files }, index): [string, string[]] => {
      const place = String(index + 1).padStart(2, "0");
      return [join(folder, `${place}-${name}.mjs`), files];
    });
  return { single, together: new Map(together) };
}

/** Shares files out so that all processes take about as long: a long file takes longer than a short one, mostly. */
function share(files: readonly string[], count: number, lengthOf: (file: string) => number): string[][] {
  const processes = Array.from({ length: count }, () => ({ length: 0, files: [] as string[] }));
  for (const file of files.toSorted((one, other) => lengthOf(other) - lengthOf(one))) {
    const least = processes.reduce((one, other) => (other.length < one.length ? other : one));
    least.files.push(file);
    // That of loading an empty one
    least.length += lengthOf(file) + 1;
  }
  return processes.map(({ files }) => files.sort());
}

const program = (files: string[][]): string => `import { AsyncResource } from "node:async_hooks";
import { describe } from "node:test";
import { endCollecting } from "../lib/collecting.ts";

let loaded = Promise.resolve();
for (const [name, path] of ${JSON.stringify(files)})
  describe(name, () => {
    // One after the other: of two that wait for the same module, the first would get the tests of both
    const load = AsyncResource.bind(() => import(path));
    return (loaded = loaded.catch(() => {}).then(load));
  });
void loaded.catch(() => {}).then(endCollecting);
`;

/** Writes the files that run others. Each is a suite, so that its hooks are for its tests alone. */
export async function write({ together }: Divided): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [path, files] of together) {
    const entries = files.map((file) => [file, file.replace(/^test/, "..")]);
    await writeFile(path, program(entries));
  }
}

export const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
