import { execFile } from "node:child_process";
import type { ExecFileException } from "node:child_process";
import { lstat, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type pg from "pg";
import { UserError } from "../errors/user-error.ts";
import { withClient } from "../postgres/client.ts";
import { requireMajor } from "./cluster.ts";
import { explainFileError, makeFolder } from "./folder.ts";
import { renewPassword } from "./password.ts";
import { openPlace, removeRemains } from "./place.ts";
import { exists } from "./postgres-user.ts";

const run = promisify(execFile);

/** The files of a backup, named as by `pg_basebackup --format=tar --gzip`: the data, and the write-ahead log. */
const archives = ["base.tar.gz", "pg_wal.tar.gz"] as const;

/** Parts of a data folder that belong to a running server, or that each start creates again. */
const excludedPaths = [
  "pg_wal/* pg_replslot/* pg_dynshmem/* pg_notify/* pg_serial/* pg_snapshots/* pg_stat_tmp/* pg_subtrans/*",
  "pgsql_tmp* pg_internal.init* postmaster.pid postmaster.opts server.log",
  "backup_label tablespace_map standby.signal recovery.signal",
].flatMap((names) => names.split(" "));

/** A complete backup. */
export interface Backup {
  folder: string;
  begunAt: Date;
  /** The id of its cluster, which distinguishes clusters that share a folder of backups. */
  cluster: string;
}

/** The name of a complete backup, such as 20261122T210000Z-7561234567890123456. */
const namePattern = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-(\d+)$/;

/** Returns the complete backups in a folder, oldest first. */
export async function listBackups(folder: string): Promise<Backup[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => namePattern.test(name));
  return names.sort().map((name) => ({
    folder: resolve(folder, name),
    begunAt: new Date(name.replace(namePattern, "$1-$2-$3T$4:$5:$6Z")),
    cluster: name.replace(namePattern, "$7"),
  }));
}

/**
 * Backs up a running cluster by Postgres' own functions, while others use it. The backup includes the write-ahead log
 * that is written meanwhile, so it can be restored by itself.
 *
 * @param adminUrl a database of the cluster, as superuser; its files must be on this machine
 * @param to the folder of backups
 * @returns the folder of the backup
 * @throws {UserError} when it fails
 */
export async function makeBackup(adminUrl: string, to: string): Promise<string> {
  return withClient(adminUrl, async (client) => {
    const { data, name } = await beginBackup(client);
    if ((await lstat(join(data, "pg_wal"))).isSymbolicLink())
      throw new UserError(
        "The write-ahead log of this cluster is in another folder: use pg_basebackup or pgBackRest.",
      );
    const folder = join(resolve(to), name);
    const unfinished = `${folder}.unfinished`;
    await makeFolder(unfinished, 0o700);
    const [base, log] = archives.map((archive) => join(unfinished, archive));
    try {
      await pack(base!, "-C", data, ...excludedPaths.map((path) => `--exclude=${path}`), ".");
      const { label, segments } = await endBackup(client, join(data, "pg_wal"));
      await writeFile(join(unfinished, "backup_label"), label, { mode: 0o600 });
      const files = segments.map((segment) => `pg_wal/${segment}`);
      await pack(log!, "-C", unfinished, "backup_label", "-C", data, ...files);
      await rm(join(unfinished, "backup_label"));
      await checkBackup(unfinished);
      // Syncs the whole file system, because single files would take long
      await run("sync", process.platform === "linux" ? ["-f", unfinished] : []);
      await rename(unfinished, folder);
      await run("sync", process.platform === "linux" ? ["-f", resolve(to)] : []);
      return folder;
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      throw explainFileError(error);
    }
  });
}

async function beginBackup(client: pg.Client): Promise<{ data: string; name: string }> {
  const { rows } = await client.query<{ data: string; name: string; tablespaces: number }>(
    `select current_setting('data_directory') as data,
       to_char(clock_timestamp() at time zone 'UTC', 'YYYYMMDD"T"HH24MISS"Z-"') || system_identifier as name,
       (select count(*)::integer from pg_tablespace where spcname not in ('pg_default', 'pg_global')) as tablespaces
     from pg_control_system()`,
  );
  const { tablespaces, ...found } = rows[0]!;
  if (tablespaces > 0)
    throw new UserError(
      "This cluster has tablespaces, whose files are in other folders: use pg_basebackup or pgBackRest.",
    );
  // This temporary slot keeps the write-ahead log until the connection ends
  await client.query("select pg_create_physical_replication_slot('backup_' || pg_backend_pid(), true, true)");
  await client.query("select pg_backup_start('backup', fast => true)");
  return found;
}

