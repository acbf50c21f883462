import { isRefused } from "../check/finding.ts";
import type { Finding } from "../check/finding.ts";
import { printFindings, printJson } from "../check/report.ts";
import { fillAll, printProgress, readProgress } from "../migrations/backfills.ts";
import { formatAddress } from "../postgres/client.ts";
import { setUpDatabase } from "../migrations/open-database.ts";
import { commitMigration, uncommitMigration } from "../migrations/commit-migration.ts";
import type { CurrentFile } from "../migrations/migration-files.ts";
import { printCommittedSchema, writeSchema } from "../migrations/schema-file.ts";
import { readSettings } from "../process/settings.ts";
import { UserError } from "../errors/user-error.ts";
import { migrationUrls } from "./graphile-migrate/urls.ts";
import { resetDatabase, describeReset } from "./reset.ts";
import { hasColors, say } from "./terminal.ts";
import { asAdmin, asOwner } from "./with-database.ts";

/** @param options.accept rules of the check that pending migrations may break */
export async function setUp({
  newPassword: renewPassword,
  accept: accepted = [],
}: {
  newPassword?: true;
  accept?: readonly string[];
}): Promise<void> {
  const { databaseUrl, migrationLocks: locks } = readSettings();
  if (databaseUrl === undefined) {
    throw new UserError(
      "Set DATABASE_URL to the database, as a role that may create roles. The embedded Postgres needs no set-up.",
    );
  }
  const approve = async (adminUrl: string) => {
    const { requireSafePending } = await import("../check/pending.ts");
    await requireSafePending(adminUrl, { accepted, onNote: say });
  };
  const url = await setUpDatabase(databaseUrl, { approve, renewPassword, locks, onProgress: say });
  if (url === null) say("Done. The role service_login keeps its password; --new-password gives it another.");
  else say(`Done. Serve with this URL. Its password is shown only now:\n\nDATABASE_URL=${url}`);
}

async function runCheck(
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

/** Recreates the development database. The service may keep running. */
export async function reset({ erase: mayErase }: { erase?: true }): Promise<void> {
  const { databaseUrl, production, migrationLocks: locks } = readSettings();
  if (production) throw new UserError("This is production: nothing is reset here.");
  if (databaseUrl !== undefined && !mayErase)
    throw new UserError(
      `This replaces all data in ${formatAddress(databaseUrl)}. If you want that, add --erase.`,
    );
  await asAdmin(async (adminUrl) => {
    const begin = performance.now();
    const aside = await resetDatabase(adminUrl, { locks, onWait: say });
    say(describeReset(aside, performance.now() - begin));
  });
}

export async function printVariables(): Promise<void> {
  const { urls } = await migrationUrls(readSettings());
  for (const [name, url] of Object.entries(urls)) console.log(`export ${name}='${url}'`);
}

/** Says what the check finds. Exit code 1: it refuses. */
export async function printCheck({ json, withData }: { json?: true; withData?: true }): Promise<void> {
  const findings = await asAdmin((adminUrl) => runCheck(adminUrl, undefined, withData));
  if (json) process.stdout.write(printJson(findings));
  else say(printFindings(findings, { color: hasColors() }));
  if (isRefused(findings)) process.exitCode = 1;
}

export async function commit(message: string, files: readonly string[]): Promise<void> {
  const { migrationLocks: locks } = readSettings();
  await asAdmin((url) =>
    commitMigration(url, message, files, {
      locks,
      onWait: say,
      approve: (wanted) => requireClean(url, wanted),
    }),
  );
  const what = files.length === 0 ? "db/current" : files.join(", ");
  say(`Committed ${what} as the newest file of db/committed.`);
}

/** @throws {UserError} with what the check finds, when it refuses */
async function requireClean(adminUrl: string, current: readonly CurrentFile[]): Promise<void> {
  const findings = await runCheck(adminUrl, current);
  if (findings.length === 0) return;
  const report = printFindings(findings, { color: hasColors() });
  if (isRefused(findings)) throw new UserError(`${report}\n\nNothing was committed.`);
  say(report);
}

export async function uncommit({ shared = false }: { shared?: boolean }): Promise<void> {
  await asAdmin((url) => uncommitMigration(url, shared));
  say("The newest file of db/committed is in db/current again.");
}

export async function writeSchemaFile(): Promise<void> {
  await asAdmin(async (url) => writeSchema(await printCommittedSchema(url)));
  say("db/schema.sql is up to date with the committed migrations.");
}

/** Says how far backfills are. Exit code 1: one fails. */
export async function printBackfills({ run: isToRun }: { run?: true }): Promise<void> {
  const all = await asOwner(async (client) => {
    if (isToRun) await fillAll(client, say);
    return readProgress(client);
  });
  console.log(all.length === 0 ? "No migration has declared a backfill." : all.map(printProgress).join("\n"));
  if (all.some(({ state }) => state === "fails")) process.exitCode = 1;
}
