import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Identity } from "../cluster/postgres-user.ts";
import { serveMetrics } from "../process/serve-metrics.ts";
import type { Serving } from "../process/listen.ts";
import type { Settings } from "../process/settings.ts";

/** A service that has been started. */
export interface StartedService {
  port: number;
  /** Rejected, with a UserError, when the service can't continue. */
  failed?: Promise<never> | undefined;
  /** Replaces the serving processes by new ones; undefined when this process serves. */
  replaceProcesses?: (() => Promise<void>) | undefined;
  /**
   * Answers running requests, then stops everything.
   *
   * @param delayMs milliseconds for which it continues first, while its readiness reports the stop
   */
  stop(delayMs?: number): Promise<void>;
}

export interface StartServingOptions<Here extends Serving, Options extends { settings: Settings }> {
  /** The options of the programs, see `runWorker`. */
  options: Options;
  logger: Logger;
  /** Number of processes that answer requests; with 1 it is this one. */
  processCount: number;
  /** The user of other processes. */
  identity: Identity | null;
  /** Serves in this process. */
  here: (options: Options) => Promise<Here>;
  /** The program of other processes. */
  program: URL;
  /** Gets what ends the serving, and closes the rest after it. */
  closing: AsyncDisposableStack;
}

/** Serves by this process or several, and metrics of all. */
export async function startServing<Here extends Serving, Options extends { settings: Settings }>({
  options,
  logger,
  processCount,
  identity,
  here,
  program,
  closing,
}: StartServingOptions<Here, Options>): Promise<StartedService & { here: Here | null }> {
  const several = async () => {
    const { startWorkerProcesses } = await import("../process/worker-processes.ts");
    // Several processes together must not allow more than the limits
    const shared = { ...options, settings: { ...options.settings, sharedRates: true } };
    return startWorkerProcesses({ count: processCount, program, options: shared, logger, identity });
  };
  const others = processCount === 1 ? null : await several();
  const own = others ? null : await here(options);
  const serving = (others ?? own)!;
  closing.defer(() => serving.stop());
  const { host, metricsPort } = options.settings;
  if (metricsPort !== undefined) {
    const metrics = await serveMetrics(serving.figures, { host, port: metricsPort });
    closing.defer(() => metrics.stop());
  }
  return {
    port: serving.port,
    here: own,
    replaceProcesses: others?.replace,
    async stop(delayMs = 0) {
      serving.announceStop();
      await sleep(delayMs);
      await closing.disposeAsync();
    },
  };
}
