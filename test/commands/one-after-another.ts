// Runs several commands in one process, because loading them takes most of the time of each.
import { inspect } from "node:util";
import { erp } from "../../src/commands/erp.ts";
import { run } from "../../src/commands/program.ts";
import type { CommandLine, CommandResult } from "./process.ts";

const results: CommandResult[] = [];
for (const { args, settings = {} } of JSON.parse(process.argv[2]!) as CommandLine[]) {
  const result: CommandResult = { exitCode: 0, stdout: "", stderr: "" };
  const before = { ...process.env };
  const [out, error] = [process.stdout.write, process.stderr.write];
  Object.assign(process.env, settings);
  process.stdout.write = (text) => (result.stdout += String(text)) !== "";
  process.stderr.write = (text) => (result.stderr += String(text)) !== "";
  try {
    await run(erp(), args);
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
