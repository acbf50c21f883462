import "../process/graphile-env.ts";
import { readSettings } from "../process/settings.ts";
import { atTheCommandLine } from "./command-line.ts";
import { untilStopped, UsageError } from "./terminal.ts";

const usage = `Runs the service.

Usage: npm start [-- --workers N]

  --workers   how many processes answer requests, behind one port; 1 if not given
`;

const options = { workers: { type: "string", default: "1" } } as const;

await atTheCommandLine({ usage, options }, async ({ workers }) => {
  const processCount = processCountOf(workers);
  const settings = readSettings();
  await untilStopped(async (stopping) => {
    // Loaded when arguments and settings are right: all of the service
    const start =
      settings.merchants === undefined
        ? (await import("./start-service.ts")).startFromSettings
        : (await import("./start-merchants.ts")).startMerchants;
    const { failed, replaceProcesses, stop } = await start(settings, stopping, processCount);
    return {
      failed,
      // Without a load balancer in front, a person at the terminal need not wait
      stop: (signal) => stop(signal === "SIGTERM" ? settings.stopDelayMs : 0),
      reload: replaceProcesses && (() => void replaceProcesses()),
    };
  });
});

function processCountOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 64) return count;
  throw new UsageError("--workers is a number from 1 to 64.");
}
