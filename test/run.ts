/**
 * Runs test files; the arguments are their names or patterns. Many share a process (test/together.ts). The few that fail
 * run a second time, alone: what then passes relied on the order or speed of other processes. It is named at the end,
 * because somebody has to look at it, but it doesn't hold up a change that has nothing to do with it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { divide, remove, toRepeat, write } from "./together.ts";

/** More failures than this are no accident. */
const mostRepeated = 5;

const folder = await mkdtemp(join(tmpdir(), "results-"));
try {
  process.exitCode = await main(process.argv.slice(2));
} finally {
  await rm(folder, { recursive: true });
  await remove();
}

async function main(patterns: string[]): Promise<number> {
  const found = globSync(patterns).sort();
  if (found.length === 0) throw new Error(`There is no file ${patterns.join(" ")}.`);
  const divided = divide(found, (file) => readFileSync(file, "utf8"));
  await write(divided);
  const first = await run([...divided.single, ...divided.together.keys()]);
  const { count, files } = toRepeat(first.files("failed"), first.files("passed"), divided);
  if (count === 0) return first.code;
  if (count > mostRepeated) return first.code || 1;
  console.log(`\nOnce more, alone:\n${list(files)}`);
  const second = await run(["--test-concurrency=1", ...files]);
  if (second.code === 0) console.log(`\nThese failed beside others, and passed alone:\n${list(files)}`);
  return second.code;
}

async function run(parameters: string[]) {
  const path = join(folder, "results");
  await rm(path, { force: true });
  const child = spawn("npm", ["run", "--silent", "test:only", "--", ...parameters], {
    env: { ...process.env, TEST_RESULTS: path },
    stdio: "inherit",
  });
  const [code] = (await once(child, "close")) as [number | null];
  const lines = (await readFile(path, "utf8").catch(() => "")).split("\n");
  const files = (result: "failed" | "passed") =>
    new Set(lines.filter((line) => line.startsWith(result)).map((line) => line.slice(result.length + 1)));
  return { code: code ?? 1, files };
}

function list(files: string[]): string {
  return files.map((file) => `  ${file}\n`).join("");
}
