import { open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { UserError } from "../../errors/user-error.ts";
import { makeFolder } from "./folder.ts";
import { makeHome } from "./place.ts";
import type { PostgresUser } from "./postgres-user.ts";
import { forShell } from "./server.ts";

/** Seconds after which Postgres stores what it has written of a segment: what is lost at most with the disk. */
const archiveSeconds = 60;

/** The folder of the write-ahead log of a cluster, so that several clusters may share a folder of backups. */
export function archiveFolder(backups: string, systemIdentifier: string): string {
  return join(resolve(backups), "wal", systemIdentifier);
}

/** The number that tells a cluster, and its copies, from others. */
export async function systemIdentifierOf(data: string): Promise<string> {
  const file = await open(join(data, "global/pg_control"));
  try {
    const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
    return buffer.readBigUInt64LE().toString();
  } finally {
    await file.close();
  }
}

/**
 * Settings by which Postgres stores its write-ahead log, compressed, as soon as a segment is full, or each minute. A
 * segment gets its name when it is safe on the disk, and never replaces another one.
 *
 * @throws {UserError} when the user who runs Postgres can't write there
 */
export async function archiveFlags(
  backups: string,
  data: string,
  user: PostgresUser,
): Promise<Record<string, string>> {
  const folder = archiveFolder(backups, await systemIdentifierOf(data));
  await makeHome(resolve(backups));
  await makeHome(dirname(folder));
  await makeFolder(folder, 0o700);
  await user.own(folder);
  if (!(await user.canReach(folder))) {
    throw new UserError(
      `The user who runs Postgres can't enter ${folder}. Let BACKUP_DIRECTORY name a folder that they can.`,
    );
  }
  // For Postgres, %p is the segment, %f its name, and %% a percent sign
  const quoted = forShell(folder).replaceAll("%", "%%");
  const command =
    `f=${quoted}/%f.gz; if test -e "$f"; then gzip -dc "$f" | cmp -s - '%p'; ` +
    `else gzip -1 -n -c '%p' > "$f.new" && sync "$f.new" && mv "$f.new" "$f" && sync ${quoted}; fi`;
  return { archive_mode: "on", archive_command: command, archive_timeout: String(archiveSeconds) };
}

/** The setting by which Postgres fetches its write-ahead log from such a folder. */
export function restoreCommand(folder: string): string {
  return `gzip -dc ${forShell(folder).replaceAll("%", "%%")}/%f.gz > '%p'`;
}
