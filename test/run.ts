/**
 * Runs test files; the arguments are their names or patterns. With `--check` the check comes first, while the data of the
 * tests' Postgres are made, which alone would keep one core busy. Many files share a process (test/together.ts).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { prepare } from "./lib/prepared.ts";
import { divide, remove, write } from "./together.ts";

try {
  const { values, positionals } = parseArgs({
    options: { check: { type: "boolean" } },
    allowPositionals: true,
  });
  const code = values.check ? await check() : 0;
  process.exitCode = code || (await main(positionals));
} finally {
  await remove();
}

async function check(): Promise<number> {
  const [code] = await Promise.all([npm("check"), prepare()]);
  return code;
}

async function main(patterns: string[]): Promise<number> {
  const found = globSync(patterns).sort();
  if (found.length === 0) throw new Error(`There is no file ${patterns.join(" ")}.`);
  const divided = divide(found, (file) => readFileSync(file, "utf8"));
  await write(divided);
  return npm("test:only", "--", ...divided.single, ...divided.together.keys());
}

async function npm(script: string, ...parameters: string[]): Promise<number> {
  const child = spawn("npm", ["run", "--silent", script, ...parameters], { stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  return code ?? 1;
}
