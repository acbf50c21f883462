import "../process/graphile-env.ts";
import { readSettings } from "../process/settings.ts";
import { atTheCommandLine } from "./command-line.ts";
import { untilStopped, UsageError } from "./terminal.ts";

const usage = `Runs the service.

Usage: npm start [-- --workers N] [--empty | --demo]

  --workers   how many processes answer requests, behind one port; 1 if not given
  --empty     makes a new shop without data in DATA_DIRECTORY, which must not have any
  --demo      makes one with demonstration data; development does so in a new folder anyway
`;

const options = {
  workers: { type: "string", default: "1" },
  empty: { type: "boolean" },
  demo: { type: "boolean" },
} as const;

await atTheCommandLine({ usage, options }, async ({ workers, empty, demo }) => {
  const processCount = processCountOf(workers);
  if (empty && demo) throw new UsageError("--empty or --demo: a new shop is one of them.");
  const content = empty ? "empty" : demo ? "demo" : undefined;
  const settings = { ...readSettings(), content } as const;
  if (content && (settings.databaseUrl ?? settings.merchants) !== undefined)
    throw new UsageError(
      `--${content} is for the service's own Postgres, without DATABASE_URL and MERCHANTS.`,
    );
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
