import { stat } from "node:fs/promises";
import { pino } from "pino";
import type { Identity } from "../cluster/postgres-user.ts";
import { UserError } from "../errors/user-error.ts";
import { serveMerchants } from "../merchants/serve-merchants.ts";
import { switchUser, chooseUser } from "../process/leave-root.ts";
import type { Settings } from "../process/settings.ts";
import { startServing } from "./start-serving.ts";
import type { StartedService } from "./start-serving.ts";
import { say } from "./terminal.ts";

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
): Promise<StartedService> {
  if (settings.readDatabaseUrls !== undefined)
    throw new UserError("READ_DATABASE_URLS is for one database. Leave it out with MERCHANTS.");
  const logger = pino({ level: settings.logLevel });
  const { identity, warning } = await chooseUser(settings.runAs, null);
  if (warning !== null) say(`Warning: ${warning}`);
  const merchants = settings.merchants!;
  if (identity !== null) await requireReadable(merchants, identity);
  const closing = new AsyncDisposableStack();
  try {
    const running = await startServing({
      options: { settings: { ...settings, merchants } },
      logger,
      processCount,
      identity,
      here: (options) => serveMerchants({ ...options, logger }),
      program: new URL("../merchants/merchants-worker-process.ts", import.meta.url),
      closing,
    });
    // All ports are open
    if (identity !== null) switchUser(identity);
    stopping.throwIfAborted();
    say(
      `\nThe merchants of ${merchants} are served at ${settings.host}:${running.port}, each by its host name.`,
    );
    return running;
  } catch (error) {
    await closing.disposeAsync();
    throw error;
  }
}
