import { readdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { isNewFolder } from "./folder.ts";
import { makeHome } from "./place.ts";
import { exists } from "./postgres-user.ts";

/** The content of a new shop: demonstration data, or nothing. */
export type Content = "demo" | "empty";

/** Settings of the folders of the service's own Postgres. */
export interface FolderSettings {
  production: boolean;
  /** The folder for the data of the service's own Postgres. */
  dataDirectory: string;
  /** The folder for its backups. */
  backupDirectory?: string | undefined;
  /** The content of a new folder; required in production. */
  content?: Content | undefined;
}

/** A folder of data that a start may use. */
export interface Folder {
  /** Whether its database still needs demonstration data. */
  wantsDemo: boolean;
  /** Called when the demonstration data are complete. */
  demoIsMade(): Promise<void>;
}

/**
 * Decides on the content of a folder without data, before anything is created there. A marker file exists until the
 * content is complete, so that the next start finishes an interrupted one.
 *
 * @throws {UserError} when no content is given, but the folder may have had data: in production, or if there are backups
 */
export async function openFolder(settings: FolderSettings): Promise<Folder> {
  const { dataDirectory, content } = settings;
  const home = resolve(dataDirectory);
  const markerFile = join(home, "wants-demo");
  const demoIsMade = () => rm(markerFile, { force: true });
  if (!(await isNewFolder(home))) {
    if (content === undefined) return { wantsDemo: await exists(markerFile), demoIsMade };
    throw new UserError(`${home} already has a shop: start without --${content}.`);
  }
  if (content === undefined) await requireNeverUsed(settings);
  const wantsDemo = content !== "empty";
  await makeHome(home);
  if (wantsDemo) await writeFile(markerFile, "");
  else await demoIsMade();
  return { wantsDemo, demoIsMade };
}

async function requireNeverUsed({
  production,
  dataDirectory,
  backupDirectory,
}: FolderSettings): Promise<void> {
  const kept = backupDirectory === undefined ? [] : await readdir(backupDirectory).catch(() => []);
  if (!production && kept.length === 0) return;
  const from = backupDirectory === undefined ? "" : ` --from ${resolve(backupDirectory)}`;
  throw new UserError(
    `There are no data in ${resolve(dataDirectory)}${kept.length > 0 ? `, but ${backupDirectory} has backups` : ""}.
If you expect data there, check whether its disk is mounted, or restore a backup: npx erp restore${from}
For a new shop without data:        npx erp start --empty
For a shop with demonstration data: npx erp start --demo`,
  );
}