/** Ends the backup. @returns its label, and its files of the write-ahead log */
async function endBackup(client: pg.Client, log: string): Promise<{ label: string; segments: string[] }> {
  const { rows } = await client.query<{ label: string; last: string }>(
    `select labelfile as label, pg_walfile_name(lsn) as last from pg_backup_stop(wait_for_archive => false)`,
  );
  const { label, last } = rows[0]!;
  const [, first] = /^START WAL LOCATION: .*\(file ([0-9A-F]{24})\)$/m.exec(label)!;
  const isPart = (name: string) =>
    name.endsWith(".history") || (/^[0-9A-F]{24}$/.test(name) && name >= first! && name <= last);
  const segments = (await readdir(log)).filter(isPart);
  const count = segments.filter((name) => !name.endsWith(".history")).length;
  if (count !== segmentNumber(last) - segmentNumber(first!) + 1)
    throw new UserError("Parts of this backup's write-ahead log are already deleted. Make the backup again.");
  return { label, segments };
}

/** Returns the number of a 16 MB segment: Postgres writes it in two parts after the number of the timeline. */
const segmentNumber = (segment: string): number =>
  parseInt(segment.slice(8, 16), 16) * 256 + parseInt(segment.slice(16), 16);

/** Matches GNU tar's messages about files that change while it reads them. The write-ahead log repairs such files. */
const changeWarnings = /changed as we read it|removed before we read it|shrank by/;

/** Writes files to an archive. */
async function pack(archive: string, ...files: string[]): Promise<void> {
  const options = { env: { ...process.env, LC_ALL: "C" }, maxBuffer: 64_000_000 };
  await run("tar", ["-czf", archive, ...files], options).catch((cause: ExecFileException) => {
    const lines = (cause.stderr ?? "").split("\n").filter((line) => line !== "");
    if (cause.code !== 1 || !lines.every((line) => changeWarnings.test(line)))
      throw new UserError(`${archive} can't be written: ${cause.stderr || cause.message}`, { cause });
  });
}

/** Checks the archives of a backup by their checksums. @throws {UserError} when one is damaged */
export async function checkBackup(folder: string): Promise<void> {
  for (const archive of archives) await runOnBackup(folder, "gzip", "-t", join(folder, archive));
}

async function runOnBackup(folder: string, program: string, ...words: string[]): Promise<void> {
  await run(program, words).catch((cause: ExecFileException) => {
    throw new UserError(`The backup ${folder} is damaged: ${cause.stderr || cause.message}`, { cause });
  });
}

/**
 * Returns the folder of a backup.
 *
 * @param from this folder, or a folder of backups, from which the newest is chosen
 */
export async function chooseBackup(from: string): Promise<string> {
  if (await exists(join(from, archives[0]))) return resolve(from);
  const newest = (await listBackups(from)).at(-1);
  if (newest === undefined)
    throw new UserError(
      `There is no complete backup in ${from}. Backups with a manifest.json are from an earlier version, which can restore them.`,
    );
  return newest.folder;
}

/**
 * Creates a cluster from a backup. Postgres replays the backup's write-ahead log, which shows that it can start.
 *
 * @param runAs see {@link openPlace}
 * @throws {UserError} when the backup is damaged, or the folder has a cluster; the new cluster is then removed
 */
export async function restoreBackup(folder: string, directory: string, runAs?: string): Promise<void> {
  const place = await openPlace(directory, runAs);
  const { data, user, major } = place;
  if (await exists(data))
    throw new UserError(`${data} exists. Restore to another folder, or move ${data} away.`);
  await removeRemains(data);
  const temporary = await mkdtemp(`${data}.new-`).catch((error: unknown) => {
    throw explainFileError(error);
  });
  try {
    for (const archive of archives)
      await runOnBackup(folder, "tar", "-xzf", join(folder, archive), "-C", temporary);
    await requireMajor(temporary, major);
    await user.ownAll(temporary);
    await renewPassword(place, temporary).catch((cause: Error) => {
      const reason = /(FATAL|PANIC):.*/.exec(cause.message)?.[0] ?? cause.message;
      throw new UserError(`Postgres can't replay the backup ${folder}: ${reason}`, { cause });
    });
    await rename(temporary, data);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw explainFileError(error);
  }
}
