import { withClient } from "../postgres/client.ts";
import { CurrentWatch } from "../migrations/watch-current.ts";
import type { Rehearsal } from "../migrations/migrate-options.ts";
import { requireOwner } from "../postgres/roles.ts";
import { readSettings } from "../process/settings.ts";
import type { Settings } from "../process/settings.ts";
import { resetDatabase, describeReset } from "./reset.ts";
import { startFromSettings } from "./start-service.ts";
import { paint, say } from "./terminal.ts";
import type { Running } from "./terminal.ts";
import { Follower } from "./watch/follower.ts";
import { SourcingWatch } from "./watch/sourcing-watch.ts";
import { Study } from "./watch/study.ts";

/** How long a save waits for a lock: requests to that table wait behind it. */
const lockTimeoutMs = 100;

/** The service, whose API follows the migration in db/current while you write it. */
export async function watch(stopping: AbortSignal): Promise<Running> {
  const settings = readSettings();
  if (settings.databaseUrl !== undefined) await withClient(settings.databaseUrl, requireOwner);
  const service = await startFromSettings(settings, stopping);
  const adminUrl = service.database.adminUrl ?? service.database.url;
  const study = new Study(adminUrl);
  const follower = new Follower(service.app!, study);
  const sourcing = new SourcingWatch(adminUrl);
  const watching = new CurrentWatch(adminUrl, {
    locks: { ...settings.migrationLocks, lockTimeoutMs },
    rehearsal: follower,
    onDeleted: (names) => recreateWithout(names, service.database.adminUrl, settings, follower),
    onRun(run) {
      void follower.follow(run);
      void sourcing.look();
    },
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

/** Undoes what files did that are gone. @returns whether that was possible */
async function recreateWithout(
  names: readonly string[],
  adminUrl: string | null,
  { production, migrationLocks: locks }: Settings,
  rehearsal: Rehearsal,
): Promise<boolean> {
  const what = names.join(", ");
  if (adminUrl === null || production) {
    say(`What ${what} did is still in the database: undo it by SQL, or: npx erp db reset --erase`);
    return false;
  }
  say(
    `\n${paint("bold", `${what} is gone.`)} The database is recreated without it, with demonstration data.`,
  );
  const begin = performance.now();
  const aside = await resetDatabase(adminUrl, { locks, onWait: say, rehearsal });
  say(describeReset(aside, performance.now() - begin));
  return true;
}
