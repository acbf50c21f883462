import { rm } from "node:fs/promises";
import { listBackups, makeBackup } from "../cluster/backups.ts";
import { UserError } from "../errors/user-error.ts";
import { readSettings } from "../process/settings.ts";
import { say, UsageError } from "./terminal.ts";
import { withOwnPostgres } from "./with-database.ts";

/** @param options.keep how many backups stay; all, if not given */
export async function backUpTo({ to: given, keep }: { to?: string; keep?: number }): Promise<void> {
  const settings = readSettings();
  if (settings.databaseUrl !== undefined) {
    throw new UserError(
      "This copies the service's own Postgres only. For that of DATABASE_URL use pg_dump, pgBackRest or its provider's backups: docs/guides/backups.md.",
    );
  }
  const to = given ?? settings.backupDirectory;
  if (to === undefined) throw new UsageError("Where to? Say --to FOLDER, or set BACKUP_DIRECTORY.");
  const backup = await withOwnPostgres(settings, "postgres", (url) => makeBackup(url, to));
  if (keep !== undefined) await keepNewest(to, keep, backup);
  process.stdout.write(`${backup}\n`);
}

/** Removes older backups of the cluster of a backup. */
async function keepNewest(to: string, count: number, backup: string): Promise<void> {
  const all = await listBackups(to);
  const { cluster } = all.find(({ folder }) => folder === backup)!;
  const old = all.filter((each) => each.cluster === cluster).slice(0, -count);
  for (const { folder } of old) await rm(folder, { recursive: true });
  say(`Removed ${old.length} older backups.`);
}
