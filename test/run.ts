/**
 * Runs test files; the arguments are their names or patterns. With `--check` the check comes first, while the data of the
 * tests' Postgres are made, which alone would keep one core busy. Many files share a process (test/together.ts). The few that fail
 * run a second time, alone: what then passes relied on the order or speed of other processes. It is named at the end,
 * because somebody has to look at it, but it doesn't hold up a change that has nothing to do with it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { prepare } from "./lib/prepared.ts";
import { divide, remove, toRepeat, write } from "./together.ts";

/** More failures than this are no accident. */
const mostRepeated = 5;

const folder = await mkdtemp(join(tmpdir(), "results-"));
try {
  const { values, positionals } = parseArgs({
    options: { check: { type: "boolean" } },
    allowPositionals: true,
  });
  const code = values.check ? await check() : 0;
  process.exitCode = code || (await main(positionals));
} finally {
  await rm(folder, { recursive: true });
  await remove();
}

async function check(): Promise<number> {
  const [code] = await Promise.all([npm(["run", "--silent", "check"]), prepare()]);
  return code;
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
  const code = await npm(["run", "--silent", "test:only", "--", ...parameters], { TEST_RESULTS: path });
  const lines = (await readFile(path, "utf8").catch(() => "")).split("\n");
  const files = (result: "failed" | "passed") =>
    new Set(lines.filter((line) => line.startsWith(result)).map((line) => line.slice(result.length + 1)));
  return { code, files };
}

async function npm(parameters: string[], environment: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = spawn("npm", parameters, { env: { ...process.env, ...environment }, stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  return code ?? 1;
}

function list(files: string[]): string {
  return files.map((file) => `  ${file}\n`).join("");
}
