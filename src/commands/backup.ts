import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { makeBackup } from "../database/backup/make-backup.ts";
import { listBackups } from "../database/backup/manifest.ts";
import type { Backup } from "../database/backup/manifest.ts";
import { pruneArchive } from "../database/backup/segments.ts";
import { runningClusterUrl, startCluster } from "../database/cluster/cluster.ts";
import { requireData } from "../database/cluster/folder.ts";
import { archiveFolder } from "../database/cluster/wal-archive.ts";
import { UserError } from "../errors/user-error.ts";
import { readSettings } from "../process/settings.ts";
import type { Settings } from "../process/settings.ts";
import { atTheCommandLine } from "./command-line.ts";
import { ProgressBar } from "./progress.ts";
import { say, UsageError } from "./terminal.ts";

const usage = `Copies the service's own Postgres, while the service runs or not.

Usage: npm run backup -- --to FOLDER [--keep N]

  --to     the folder of backups, BACKUP_DIRECTORY if not given; each backup is a folder there
  --keep   afterwards remove all but the newest N backups, and the archived log that only those needed

Prints the folder of the backup. With BACKUP_DIRECTORY, Postgres also stores its write-ahead log there, so that
\`npm run restore\` can reach any moment. A Postgres of DATABASE_URL has its own tools: see docs/backups.md.
Exit code 0: done, 1: refused or failed, 2: invalid arguments.
`;

const options = { to: { type: "string" }, keep: { type: "string" } } as const;

await atTheCommandLine({ usage, options }, async ({ to: given, keep }) => {
  const settings = readSettings();
  if (settings.databaseUrl !== undefined) {
    throw new UserError(
      "This copies the service's own Postgres only. For that of DATABASE_URL use pg_dump, pgBackRest or its provider's backups: docs/backups.md.",
    );
  }
  const to = given ?? settings.backupDirectory;
  if (to === undefined) throw new UsageError("Where to? Say --to FOLDER, or set BACKUP_DIRECTORY.");
  const kept = keep === undefined ? null : Number(keep);
  if (kept !== null && !(Number.isInteger(kept) && kept > 0))
    throw new UsageError("--keep is a number, from 1.");
  const backup = await withCluster(settings, (url) => backUp(url, to));
  if (kept !== null) await keepNewest(to, kept, backup);
  process.stdout.write(`${backup.folder}\n`);
});

/** Runs work with the service's own Postgres, which is started for it if it doesn't run. */
async function withCluster<T>(settings: Settings, work: (url: string) => Promise<T>): Promise<T> {
  const { dataDirectory: directory, runAs, backupDirectory: backups } = settings;
  const running = await runningClusterUrl(directory, "postgres");
  if (running !== null) return work(running);
  await requireData(directory);
  const cluster = await startCluster({ directory, runAs, backups });
  try {
    return await work(cluster.adminUrl("postgres"));
  } finally {
    await cluster.stop();
  }
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
