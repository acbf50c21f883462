// Runs the commands that it is sent, each when the one before has ended, because loading them takes most of the time of each.
import { inspect } from "node:util";
import { erp } from "../../src/commands/erp.ts";
import { run } from "../../src/commands/program.ts";
import type { CommandLine, CommandResult } from "./process.ts";

async function resultOf({ args, settings = {} }: CommandLine): Promise<CommandResult> {
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
  return result;
}

process.on("message", (line: CommandLine) => void resultOf(line).then((result) => process.send!(result)));
