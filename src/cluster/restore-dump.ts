import { realpath, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { withClient } from "../postgres/client.ts";
import { requireDumpPrograms, restoreFile } from "./pg-dump.ts";
import { startCluster } from "./cluster.ts";
import { isNewFolder } from "./folder.ts";
import { openPlace } from "./place.ts";
import { ensureRoles } from "../postgres/roles.ts";

export interface DumpOptions {
  /** A file of `pg_dump --format=custom`. */
  from: string;
  /** The folder of the new cluster. */
  directory: string;
  /** The name of the database. */
  database: string;
  runAs?: string | undefined;
}

/**
 * Creates a cluster from a dump, which may come from an older major version of Postgres. The next start sets it up.
 *
 * @throws {UserError} when it fails; the new cluster is then removed
 */
export async function restoreDump({ from, directory, database, runAs }: DumpOptions): Promise<void> {
  if (!(await isNewFolder(directory)))
    throw new UserError(`${resolve(directory)} has data. Restore to another folder, or move the data away.`);
  const { major, data } = await openPlace(directory, runAs);
  await requireDumpPrograms(Number(major), []);
  try {
    const cluster = await startCluster({ directory, runAs });
    try {
      await withClient(cluster.adminUrl("postgres"), async (admin) => {
        await ensureRoles(admin);
        await admin.query(`create database ${database}`);
      });
      await restoreFile(resolve(from), cluster.adminUrl(database));
    } finally {
      await cluster.stop();
    }
  } catch (error) {
    for (const path of [await realpath(data).catch(() => data), data, ...companionFiles(directory)])
      await rm(path, { recursive: true, force: true });
    throw error;
  }
}

const companionFiles = (directory: string) =>
  ["password", "port"].map((name) => join(resolve(directory), name));
