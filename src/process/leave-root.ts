import { execFile } from "node:child_process";
import { flushCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { idsOf } from "../database/cluster/postgres-user.ts";
import type { Identity } from "../database/cluster/postgres-user.ts";

const run = promisify(execFile);

/** Who serves when nobody else is named, and no Postgres of our own runs as somebody. */
const defaultUser = "nobody";

/** Some of what a process reads while it serves: where one of its kind can't be read, others can't either. */
const needed = [
  ...["../commands/start.ts", "../pdf/render.ts", "../../plugins/index.ts", "../../db/roles.sql"],
  "../../node_modules/pg/package.json",
].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** As whom a process serves that root has started. */
export interface Successor {
  /** Null when it stays what it is. */
  identity: Identity | null;
  /** What the operator should hear about. */
  warning: string | null;
}

/**
 * Finds out as whom to serve. Root needs nothing but to open a low port and to start Postgres as somebody else; what comes
 * from clients is none of its business.
 *
 * @param runAs name of a user, or `root` to stay it; undefined for the usual one
 * @param ofPostgres who runs the service's own Postgres: only as them it can be started again
 * @throws {UserError} when there is no such user
 */
export async function successorOfRoot(
  runAs: string | undefined,
  ofPostgres: Identity | null,
): Promise<Successor> {
  if (process.getuid?.() !== 0 || runAs === "root") return { identity: null, warning: null };
  const identity = ofPostgres ?? (await idsOf(runAs ?? defaultUser));
  const unreadable = await firstUnreadable(identity);
  if (unreadable === null) return { identity, warning: null };
  return {
    identity: null,
    warning: `The service goes on as root, for the user ${identity.uid} may not read ${unreadable}. Put the project where everybody may read it, or set RUN_AS to a user who may.`,
  };
}

/** What a user can't read of what is needed; null when that is nothing. */
async function firstUnreadable({ uid, gid }: Identity): Promise<string | null> {
  const script = 'for file; do test -r "$file" || { echo "$file"; exit 0; }; done';
  const options = { uid, gid, cwd: "/" };
  const { stdout } = await run("/bin/sh", ["-c", script, "sh", process.execPath, ...needed], options);
  return stdout.trim() || null;
}

/** Gives root up, for good. What is open stays open. */
export function become({ uid, gid }: Identity): void {
  // Afterwards there may be no right to write it
  flushCompileCache();
  process.setgroups!([gid]);
  process.setgid!(gid);
  process.setuid!(uid);
}
