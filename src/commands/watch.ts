import { withClient } from "../database/client.ts";
import { CurrentWatch } from "../database/migrations/watch-current.ts";
import { requireOwner } from "../database/roles.ts";
import { readSettings } from "../process/settings.ts";
import { startFromSettings } from "./start.ts";
import { paint, say } from "./terminal.ts";
import type { Running } from "./terminal.ts";
import { Follower } from "./watch/follower.ts";
import { Study } from "./watch/study.ts";

/** The service, whose API follows the migration in db/current while you write it. */
export async function watch(stopping: AbortSignal): Promise<Running> {
  const settings = readSettings();
  if (settings.databaseUrl !== undefined) await withClient(settings.databaseUrl, requireOwner);
  const service = await startFromSettings(settings, stopping);
  const adminUrl = service.database.adminUrl ?? service.database.url;
  const study = new Study(adminUrl);
  const follower = new Follower(service.app!, study);
  const watching = new CurrentWatch(adminUrl, {
    locks: settings.migrationLocks,
    rehearsal: follower,
    onRun: (run) => void follower.follow(run),
    onFailure({ message }) {
      say(`\n${paint("red", message)}`);
      study.resume();
    },
    onWait: say,
  });
  return {
    failed: service.failed,
    async stop() {
      await watching.stop();
      await study.close();
      await service.stop();
    },
  };
}
