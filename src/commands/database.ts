import "../process/graphile-env.ts";
import type pg from "pg";
import type { Finding } from "../check/finding.ts";
import { isRefused } from "../check/finding.ts";
import { printFindings, printJson } from "../check/report.ts";
import { fillAll, printProgress, readProgress } from "../migrations/backfills.ts";
import { placeOf } from "../postgres/client.ts";
import { openAsAdmin, setUpDatabase } from "../migrations/open-database.ts";
import { commitMigration, uncommitMigration } from "../migrations/commit-migration.ts";
import type { CurrentFile } from "../migrations/migration-files.ts";
import { committedSchema, writeSchema } from "../migrations/schema-file.ts";
import { readSettings } from "../process/settings.ts";
import { UserError } from "../errors/user-error.ts";
import { atTheCommandLine } from "./command-line.ts";
import { migrationUrls } from "./graphile-migrate/urls.ts";
import { withOwner } from "./owner.ts";
import { resetDatabase, resetDone } from "./reset.ts";
import { hasColors, say, untilStopped, UsageError } from "./terminal.ts";
import type { Running } from "./terminal.ts";

const usage = `Usage: npm run db:<command>

  db:setup [-- --new-password]   roles, grants and migrations in the database of DATABASE_URL (an administrator's)
                 [-- --accept RULE]  though the check refuses pending migrations by that rule
  db:watch                       the service, with db/current run again and the API rebuilt at every change
  db:commit -- "message" [FILE…]  turn db/current, or some of its files, into a committed migration
  db:uncommit [-- --shared]      bring the newest committed migration back into db/current; --shared though others may have it
  db:check [-- --json]           what in db/current, or made by it, is dangerous or against the rules
                 [-- --with-data]    with the rows of the demonstration shop, which it may fail on
  db:backfill [-- --run]         how far background work is with what migrations have it fill; --run works it off here
  db:reset [-- --erase]          make the development database anew, with demonstration data; --erase for DATABASE_URL's
  db:slow [-- ID]                which operations take the database's time
  db:psql [-- -c SQL]            a psql in the database, as the owner of its tables
  db:env                         variables for other programs: DATABASE_URL, SHADOW_DATABASE_URL, ROOT_DATABASE_URL
  db:schema                      write db/schema.sql anew, as db:commit does: what all committed migrations make
`;

async function setUp(renewPassword: boolean, accepted: readonly string[]): Promise<void> {
  const { databaseUrl, migrationLocks: locks } = readSettings();
  if (databaseUrl === undefined) {
    throw new UserError(
      "Set DATABASE_URL to the database, as a role that may create roles. The embedded Postgres needs no set-up.",
    );
  }
  const approve = async (adminUrl: string) => {
    const { requireHarmlessPending } = await import("../check/pending.ts");
    await requireHarmlessPending(adminUrl, { accepted, onNote: say });
  };
  const url = await setUpDatabase(databaseUrl, { approve, renewPassword, locks, onProgress: say });
  if (url === null)
    console.error("Done. The role service_login keeps its password; --new-password gives it another.");
  else console.error(`Done. Serve with this URL. Its password is shown only now:\n\nDATABASE_URL=${url}`);
}

// What takes long to load is loaded by those commands that need it: PostGraphile, and the service

async function findingsOf(
  adminUrl: string,
  current?: readonly CurrentFile[],
  hasRows = false,
): Promise<Finding[]> {
  const { checkCurrent } = await import("../check/rehearsal.ts");
  if (!hasRows) return checkCurrent(adminUrl, current);
  const { fillDemo } = await import("./demo.ts");
  const fill = (connectionString: string) =>
    fillDemo({ connectionString, scale: 1 }).catch((cause: Error) => {
      const reason = "it has to fill a database that has only the committed migrations";
      throw new UserError(`db/demo can't be used for --with-data: ${reason}. ${cause.message}`, { cause });
    });
  return checkCurrent(adminUrl, current, fill);
}

async function watch(stopping: AbortSignal): Promise<Running> {
  return (await import("./watch.ts")).watch(stopping);
}

/** Runs a command that changes the database, on DATABASE_URL or the service's own Postgres. */
async function asAdmin(work: (adminUrl: string) => Promise<void>): Promise<void> {
  const { url, close } = await openAsAdmin(readSettings());
  try {
    await work(url);
  } finally {
    await close();
  }
}

