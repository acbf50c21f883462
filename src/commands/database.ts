import { parseArgs } from "node:util";
import { openDatabase, setUpDatabase } from "../database/open.ts";
import { commitMigration, uncommitMigration, watchCurrentMigration } from "../database/migrations.ts";
import { readSettings } from "../settings.ts";
import { UserError } from "../user-error.ts";
import { startService } from "./start.ts";
import { atTheTerminal, untilStopped } from "./terminal.ts";

const usage = `Usage: npm run db:<command>

  db:setup [-- --new-password]   roles, grants and migrations in the database of DATABASE_URL (an administrator's)
  db:watch                       the service, with db/current run again and the API rebuilt at every change
  db:commit -- "message"         turn db/current into a committed migration
  db:uncommit                    bring the newest committed migration back into db/current`;

async function setUp(renewPassword: boolean): Promise<void> {
  const { databaseUrl } = readSettings();
  if (databaseUrl === undefined) {
    throw new UserError(
      "Set DATABASE_URL to the database, as a role that may create roles. The embedded Postgres needs no set-up.",
    );
  }
  const url = await setUpDatabase(databaseUrl, { renewPassword, onProgress: (step) => console.error(step) });
  if (url === null)
    console.error("Done. The role service_login keeps its password; --new-password gives it another.");
  else console.error(`Done. Serve with this URL. Its password is shown only now:\n\nDATABASE_URL=${url}`);
}

async function watch(stopping: AbortSignal): Promise<() => Promise<void>> {
  const service = await startService(readSettings(), stopping);
  const stopWatching = watchCurrentMigration(service.database.adminUrl ?? service.database.url, () => {
    service.app!.reload().then(
      () => console.error("The API follows the database."),
      (error: unknown) => console.error(`The API stays as it was: ${String(error)}`),
    );
  });
  return async () => {
    stopWatching();
    await service.stop();
  };
}

/** Runs a command that needs a superuser, on DATABASE_URL or the embedded Postgres. */
async function asAdmin(work: (adminUrl: string) => Promise<void>): Promise<void> {
  const settings = readSettings();
  if (settings.databaseUrl !== undefined) return work(settings.databaseUrl);
  const { adminUrl, close } = await openDatabase(settings);
  try {
    await work(adminUrl!);
  } finally {
    await close();
  }
}

await atTheTerminal(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { "new-password": { type: "boolean", default: false } },
  });
  const [command, message] = positionals;
  if (command === "setup") await setUp(values["new-password"]);
  else if (command === "watch") await untilStopped(watch);
  else if (command === "commit" && message) await asAdmin((url) => commitMigration(url, message));
  else if (command === "uncommit") await asAdmin((url) => uncommitMigration(url));
  else {
    console.error(usage);
    process.exitCode = 2;
  }
});
