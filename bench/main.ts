import "../src/process/graphile-env.ts";
import { atTheTerminal, say } from "../src/commands/terminal.ts";
import { UserError } from "../src/errors/user-error.ts";
import { Closing } from "./closing.ts";
import { fairness } from "./fairness.ts";
import { growth } from "./growth.ts";
import { memory } from "./memory.ts";
import type { Options } from "./options.ts";
import { readOptions, usage } from "./options.ts";
import { sideBySide } from "./side-by-side.ts";
import { watch } from "./watch.ts";

/** Runs the requested measurement, and ends everything that was started for it, also when it is interrupted. */
async function main(): Promise<void> {
  const options = understand();
  if (options === null || options.mode === "help") {
    process.stderr.write(usage);
    process.exitCode = options === null ? 2 : 0;
    return;
  }
  const closing = new Closing();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      say("\nStopping");
      void closing.close().then(() => process.exit(130));
    });
  }
  try {
    const isRight = await run(options, closing);
    if (!isRight) process.exitCode = 1;
  } finally {
    await closing.close();
  }
}

function understand(): Options | null {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    say(error.message);
    return null;
  }
}

/** @returns whether all answers were right, or no attack was noticed */
async function run(options: Options, closing: Closing): Promise<boolean> {
  if (options.mode === "growth") return growth(options, closing);
  if (options.mode === "memory") return memory(options, closing);
  if (options.mode === "fairness") return fairness(options, closing);
  if (options.mode === "watch") return watch(options, closing);
  return sideBySide(options, closing);
}

await atTheTerminal(main);
