import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../../errors/user-error.ts";
import { fileFailure } from "../cluster/folder.ts";
import { renewPassword } from "../cluster/password.ts";
import { freePort, openPlace, removeRemains } from "../cluster/place.ts";
import type { Place } from "../cluster/place.ts";
import { runsOn } from "../cluster/pid-file.ts";
import { exists } from "../cluster/postgres-user.ts";
import { forShell } from "../cluster/server.ts";
import { archiveFolder, restoreCommand } from "../cluster/wal-archive.ts";
import { copyFile, eachOf } from "./files.ts";
import { listBackups, readBackup } from "./manifest.ts";
import type { BackedUpFile, Backup } from "./manifest.ts";
import { checkArchive } from "./segments.ts";

/** Milliseconds between two looks at how far Postgres is. */
const lookMs = 100;

export interface RestoreOptions {
  /** A folder of backups, or one backup. */
  from: string;
  /** The moment to restore; by default, the latest that there is. */
  until?: Date | undefined;
  /** The folder of the new cluster. */
  directory: string;
  /** See {@link openPlace}. */
  runAs?: string | undefined;
  /** Whether to check the backup and the archive, and do nothing. */
  isCheck?: boolean;
  /** Called when something begins. */
  onStep?: (step: string) => void;
  onProgress?: (step: "Checking" | "Copying" | "Replaying", done: number, total: number) => void;
}

export interface Restored {
  backup: Backup;
  /** The number of archived segments that were replayed, or could be. */
  segments: number;
  /** When the last transaction was committed, as Postgres logs it; null when none came after the backup. */
  lastCommit: string | null;
}

/**
 * Makes a cluster from a backup and the archived write-ahead log.
 *
 * @throws {UserError} when the backup is damaged, or the folder has a cluster; nothing is left of it then
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { from, until, directory, runAs, isCheck = false, onProgress = () => {} } = options;
  const { backup, archive } = await chooseBackup(from, until);
  const { systemIdentifier, firstWal: first, lastWal: last } = backup.manifest;
  const segments = await checkArchive({
    ...{ folder: archive, systemIdentifier, first, last },
    onProgress: (done, total) => onProgress("Checking", done, total),
  });
  if (isCheck) {
    await copyBackup(backup, null, (done, total) => onProgress("Copying", done, total));
    return { backup, segments: segments.length, lastCommit: null };
  }
  const place = await openPlace(directory, runAs);
  await requireFree(place, backup);
  await removeRemains(place.data);
  const aside = await mkdtemp(`${place.data}.new-`).catch((error: unknown) => {
    throw fileFailure(error);
  });
  try {
    await copyBackup(backup, aside, (done, total) => onProgress("Copying", done, total));
    await place.user.ownAll(aside);
    const lastCommit = await replay(place, aside, {
      ...{ archive: segments.length > 0 ? archive : null, until },
      onReplayed: (done) => onProgress("Replaying", Math.min(done, segments.length), segments.length),
    });
    await renewPassword(place, aside);
    await rename(aside, place.data);
    return { backup, segments: segments.length, lastCommit };
  } catch (error) {
    if (await runsOn(aside)) await control(place, aside, "stop", "-m", "immediate", "-w").catch(() => {});
    await rm(aside, { recursive: true, force: true });
    throw fileFailure(error);
  }
}

/** The newest backup that had ended at a moment, and the folder of the write-ahead log beside it. */
async function chooseBackup(from: string, until: Date | undefined) {
  const isOne = await exists(join(from, "manifest.json"));
  const all = isOne ? [await readBackup(from)] : await listBackups(from);
  if (all.length === 0) throw new UserError(`There is no complete backup in ${from}.`);
  const backup = all.findLast(({ manifest }) => until === undefined || new Date(manifest.endedAt) <= until);
  if (backup === undefined) {
    const { endedAt } = all[0]!.manifest;
    throw new UserError(
      `The oldest backup in ${from} ended at ${endedAt}: no earlier moment can be restored.`,
    );
  }
  const archive = archiveFolder(isOne ? dirname(backup.folder) : from, backup.manifest.systemIdentifier);
  if (until !== undefined && !(await exists(archive))) {
    throw new UserError(
      `There is no ${archive}: without an archived write-ahead log only the end of a backup can be restored, ` +
        `for ${backup.name} ${backup.manifest.endedAt}. Leave --until out.`,
    );
  }
  return { backup, archive };
}

async function requireFree({ data, major }: Place, { manifest: { postgres } }: Backup): Promise<void> {
  if (await exists(data))
    throw new UserError(`${data} exists. Restore to another folder, or move that away.`);
  if (Number.parseInt(postgres) === Number(major)) return;
  throw new UserError(
    `The backup is of Postgres ${postgres}, and this is Postgres ${major}, which can't read it.`,
  );
}

