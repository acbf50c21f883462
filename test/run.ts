/**
 * Runs test files; the arguments are their names or patterns. The few that fail run a second time, alone: what then
 * passes relied on the order or speed of other processes. It is named at the end, because somebody has to look at it, but
 * it doesn't hold up a change that has nothing to do with it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** More failures than this are no accident. */
const mostRepeated = 5;

const folder = await mkdtemp(join(tmpdir(), "failed-"));
try {
  process.exitCode = await main(process.argv.slice(2));
} finally {
  await rm(folder, { recursive: true });
}

async function main(patterns: string[]): Promise<number> {
  const first = await run(patterns);
  if (first.code === 0 || first.failed.length === 0 || first.failed.length > mostRepeated) return first.code;
  console.log(`\nOnce more, alone:\n${list(first.failed)}`);
  const second = await run(["--test-concurrency=1", ...first.failed]);
  if (second.code === 0)
    console.log(`\nThese failed beside others, and passed alone:\n${list(first.failed)}`);
  return second.code;
}

async function run(parameters: string[]): Promise<{ code: number; failed: string[] }> {
  const path = join(folder, "files");
  const child = spawn("npm", ["run", "--silent", "test:only", "--", ...parameters], {
    env: { ...process.env, TEST_FAILED_FILES: path },
    stdio: "inherit",
  });
  const [code] = (await once(child, "close")) as [number | null];
  const failed = (await readFile(path, "utf8").catch(() => "")).split("\n").filter(Boolean);
  return { code: code ?? 1, failed };
}

function list(files: string[]): string {
  return files.map((file) => `  ${file}\n`).join("");
}
