import { rm } from "node:fs/promises";
import { listBackups, makeBackup } from "../cluster/backups.ts";
import { runningClusterUrl, startCluster } from "../cluster/cluster.ts";
import { requireData } from "../cluster/folder.ts";
import { UserError } from "../errors/user-error.ts";
import { readSettings } from "../process/settings.ts";
import type { Settings } from "../process/settings.ts";
import { atTheCommandLine } from "./command-line.ts";
import { say, UsageError } from "./terminal.ts";

const usage = `Copies the service's own Postgres, while the service runs or not.

Usage: npm run backup -- --to FOLDER [--keep N]

  --to     the folder of backups, BACKUP_DIRECTORY if not given; each backup is a folder there
  --keep   afterwards remove all but the newest N backups

Prints the folder of the backup. A Postgres of DATABASE_URL has its own tools: see docs/backups.md.
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
  const backup = await withCluster(settings, (url) => makeBackup(url, to));
  if (kept !== null) await keepNewest(to, kept, backup);
  process.stdout.write(`${backup}\n`);
});

/** Runs work with the service's own Postgres, which is started for it if it doesn't run. */
async function withCluster<T>(settings: Settings, work: (url: string) => Promise<T>): Promise<T> {
  const { dataDirectory: directory, runAs } = settings;
  const running = await runningClusterUrl(directory, "postgres");
  if (running !== null) return work(running);
  await requireData(directory);
  const cluster = await startCluster({ directory, runAs });
  try {
    return await work(cluster.adminUrl("postgres"));
  } finally {
    await cluster.stop();
  }
}

/** Removes older backups of the cluster of a backup. */
async function keepNewest(to: string, count: number, backup: string): Promise<void> {
  const all = await listBackups(to);
  const { cluster } = all.find(({ folder }) => folder === backup)!;
  const old = all.filter((each) => each.cluster === cluster).slice(0, -count);
  for (const { folder } of old) await rm(folder, { recursive: true });
  say(`Removed ${old.length} older backups.`);
}
