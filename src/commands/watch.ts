import { check } from "../check/check.ts";
import { printFindings } from "../check/report.ts";
import { withClient } from "../database/client.ts";
import { watchCurrentMigration } from "../database/migrations/migrations.ts";
import { urlAsOwner, requireOwner } from "../database/roles.ts";
import { readSettings } from "../process/settings.ts";
import { startFromSettings } from "./start.ts";
import { say } from "./terminal.ts";
import type { Running } from "./terminal.ts";

/** The service, whose API follows the migration in db/current while you write it. */
export async function watch(stopping: AbortSignal): Promise<Running> {
  const settings = readSettings();
  if (settings.databaseUrl !== undefined) await withClient(settings.databaseUrl, requireOwner);
  const service = await startFromSettings(settings, stopping);
  const adminUrl = service.database.adminUrl ?? service.database.url;
  const follow = oneAtATime(async () => {
    try {
      await service.app!.reload();
      say("The API follows the database.");
    } catch (error) {
      say(`The API stays as it was: ${String(error)}`);
    }
    try {
      const findings = await withClient(urlAsOwner(adminUrl), (client) => check(client));
      if (findings.length > 0) say(`\n${printFindings(findings, { color: process.stderr.isTTY })}`);
    } catch (error) {
      say(`The check could not be run: ${String(error)}`);
    }
  });
  const stopWatching = watchCurrentMigration(adminUrl, {
    locks: settings.migrationLocks,
    onMigrated: follow,
    onProgress: say,
    onWait: say,
  });
  return {
    failed: service.failed,
    async stop() {
      stopWatching();
      await service.stop();
    },
  };
}

/** Calls during a run become one run after it: the present run may have missed their changes. */
function oneAtATime(work: () => Promise<void>): () => void {
  let isRunning = false;
  let isWanted = false;
  const run = async () => {
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      await work();
    }
    isRunning = false;
  };
  return () => {
    isWanted = true;
    if (!isRunning) void run();
  };
}
