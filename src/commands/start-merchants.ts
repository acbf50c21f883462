import { setTimeout as sleep } from "node:timers/promises";
import { stat } from "node:fs/promises";
import { pino } from "pino";
import type { Identity } from "../cluster/postgres-user.ts";
import { UserError } from "../errors/user-error.ts";
import { Closing } from "../lib/closing.ts";
import { become, successorOfRoot } from "../process/leave-root.ts";
import { serveMerchants } from "../process/merchants/serve-merchants.ts";
import { serveMetrics } from "../process/serve-metrics.ts";
import type { Settings } from "../process/settings.ts";
import { startWorkerProcesses } from "../process/worker-processes.ts";
import { say } from "./terminal.ts";

/** The running service. */
export interface RunningMerchants {
  failed: undefined;
  port: number;
  /** Replaces the serving processes by new ones; undefined when this process serves. */
  replaceProcesses: (() => Promise<void>) | undefined;
  /** Answers running requests, then stops. @param delayMs milliseconds for which it continues first */
  stop(delayMs?: number): Promise<void>;
}

/** @throws {UserError} when the directory isn't that of the user who will serve */
async function requireReadable(folder: string, { uid, gid }: Identity): Promise<void> {
  const owner = await stat(folder).catch(() => null);
  // Without a folder, the start says so
  if (owner === null || owner.uid === uid) return;
  throw new UserError(
    `The service will run as the user ${uid}, who can't read the merchants: chown -R ${uid}:${gid} ${folder}. Or set RUN_AS.`,
  );
}

/**
 * Starts the service for the merchants of a directory.
 *
 * @param stopping when aborted, the start ends at its next step
 * @param processCount number of processes that answer requests; with 1 it is this one
 * @throws {UserError} when the settings don't suit, the directory can't be read, or the port is taken
 */
export async function startMerchants(
  settings: Settings,
  stopping: AbortSignal,
  processCount = 1,
): Promise<RunningMerchants> {
  if (settings.readDatabaseUrls !== undefined)
    throw new UserError("READ_DATABASE_URLS is for one database. Leave it out with MERCHANTS.");
  const logger = pino({ level: settings.logLevel });
  const { identity, warning } = await successorOfRoot(settings.runAs, null);
  if (warning !== null) say(`Warning: ${warning}`);
  const merchants = settings.merchants!;
  if (identity !== null) await requireReadable(merchants, identity);
  const closing = new Closing();
  try {
    const serving =
      processCount === 1
        ? { ...(await serveMerchants({ settings: { ...settings, merchants }, logger })), replace: undefined }
        : // Several processes together must not allow more than the limits
          await startWorkerProcesses({
            ...{ urls: null, settings: { ...settings, sharedRates: true }, logger },
            ...{ count: processCount, identity },
          });
    closing.add(() => serving.stop());
    if (settings.metricsPort !== undefined) {
      const { host, metricsPort: port } = settings;
      const metrics = await serveMetrics(serving.figures, { host, port });
      closing.add(() => metrics.stop());
    }
    // All ports are open
    if (identity !== null) become(identity);
    stopping.throwIfAborted();
    say(
      `\nThe merchants of ${merchants} are served at ${settings.host}:${serving.port}, each by its host name.`,
    );
    return {
      failed: undefined,
      port: serving.port,
      replaceProcesses: serving.replace,
      async stop(delayMs = 0) {
        serving.announceStop();
        await sleep(delayMs);
        await closing.close();
      },
    };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
