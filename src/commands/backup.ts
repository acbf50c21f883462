import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { makeBackup } from "../database/backup/make-backup.ts";
import { listBackups } from "../database/backup/manifest.ts";
import type { Backup } from "../database/backup/manifest.ts";
import { pruneArchive } from "../database/backup/segments.ts";
import { archiveFolder } from "../database/cluster/wal-archive.ts";
import { UserError } from "../errors/user-error.ts";
import { readSettings } from "../process/settings.ts";
import { ProgressBar } from "./progress.ts";
import { say, UsageError } from "./terminal.ts";
import { withOwnPostgres } from "./with-database.ts";

/** @param options.keep how many backups stay; all, if not given */
export async function backUpTo({ to: given, keep }: { to?: string; keep?: number }): Promise<void> {
  const settings = readSettings();
  if (settings.databaseUrl !== undefined) {
    throw new UserError(
      "This copies the service's own Postgres only. For that of DATABASE_URL use pg_dump, pgBackRest or its provider's backups: docs/backups.md.",
    );
  }
  const to = given ?? settings.backupDirectory;
  if (to === undefined) throw new UsageError("Where to? Say --to FOLDER, or set BACKUP_DIRECTORY.");
  const backup = await withOwnPostgres(settings, "postgres", (url) => backUp(url, to));
  if (keep !== undefined) await keepNewest(to, keep, backup);
  process.stdout.write(`${backup.folder}\n`);
}

async function backUp(url: string, to: string): Promise<Backup> {
  const bar = new ProgressBar("Copying", "MB", 0);
  const megabytes = (bytes: number) => Math.ceil(bytes / 1e6);
  const onProgress = (done: number, total: number) => bar.show(megabytes(done), megabytes(total));
  const backup = await makeBackup(url, { to, onProgress }).finally(() => bar.end());
  const { files, endedAt } = backup.manifest;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  say(
    `The backup has ${files.length} files and ${megabytes(bytes)} MB. All that was committed before ${endedAt} is in it.`,
  );
  return backup;
}

/** Removes older backups of the same cluster, and what of the archive nobody needs any more. */
async function keepNewest(
  to: string,
  count: number,
  { manifest: { systemIdentifier } }: Backup,
): Promise<void> {
  const all = (await listBackups(resolve(to))).filter(
    ({ manifest }) => manifest.systemIdentifier === systemIdentifier,
  );
  const old = all.slice(0, -count);
  for (const { folder } of old) await rm(folder, { recursive: true });
  const oldest = all.at(-count) ?? all[0]!;
  const segments = await pruneArchive(archiveFolder(to, systemIdentifier), oldest.manifest.firstWal);
  say(`Removed ${old.length} older backups and ${segments} segments of the archived log.`);
}
