import { migrationsFolder } from "../../migrations/migration-files.ts";
import { takeTurn } from "../../migrations/turn.ts";
import { readSettings } from "../../process/settings.ts";
import { migrationUrls } from "./urls.ts";

const { urls, adminUrl } = await migrationUrls(readSettings());
const isCommit = process.argv.includes("commit");

// `watch` would keep its turn, others change nothing
const changing = ["migrate", "current", "commit", "uncommit", "reset"];
if (changing.some((command) => process.argv.includes(command))) (await takeTurn(adminUrl)).keepToTheEnd();

// Hooks are processes of their own, and get no DATABASE_URL
process.env.SERVICE_ADMIN_URL = adminUrl;
const hook = (steps: string) => ({
  _: "command",
  command: `node src/commands/graphile-migrate/hook.ts ${steps}`,
});

/** Settings of graphile-migrate, so that it does what `erp db …` does. */
export default {
  migrationsFolder,
  databaseOwner: "service_owner",
  connectionString: urls.DATABASE_URL,
  shadowConnectionString: urls.SHADOW_DATABASE_URL,
  rootConnectionString: urls.ROOT_DATABASE_URL,
  beforeReset: [
    { ...hook("drop"), shadow: false },
    // A commit also recreates the shadow database first
    { ...hook(isCommit ? "own check" : "own"), shadow: true },
  ],
  afterReset: [hook("copy")],
  afterAllMigrations: isCommit ? [{ ...hook("schema"), shadow: false }] : [],
  afterCurrent: ["finish.sql"],
};