/** Copies all files of a backup, or only reads them, and compares their hashes. */
async function copyBackup(
  { folder, manifest: { files } }: Backup,
  to: string | null,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  if (to !== null)
    for (const name of foldersOf(files)) await mkdir(join(to, name), { recursive: true, mode: 0o700 });
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const onRead = (bytes: number) => onProgress((done += bytes), total);
  await eachOf(files, async ({ path, bytes, sha256 }) => {
    const source = join(folder, "data", path);
    const copied = await copyFile(source, to && join(to, path), { onRead }).catch((cause: unknown) => {
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
      throw new UserError(`The backup ${folder} is damaged: ${path} is missing.`, { cause });
    });
    if (copied.bytes !== bytes || copied.sha256 !== sha256)
      throw new UserError(`The backup ${folder} is damaged: ${path} is not as it was copied.`);
  });
}

/** Folders that Postgres needs and doesn't make. */
const emptyFolders = [
  ...["pg_commit_ts", "pg_dynshmem", "pg_logical/mappings", "pg_logical/snapshots", "pg_multixact/members"],
  ...["pg_multixact/offsets", "pg_notify", "pg_replslot", "pg_serial", "pg_snapshots", "pg_stat"],
  ...["pg_stat_tmp", "pg_subtrans", "pg_tblspc", "pg_twophase", "pg_wal"],
];

/** The folders of files, and those that are empty, each after the one that it is in. */
function foldersOf(files: readonly BackedUpFile[]): string[] {
  const folders = new Set([...emptyFolders, ...files.map(({ path }) => dirname(path))]);
  for (const folder of folders) if (folder !== ".") folders.add(dirname(folder));
  return [...folders].sort();
}

const control = ({ user, program }: Place, data: string, ...args: string[]) =>
  user.execute(program("pg_ctl"), ["-D", data, ...args]);

interface Replay {
  archive: string | null;
  until: Date | undefined;
  onReplayed: (segments: number) => void;
}

/** Has Postgres replay the write-ahead log, and stops it. @returns when the last transaction was committed */
async function replay(
  place: Place,
  data: string,
  { archive, until, onReplayed }: Replay,
): Promise<string | null> {
  const { user } = place;
  if (archive !== null && !(await user.canReach(archive)))
    throw new UserError(`The user who runs Postgres can't read ${archive}. Make a copy that they can read.`);
  const signal = join(data, "recovery.signal");
  await writeFile(signal, "");
  await user.own(signal);
  const log = join(data, "server.log");
  const settings: Record<string, string> = {
    ...{ listen_addresses: "127.0.0.1", unix_socket_directories: "", port: String(await freePort(null)) },
    ...{ hot_standby: "off", archive_mode: "off", log_min_messages: "info", lc_messages: "C" },
    // It syncs all files first
    ...(process.platform === "linux" && { recovery_init_sync_method: "syncfs" }),
    restore_command: archive === null ? "false" : restoreCommand(archive),
    // This setting knows no Z
    ...(until && { recovery_target_time: until.toISOString().replace("Z", "+00") }),
    recovery_target_action: "promote",
  };
  const flags = Object.entries(settings).map(([name, value]) => `-c ${name}=${forShell(value)}`);
  const logText = () => readFile(log, "utf8").catch(() => "");
  try {
    await control(place, data, "start", "-w", "-t", "3600", "-l", log, "-o", flags.join(" "));
    while (!(await isReady(data))) {
      await sleep(lookMs);
      onReplayed((await logText()).match(/restored log file "[0-9A-F]{24}" from archive/g)?.length ?? 0);
      if (!(await runsOn(data))) throw new Error("it ended");
    }
    await control(place, data, "stop", "-m", "fast", "-w", "-t", "3600");
  } catch (cause) {
    throw new UserError(whyNot(await logText(), until), { cause });
  }
  const text = await logText();
  await rm(log);
  return [...text.matchAll(/last completed transaction was at log time (.*)$/gm)].at(-1)?.[1] ?? null;
}

/** Whether recovery has ended, and Postgres takes changes: the eighth line of its file says so. */
async function isReady(data: string): Promise<boolean> {
  const text = await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "");
  return text.split("\n")[7]?.trim() === "ready";
}

function whyNot(log: string, until: Date | undefined): string {
  const last = [...log.matchAll(/last completed transaction was at log time (.*)$/gm)].at(-1)?.[1];
  if (log.includes("recovery ended before configured recovery target was reached")) {
    return (
      `The archived write-ahead log ends before ${until!.toISOString()}` +
      `${last ? `: its last transaction is of ${last}` : ""}. Leave --until out to restore all that there is.`
    );
  }
  const fatal = /(FATAL|PANIC):.*/.exec(log)?.[0] ?? log.trim().split("\n").at(-1);
  return `Postgres can't replay the backup: ${fatal}`;
}
