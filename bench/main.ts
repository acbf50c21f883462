import "../src/process/graphile-env.ts";
import { atTheTerminal, say } from "../src/commands/terminal.ts";
import { Cleanup } from "./cleanup.ts";
import type { BenchOptions } from "./options.ts";
import { readOptions, usage } from "./options.ts";

/** Runs the requested measurement. Stops everything that it started, also if it is interrupted. */
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

/** Runs a mode. @returns whether all responses were correct, or no attack affected other clients */
async function run(options: BenchOptions, cleanup: Cleanup): Promise<boolean> {
  if (options.mode === "growth" && options.movements)
    return (await import("./growth-ledger.ts")).growthOfLedger(options, cleanup);
  if (options.mode === "growth") return (await import("./growth.ts")).growth(options, cleanup);
  if (options.mode === "memory") return (await import("./memory.ts")).memory(options, cleanup);
  if (options.mode === "fairness") return (await import("./fairness.ts")).fairness(options, cleanup);
  if (options.mode === "bulk") return (await import("./bulk.ts")).bulk(options, cleanup);
  if (options.mode === "replicas") return (await import("./replicas.ts")).replicas(options, cleanup);
  if (options.mode === "merchants") return (await import("./merchants.ts")).merchants(options, cleanup);
  if (options.mode === "watch") return (await import("./watch.ts")).watch(options, cleanup);
  return (await import("./side-by-side.ts")).sideBySide(options, cleanup);
}

await atTheTerminal(main, usage);
