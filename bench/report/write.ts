import { mkdir, readFile, writeFile } from "node:fs/promises";
import { format } from "oxfmt";

const folder = new URL("../results/", import.meta.url);

/** Writes files of results, formatted like the project's files, and prints their paths. */
export async function writeResults(files: Record<string, string>): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const names = Object.keys(files);
  for (const name of names) {
    const text = files[name]!;
    const isFormatted = /\.(md|json)$/.test(name);
    const { code } = isFormatted ? await format(name, text, { printWidth: 110 }) : { code: text };
    await writeFile(new URL(name, folder), code);
  }
  return names.map((name) => `bench/results/${name}`);
}

/** Reads a file of results; null if there is none. */
export const readResult = (name: string): Promise<string | null> =>
  readFile(new URL(name, folder), "utf8").catch(() => null);
