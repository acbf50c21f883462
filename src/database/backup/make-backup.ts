import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type pg from "pg";
import { UserError } from "../../errors/user-error.ts";
import { withClient } from "../client.ts";
import { fileFailure, makeFolder } from "../cluster/folder.ts";
import { copyFile, dataFiles, eachOf, ifAway, syncDisk } from "./files.ts";
import { manifestFiles, readBackup, unfinished } from "./manifest.ts";
import type { BackedUpFile, Backup } from "./manifest.ts";
import { historyFiles, segmentsBetween } from "./segments.ts";

export interface BackupOptions {
  /** The folder of backups. */
  to: string;
  /** Called with the bytes that are copied, and with all. */
  onProgress?: (done: number, total: number) => void;
}

interface Server {
  data: string;
  postgres: string;
  systemIdentifier: string;
  begunAt: Date;
}

/**
 * Copies the files of a running cluster by Postgres' own functions, while others use it. The copy includes the
 * write-ahead log of the meantime, so it can be restored by itself.
 *
 * @param adminUrl a database of it, as superuser; its files must be on this machine
 * @throws {UserError} when it can't
 */
export async function makeBackup(
  adminUrl: string,
  { to, onProgress = () => {} }: BackupOptions,
): Promise<Backup> {
  return withClient(adminUrl, async (client) => {
    const server = await begin(client);
    const name = server.begunAt.toISOString().replace(/[-:]|\.\d+/g, "");
    const folder = join(resolve(to), name);
    const aside = `${folder}${unfinished}`;
    await makeFolder(aside, 0o700);
    try {
      const data = join(aside, "data");
      await mkdir(data);
      const files = await copyData(server.data, data, onProgress);
      const end = await endBackup(client);
      await writeFile(join(data, "backup_label"), end.label, { mode: 0o600 });
      files.push({ path: "backup_label", ...(await copyFile(join(data, "backup_label"), null)) });
      files.push(...(await copyLog(server.data, data, end.segments)));
      const written = manifestFiles({
        ...{ format: 1, begunAt: server.begunAt.toISOString(), endedAt: end.at.toISOString() },
        ...{ postgres: server.postgres, systemIdentifier: server.systemIdentifier },
        ...{ firstWal: end.segments[0]!, lastWal: end.segments.at(-1)!, files },
      });
      for (const [file, text] of Object.entries(written))
        await writeFile(join(aside, file), text, { mode: 0o600 });
      await syncDisk(aside);
      await rename(aside, folder);
      await syncDisk(resolve(to));
      return await readBackup(folder);
    } catch (error) {
      await rm(aside, { recursive: true, force: true });
      throw fileFailure(error);
    }
  });
}

async function begin(client: pg.Client): Promise<Server> {
  const { rows } = await client.query<Server & { tablespaces: number }>(
    `select current_setting('data_directory') as data, current_setting('server_version') as postgres,
       (select system_identifier::text from pg_control_system()) as "systemIdentifier",
       clock_timestamp() as "begunAt",
       (select count(*)::integer from pg_tablespace where spcname not in ('pg_default', 'pg_global')) as tablespaces`,
  );
  if (rows[0]!.tablespaces > 0)
    throw new UserError(
      "This cluster has tablespaces, whose files are elsewhere: use pg_basebackup or pgBackRest.",
    );
  // Keeps the write-ahead log of the meantime; it ends with the connection
  await client.query("select pg_create_physical_replication_slot('backup_' || pg_backend_pid(), true, true)");
  await client.query("select pg_backup_start('npx erp backup', fast => true)");
  return rows[0]!;
}

async function copyData(
  from: string,
  to: string,
  onProgress: (done: number, total: number) => void,
): Promise<BackedUpFile[]> {
  const found = await dataFiles(from);
  const total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  onProgress(0, total);
  const onRead = (bytes: number) => onProgress((done += bytes), Math.max(total, done));
  for (const { path, isFolder } of found)
    if (isFolder) await mkdir(join(to, path), { recursive: true, mode: 0o700 });
  const files: BackedUpFile[] = [];
  const copy = async (path: string) => {
    const copied = await copyFile(join(from, path), join(to, path), { onRead }).catch(ifAway);
    if (copied !== null) files.push({ path, ...copied });
  };
  const control = "global/pg_control";
  const paths = found.filter(({ isFolder, path }) => !isFolder && path !== control).map(({ path }) => path);
  await eachOf(paths, copy);
  // Postgres may be writing it: until two readings are the same
  do await copy(control);
  while (files.at(-1)!.sha256 !== (await copyFile(join(from, control), null)).sha256 && files.pop());
  return files;
}

async function endBackup(client: pg.Client): Promise<{ label: string; at: Date; segments: string[] }> {
  const { rows } = await client.query<{ label: string; last: string; at: Date }>(
    `select labelfile as label, pg_walfile_name(lsn) as last, clock_timestamp() as at
     from pg_backup_stop(wait_for_archive => false)`,
  );
  const { label, last, at } = rows[0]!;
  const [, first] = /^START WAL LOCATION: .*\(file ([0-9A-F]{24})\)$/m.exec(label)!;
  return { label, at, segments: segmentsBetween(first!, last) };
}

async function copyLog(data: string, to: string, segments: readonly string[]): Promise<BackedUpFile[]> {
  const files: BackedUpFile[] = [];
  const names = [...segments, ...(await historyFiles(join(data, "pg_wal")))];
  await mkdir(join(to, "pg_wal"), { recursive: true, mode: 0o700 });
  for (const name of names) {
    const path = `pg_wal/${name}`;
    files.push({ path, ...(await copyFile(join(data, path), join(to, path))) });
  }
  return files;
}
