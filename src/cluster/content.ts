import { readdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { isNewFolder } from "./folder.ts";
import { makeHome } from "./place.ts";
import { exists } from "./postgres-user.ts";

/** Content of a new shop: demonstration data, or nothing. */
export type Content = "demo" | "empty";

/** Settings of the service's own Postgres that concern its folders. */
export interface FolderSettings {
  production: boolean;
  /** The folder for the data of the service's own Postgres. */
  dataDirectory: string;
  /** A folder for its backups. */
  backupDirectory?: string | undefined;
  /** Content of a new folder; production has to name it. */
  content?: Content | undefined;
}

/** A folder of data that a start may use. */
export interface Folder {
  /** Whether its database still needs demonstration data. */
  wantsDemo: boolean;
  /** Called when it has them. */
  demoIsMade(): Promise<void>;
}

/**
 * Decides what a folder gets that has no data, before anything is made there. A file says it until it is done, so that
 * a start that was broken off is finished by the next one.
 *
 * @throws {UserError} when nobody said it though it may have had data: in production, or where there are backups
 */
export async function openFolder(settings: FolderSettings): Promise<Folder> {
  const { dataDirectory, content } = settings;
  const home = resolve(dataDirectory);
  const mark = join(home, "wants-demo");
  const demoIsMade = () => rm(mark, { force: true });
  if (!(await isNewFolder(home))) {
    if (content === undefined) return { wantsDemo: await exists(mark), demoIsMade };
    throw new UserError(`${home} has a shop already: start without --${content}.`);
  }
  if (content === undefined) await requireNeverUsed(settings);
  const wantsDemo = content !== "empty";
  await makeHome(home);
  if (wantsDemo) await writeFile(mark, "");
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
  const from = backupDirectory === undefined ? "" : ` -- --from ${resolve(backupDirectory)}`;
  throw new UserError(
    `There are no data in ${resolve(dataDirectory)}${kept.length > 0 ? `, though ${backupDirectory} has backups` : ""}.
Should there be some, see whether its disk is mounted, or restore a backup: npm run restore${from}
For a new shop without data:       npm start -- --empty
For one with demonstration data:   npm start -- --demo`,
  );
}
