import { readSettings } from "../process/settings.ts";
import { untilStopped, UsageError } from "./terminal.ts";

interface StartOptions {
  workers: number;
  empty?: true;
  demo?: true;
}

/** All of the service, loaded when arguments and settings are right. */
const services = {
  ofOne: async () => (await import("./start-service.ts")).startFromSettings,
  ofMany: async () => (await import("./start-merchants.ts")).startMerchants,
};

/** Runs the service until it is stopped. */
export async function start({ workers, empty, demo }: StartOptions): Promise<void> {
  const content = empty ? "empty" : demo ? "demo" : undefined;
  const settings = { ...readSettings(), content } as const;
  if (content && (settings.databaseUrl ?? settings.merchants) !== undefined)
    throw new UsageError(
      `--${content} is for the service's own Postgres, without DATABASE_URL and MERCHANTS.`,
    );
  await untilStopped(async (stopping) => {
    const begin = await (settings.merchants === undefined ? services.ofOne() : services.ofMany());
    const { failed, replaceProcesses, stop } = await begin(settings, stopping, workers);
    return {
      failed,
      // Without a load balancer in front, a person at the terminal need not wait
      stop: (signal) => stop(signal === "SIGTERM" ? settings.stopDelayMs : 0),
      reload: replaceProcesses && (() => void replaceProcesses()),
    };
  });
}

/** Loads all that {@link start} loads, for Node's cache of compiled code. */
export async function compile(): Promise<void> {
  for (const load of Object.values(services)) await load();
}
