import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { UserError } from "../errors/user-error.ts";
import { placeOf } from "./client.ts";

const run = promisify(execFile);

/** The major version of a program of Postgres; null when it isn't installed. */
async function majorOf(program: string): Promise<number | null> {
  const { stdout } = await run(program, ["--version"]).catch(() => ({ stdout: "" }));
  const [, major] = /\) (\d+)/.exec(stdout) ?? [];
  return major === undefined ? null : Number(major);
}

/**
 * Makes sure that databases of a server can be copied.
 *
 * @param server its major version: pg_dump refuses newer ones than its own
 * @throws {UserError} when Postgres' programs for that are missing or too old
 */
export async function requireDumpPrograms(server: number): Promise<void> {
  const programs = ["pg_dump", "pg_restore"];
  const majors = await Promise.all(programs.map(majorOf));
  if (majors.every((major) => major !== null && major >= server)) return;
  const found = programs.map((name, n) => `${name} is ${majors[n] ?? "missing"}`).join(", ");
  throw new UserError(
    `A database of Postgres ${server} is copied by pg_dump and pg_restore ${server} or newer: ${found}. ` +
      `Install Postgres' client programs (of Debian, postgresql-client-${server}), or put their folder first in PATH.`,
  );
}

/**
 * Copies all that is in a database into an empty one, with the statistics of its planner. Neither is written to disk between.
 *
 * @param from as a superuser
 * @throws {UserError} with what the program that failed has said
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const dump = program("pg_dump", ["--format=custom", "--compress=none", "--statistics"], from);
  const restore = program("pg_restore", ["--exit-on-error"], to);
  // Why it ended, its programs say
  const through = pipeline(dump.child.stdout, restore.child.stdin).catch(() => {});
  const ended = await Promise.allSettled([restore.ended, dump.ended]);
  await through;
  const failed = ended.find((each) => each.status === "rejected");
  if (failed) throw failed.reason;
}

function program(name: string, words: string[], url: string) {
  const place = new URL(url);
  const { password } = place;
  place.password = "";
  // Others can see the words of a process, but not its variables
  const env = { ...process.env, PGPASSWORD: decodeURIComponent(password) };
  const child = spawn(name, [...words, `--dbname=${place.href}`], { env, stdio: "pipe" });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-2_000)));
  child.stdin.on("error", () => {});
  const ended = once(child, "close").then(([code]) => {
    if (code !== 0) throw new UserError(`${name} at ${placeOf(url)} failed: ${said.trim() || code}`);
  });
  ended.catch(() => {});
  return { child, ended };
}
