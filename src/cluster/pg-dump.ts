import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { UserError } from "../errors/user-error.ts";
import { formatAddress } from "../postgres/client.ts";

const run = promisify(execFile);

/** Returns the major version of a Postgres program; null when it isn't installed. */
async function readMajorVersion(program: string): Promise<number | null> {
  const { stdout } = await run(program, ["--version"]).catch(() => ({ stdout: "" }));
  const [, major] = /\) (\d+)/.exec(stdout) ?? [];
  return major === undefined ? null : Number(major);
}

/**
 * Makes sure that databases of a server can be copied.
 *
 * @param server the server's major version: pg_dump refuses newer servers than itself
 * @param urls the URLs of the databases
 * @throws {UserError} when pg_dump or pg_restore is missing or too old, or doesn't understand a URL
 */
export async function requireDumpPrograms(server: number, urls: readonly string[]): Promise<void> {
  urls.forEach(toLibpqUrl);
  const programs = ["pg_dump", "pg_restore"];
  const majors = await Promise.all(programs.map(readMajorVersion));
  if (majors.every((major) => major !== null && major >= server)) return;
  const found = programs.map((name, n) => `${name} is ${majors[n] ?? "missing"}`).join(", ");
  throw new UserError(
    `Copying a database of Postgres ${server} requires pg_dump and pg_restore ${server} or newer: ${found}. ` +
      `Install Postgres' client programs (on Debian, postgresql-client-${server}), or put their folder first in PATH.`,
  );
}

/**
 * Copies a database into an empty one, with the planner's statistics. Nothing is written to disk in between.
 *
 * @param from the URL of the database, as superuser
 * @throws {UserError} with the error message of the program that failed
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const dump = startProgram("pg_dump", ["--format=custom", "--compress=none", "--statistics"], from);
  const restore = startProgram("pg_restore", ["--exit-on-error"], to);
  // The programs report why the pipeline failed
  const through = pipeline(dump.child.stdout, restore.child.stdin).catch(() => {});
  const ended = await Promise.allSettled([dump.ended, restore.ended]);
  await through;
  // When one fails, the other fails too
  const failed = ended.flatMap((each) => (each.status === "rejected" ? [each.reason as Error] : []));
  if (failed.length > 0) throw new UserError(failed.map(({ message }) => message).join("\n"));
}

/**
 * Restores a dump by pg_dump into an empty database.
 *
 * @param url the URL of the database, as superuser
 * @throws {UserError} with pg_restore's error message
 */
export async function restoreFile(file: string, url: string): Promise<void> {
  const restore = startProgram("pg_restore", ["--exit-on-error", file], url);
  restore.child.stdin.end();
  await restore.ended;
}

/** Parameters of a URL that both node-postgres and Postgres' programs know. */
const knownParameters = [
  "application_name",
  "channel_binding",
  "connect_timeout",
  "host",
  "options",
  "port",
  "sslcert",
  "sslkey",
  "sslmode",
  "sslrootcert",
  "target_session_attrs",
  "user",
];

/**
 * Translates a URL of node-postgres for Postgres' programs, which check certificates less strictly with the same parameters.
 *
 * @returns the URL without the password, because other users can see a process's arguments, and environment variables, which they can't see
 * @throws {UserError} when Postgres' programs have no such parameter
 */
export function toLibpqUrl(url: string): { url: string; env: Record<string, string> } {
  const place = new URL(url);
  const given = place.searchParams;
  const password = given.get("password") ?? decodeURIComponent(place.password);
  place.password = "";
  given.delete("password");
  const isLikePrograms = given.get("uselibpqcompat") === "true";
  given.delete("uselibpqcompat");
  const unknown = [...given.keys()].find((key) => !knownParameters.includes(key));
  if (unknown !== undefined)
    throw new UserError(
      `pg_dump and pg_restore don't take “${unknown}” in the URL of ${formatAddress(url)}.`,
    );
  const hasFiles = ["sslcert", "sslkey", "sslrootcert"].some((key) => given.has(key));
  const mode = given.get("sslmode") ?? (hasFiles ? "verify-full" : process.env.PGSSLMODE);
  if (mode !== undefined) given.set("sslmode", toLibpqMode(mode, isLikePrograms, url));
  if (given.get("sslmode") === "verify-full" && !given.has("sslrootcert")) given.set("sslrootcert", "system");
  // These programs don't decode + as a space
  place.search = place.search.replaceAll("+", "%20");
  return { url: place.href, env: password === "" ? {} : { PGPASSWORD: password } };
}

function toLibpqMode(mode: string, isLikePrograms: boolean, url: string): string {
  if (mode === "disable") return mode;
  if (mode === "no-verify" && !isLikePrograms) return "require";
  if (["prefer", "require", "verify-ca", "verify-full"].includes(mode))
    return isLikePrograms ? mode : "verify-full";
  throw new UserError(`pg_dump and pg_restore don't take the sslmode “${mode}” of ${formatAddress(url)}.`);
}

function startProgram(name: string, words: string[], url: string) {
  const { url: place, env } = toLibpqUrl(url);
  // Never prompts for a password while locks are held
  const child = spawn(name, [...words, "--no-password", `--dbname=${place}`], {
    env: { ...process.env, ...env },
    stdio: "pipe",
  });
  let errorOutput = "";
  child.stderr
    .setEncoding("utf8")
    .on("data", (text: string) => (errorOutput = (errorOutput + text).slice(-2_000)));
  child.stdin.on("error", () => {});
  const ended = once(child, "close").then(([code, signal]) => {
    if (code !== 0)
      throw new UserError(
        `${name} at ${formatAddress(url)} failed: ${errorOutput.trim() || (signal ?? code)}`,
      );
  });
  ended.catch(() => {});
  return { child, ended };
}
