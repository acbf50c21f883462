import "../src/process/graphile-env.ts";
import { atTheTerminal, say } from "../src/commands/terminal.ts";
import { bulk } from "./bulk.ts";
import { Cleanup } from "./cleanup.ts";
import { fairness } from "./fairness.ts";
import { growth } from "./growth.ts";
import { merchants } from "./merchants.ts";
import { memory } from "./memory.ts";
import type { BenchOptions } from "./options.ts";
import { readOptions, usage } from "./options.ts";
import { replicas } from "./replicas.ts";
import { sideBySide } from "./side-by-side.ts";
import { watch } from "./watch.ts";

/** Runs the requested measurement, and ends everything that was started for it, also when it is interrupted. */
async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options.mode === "help") return void process.stdout.write(usage);
  const cleanup = new Cleanup();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      say("\nStopping");
      void cleanup.close().then(() => process.exit(130));
    });
  }
  try {
    const isRight = await run(options, cleanup);
    if (!isRight) process.exitCode = 1;
  } finally {
    await cleanup.close();
  }
}

/** @returns whether all answers were right, or no attack was noticed */
async function run(options: BenchOptions, cleanup: Cleanup): Promise<boolean> {
  if (options.mode === "growth") return growth(options, cleanup);
  if (options.mode === "memory") return memory(options, cleanup);
  if (options.mode === "fairness") return fairness(options, cleanup);
  if (options.mode === "bulk") return bulk(options, cleanup);
  if (options.mode === "replicas") return replicas(options, cleanup);
  if (options.mode === "merchants") return merchants(options, cleanup);
  if (options.mode === "watch") return watch(options, cleanup);
  return sideBySide(options, cleanup);
}

await atTheTerminal(main, usage);
