import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Files that some processes run one after the other. It comes last in the alphabet: shorter work at the end of a run. */
const folder = "test/~together";

/** Marks a file that has a process of its own: an import of what starts others, or a comment that says so. */
const alone =
  /from "(?:node:child_process|\S+\/(?:process|project|prepared|chromium|standby)\.ts)"|^\/\/ Has a process of its own/m;

/** As many that their process ends long before its time limit, also on a busy machine. */
const most = 16;

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
  const [single, shared] = [true, false].map((isAlone) =>
    files.filter((file) => alone.test(textOf(file)) === isAlone),
  ) as [string[], string[]];
  if (shared.length < 2) return { single: [...single, ...shared], together: new Map() };
  const count = Math.ceil(shared.length / most);
  // Neighbours go to different processes: so each has some of what takes long
  const together = Array.from({ length: count }, (_, process): [string, string[]] => [
    join(folder, `${String(process + 1).padStart(2, "0")}.mjs`),
    shared.filter((_, index) => index % count === process),
  ]);
  return { single, together: new Map(together) };
}

/**
 * The files to run again: those that failed or weren't reached, and all of a process that failed though each of its
 * files passed.
 *
 * @param failed with those that run others
 * @returns with them, how many failures that are: when a process dies, it is one
 */
export function toRepeat(
  failed: ReadonlySet<string>,
  passed: ReadonlySet<string>,
  { single, together }: Divided,
): { count: number; files: string[] } {
  const files = single.filter((file) => failed.has(file));
  let count = files.length;
  for (const [path, shared] of together) {
    const unfinished = shared.filter((file) => !passed.has(file));
    if (unfinished.length === 0 && !failed.has(path)) continue;
    count += Math.max(1, unfinished.filter((file) => failed.has(file)).length);
    files.push(...(unfinished.length > 0 ? unfinished : shared));
  }
  return { count, files };
}

const program = (files: string[][]): string => `import { describe } from "node:test";
import { endCollecting } from "../lib/collecting.ts";

const loaded = [];
for (const [name, path] of ${JSON.stringify(files)})
  describe(name, () => loaded[loaded.push(import(path)) - 1]);
void Promise.allSettled(loaded).then(endCollecting);
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
