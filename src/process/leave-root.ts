import { execFile } from "node:child_process";
import { flushCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { lookUpUser } from "../cluster/postgres-user.ts";
import type { Identity } from "../cluster/postgres-user.ts";

const run = promisify(execFile);

/** The user who runs the service if none is set and the service has no Postgres of its own. */
const defaultUser = "nobody";

/** A sample of the files that a process reads while it serves: if one is unreadable, others like it are too. */
const neededFiles = [
  ...["../commands/start.ts", "../pdf/render-pdf.ts", "../../plugins/index.ts", "../../db/roles.sql"],
  "../../node_modules/pg/package.json",
].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/**
 * Finds the user who runs the service after its start as root. Root is needed only to open a low port and to start
 * Postgres as another user; clients' requests must not run as root.
 *
 * @param runAs name of a user, or `root` to stay root; undefined for the default
 * @param postgresUser the user who runs the service's own Postgres: only this user can restart it
 * @returns the user, or null to keep the present one; and a warning for the operator
 * @throws {UserError} when there is no such user
 */
export async function chooseUser(
  runAs: string | undefined,
  postgresUser: Identity | null,
): Promise<{ identity: Identity | null; warning: string | null }> {
  if (process.getuid?.() !== 0 || runAs === "root") return { identity: null, warning: null };
  const identity = postgresUser ?? (await lookUpUser(runAs ?? defaultUser));
  const unreadable = await firstUnreadable(identity);
  if (unreadable === null) return { identity, warning: null };
  return {
    identity: null,
    warning: `The service continues as root, because the user ${identity.uid} may not read ${unreadable}. Move the project to a place that this user may read, or set RUN_AS to a user who may read it.`,
  };
}

/** Returns a needed file that a user can't read; null if there is none. */
async function firstUnreadable({ uid, gid }: Identity): Promise<string | null> {
  const script = 'for file; do test -r "$file" || { echo "$file"; exit 0; }; done';
  const options = { uid, gid, cwd: "/" };
  const { stdout } = await run("/bin/sh", ["-c", script, "sh", process.execPath, ...neededFiles], options);
  return stdout.trim() || null;
}

/** Becomes another user, for good. Open files and ports stay open. */
export function switchUser({ uid, gid }: Identity): void {
  // The new user may not be able to write the cache
  flushCompileCache();
  process.setgroups!([gid]);
  process.setgid!(gid);
  process.setuid!(uid);
}
