import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Files that some processes run one after the other. It comes last in the alphabet: shorter work at the end of a run. */
const folder = "test/~together";

/** Marks a file that has a process of its own: an import of what starts others, or a comment that says so. */
const alone =
  /from "(?:node:child_process|\S+\/(?:process|project|prepared|chromium|standby)\.ts)"|^\/\/ Has a process of its own/m;

/** As many that their process ends long before its time limit, also on a busy machine. */
const most = 8;

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
  const isAlone = (file: string) => alone.test(textOf(file));
  const single = files.filter(isAlone);
  const together = new Map<string, string[]>();
  const byFolder = Object.groupBy(
    files.filter((file) => !isAlone(file)),
    dirname,
  );
  for (const [path, inFolder] of Object.entries(byFolder)) {
    if (inFolder!.length === 1) single.push(...inFolder!);
    const count = Math.ceil(inFolder!.length / most);
    for (let n = 0; n < count && inFolder!.length > 1; n++) {
      const name = `${path.split("/").slice(1).join("-")}-${n + 1}.mjs`;
      together.set(
        join(folder, name),
        inFolder!.filter((_, index) => index % count === n),
      );
    }
  }
  return { single, together };
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

/** Writes the files that run others. Each is a suite, so that its hooks are for its tests alone. */
export async function write({ together }: Divided): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [path, files] of together) {
    const suites = files.map(
      (file) =>
        `describe(${JSON.stringify(file)}, () => import(${JSON.stringify(file.replace(/^test/, ".."))}));\n`,
    );
    await writeFile(path, `import { describe } from "node:test";\n\n${suites.join("")}`);
  }
}

export const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