/** Makes the development database anew. The service may run meanwhile. */
async function reset(mayErase: boolean): Promise<void> {
  const { databaseUrl, production, migrationLocks: locks } = readSettings();
  if (production) throw new UserError("This is production: nothing is reset here.");
  if (databaseUrl !== undefined && !mayErase)
    throw new UserError(`This replaces all data in ${placeOf(databaseUrl)}. If you want that, add --erase.`);
  await asAdmin(async (adminUrl) => {
    const begin = performance.now();
    const aside = await resetDatabase(adminUrl, { locks, onWait: say });
    say(resetDone(aside, performance.now() - begin));
  });
}

/** For `eval "$(npm run -s db:env)"`. */
async function printVariables(): Promise<void> {
  const { urls } = await migrationUrls(readSettings());
  for (const [name, url] of Object.entries(urls)) console.log(`export ${name}='${url}'`);
}

/** Says what the check finds. Exit code 1: it refuses. */
async function tellFindings(isJson: boolean, hasRows: boolean): Promise<void> {
  await asAdmin(async (adminUrl) => {
    const findings = await findingsOf(adminUrl, undefined, hasRows);
    if (isJson) process.stdout.write(printJson(findings));
    else say(printFindings(findings, { color: hasColors() }));
    if (isRefused(findings)) process.exitCode = 1;
  });
}

/** @throws {UserError} with what the check finds, when it refuses */
async function requireClean(adminUrl: string, current: readonly CurrentFile[]): Promise<void> {
  const findings = await findingsOf(adminUrl, current);
  if (findings.length === 0) return;
  const report = printFindings(findings, { color: hasColors() });
  if (isRefused(findings)) throw new UserError(`${report}\n\nNothing was committed.`);
  say(report);
}

/** Says how far backfills are. Exit code 1: one fails. */
async function tellBackfills(client: pg.Client, isToRun: boolean): Promise<void> {
  if (isToRun) await fillAll(client, say);
  const all = await readProgress(client);
  console.log(all.length === 0 ? "No migration has declared a backfill." : all.map(printProgress).join("\n"));
  if (all.some(({ state }) => state === "fails")) process.exitCode = 1;
}

const options = {
  "new-password": { type: "boolean" },
  accept: { type: "string", multiple: true },
  json: { type: "boolean" },
  "with-data": { type: "boolean" },
  erase: { type: "boolean" },
  run: { type: "boolean" },
  shared: { type: "boolean" },
} as const;

/** Options of each command; the others take none. */
const optionsOf: Record<string, readonly string[]> = {
  reset: ["erase"],
  setup: ["new-password", "accept"],
  check: ["json", "with-data"],
  backfill: ["run"],
  uncommit: ["shared"],
};

await atTheCommandLine({ usage, options, arguments: Infinity }, async (values, positionals) => {
  const [command = "", message, ...files] = positionals;
  for (const name of Object.keys(values))
    if (!optionsOf[command]?.includes(name)) throw new UsageError(`db:${command} takes no --${name}.`);
  if (command !== "commit" && message !== undefined)
    throw new UsageError(`db:${command} takes no “${message}”.`);
  if (command === "setup") await setUp(values["new-password"] === true, values.accept ?? []);
  else if (command === "check") await tellFindings(values.json === true, values["with-data"] === true);
  else if (command === "reset") await reset(values.erase === true);
  else if (command === "env") await printVariables();
  else if (command === "watch") await untilStopped(watch);
  else if (command === "backfill") await withOwner((client) => tellBackfills(client, values.run === true));
  else if (command === "commit" && message) {
    const options = { locks: readSettings().migrationLocks, onWait: say };
    await asAdmin((url) =>
      commitMigration(url, message, files, { ...options, approve: (wanted) => requireClean(url, wanted) }),
    );
    const what = files.length === 0 ? "db/current" : files.join(", ");
    console.error(`Committed ${what} as the newest file of db/committed.`);
  } else if (command === "uncommit") {
    await asAdmin((url) => uncommitMigration(url, values.shared === true));
    console.error("The newest file of db/committed is in db/current again.");
  } else if (command === "schema") {
    await asAdmin(async (url) => writeSchema(await committedSchema(url)));
    console.error("db/schema.sql is up to date with the committed migrations.");
  } else if (command === "commit")
    throw new UsageError('Say what the migration does: npm run db:commit -- "product weight".');
  else throw new UsageError(`There is no command “db:${command}”.`);
});
