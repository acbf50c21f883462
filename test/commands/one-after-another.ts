// Runs a command with several lists of arguments in one process, because loading it takes most of the time of each.
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import type { CommandLine, CommandResult } from "./process.ts";

const [path, json] = process.argv.slice(2) as [string, string];
const results: CommandResult[] = [];
for (const [index, { args, settings = {} }] of (JSON.parse(json) as CommandLine[]).entries()) {
  const result: CommandResult = { exitCode: 0, stdout: "", stderr: "" };
  const before = { ...process.env };
  const [out, error] = [process.stdout.write, process.stderr.write];
  process.argv.splice(1, Infinity, path, ...args);
  Object.assign(process.env, settings);
  process.stdout.write = (text) => (result.stdout += String(text)) !== "";
  process.stderr.write = (text) => (result.stderr += String(text)) !== "";
  try {
    await import(`${pathToFileURL(path).href}?${index}`);
    result.exitCode = process.exitCode ?? 0;
  } catch (thrown) {
    result.exitCode = 1;
    result.stderr += inspect(thrown);
  }
  Object.assign(process.stdout, { write: out });
  Object.assign(process.stderr, { write: error });
  process.exitCode = undefined;
  process.env = before;
  results.push(result);
}
process.stdout.write(JSON.stringify(results));
