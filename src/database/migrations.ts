import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { UserError } from "../user-error.ts";
import { asRole } from "./roles.ts";

const root = new URL("../../", import.meta.url);
const current = new URL("db/current/", root);

/**
 * Starts a command of graphile-migrate in a process of its own: it ends the whole process when it loses a connection,
 * which the service must not.
 */
function graphileMigrate(adminUrl: string, args: string[], stdio: "pipe" | "inherit"): ChildProcess {
  const program = fileURLToPath(import.meta.resolve("graphile-migrate/dist/cli.js"));
  const database = new URL(adminUrl).pathname.slice(1);
  const besides = (name: string) => Object.assign(new URL(patient(adminUrl)), { pathname: `/${name}` }).href;
  return spawn(process.execPath, [program, ...args], {
    cwd: fileURLToPath(root),
    stdio: ["ignore", stdio, stdio],
    env: {
      ...process.env,
      DATABASE_URL: patient(adminUrl),
      SHADOW_DATABASE_URL: besides(`${database}_shadow`),
      ROOT_DATABASE_URL: Object.assign(new URL(adminUrl), { pathname: "/template1" }).href,
    },
  });
}

/** As the owner, for as long as it takes: limits that the role or the database has are meant for requests. */
const patient = (adminUrl: string) =>
  asRole(adminUrl, "service_owner", { statement_timeout: "0", idle_in_transaction_session_timeout: "0" });

async function run(adminUrl: string, ...args: string[]): Promise<void> {
  const child = graphileMigrate(adminUrl, args, "pipe");
  let output = "";
  const collect = (chunk: Buffer) => void (output += chunk.toString());
  child.stdout!.on("data", collect);
  child.stderr!.on("data", collect);
  const [code] = await once(child, "close");
  if (code !== 0)
    throw new UserError(`graphile-migrate ${args.join(" ")} failed:\n${withoutStack(output).trim()}`);
}

/** What graphile-migrate says, without the places in its code. */
function withoutStack(output: string): string {
  return output.replace(/^ +at .*\n?/gm, "");
}

/** Runs the committed migrations that the database doesn't have yet. */
export function migrateDatabase(adminUrl: string): Promise<void> {
  return run(adminUrl, "migrate");
}

/** Runs the migration in db/current once, as development does. */
export function runCurrentMigration(adminUrl: string): Promise<void> {
  return run(adminUrl, "watch", "--once");
}

/**
 * Turns db/current into a committed migration, which it first tries on a shadow database, made anew for it.
 *
 * @param message becomes part of the file's name
 */
export async function commitMigration(adminUrl: string, message: string): Promise<void> {
  const before = await readCurrent();
  try {
    await run(adminUrl, "commit", "--message", message);
  } catch (error) {
    // A commit that fails leaves included fixtures in place of their names, which no later run accepts
    await Promise.all([...before].map(([name, text]) => writeFile(new URL(name, current), text)));
    throw error;
  }
}

/** The files of db/current. */
async function readCurrent(): Promise<Map<string, string>> {
  const names = (await readdir(current).catch(() => [])).filter((name) => name.endsWith(".sql"));
  return new Map(
    await Promise.all(
      names.map(async (name): Promise<[string, string]> => [
        name,
        await readFile(new URL(name, current), "utf8"),
      ]),
    ),
  );
}

/** Brings the newest committed migration back into db/current. */
export function uncommitMigration(adminUrl: string): Promise<void> {
  return run(adminUrl, "uncommit");
}

/** Whether there is a migration in db/current that isn't committed yet. */
export async function hasCurrentMigration(): Promise<boolean> {
  const texts = [...(await readCurrent()).values()];
  const isStatement = (line: string) => line.startsWith("--!include") || !/^\s*(--.*)?$/.test(line);
  return texts.some((text) => text.split("\n").some(isStatement));
}

/**
 * Runs db/current now and whenever it or a fixture changes, and shows what happens, until it is stopped.
 *
 * @param onMigrated called after each run that succeeded
 * @returns stops watching
 */
export function watchCurrentMigration(adminUrl: string, onMigrated: () => void): () => void {
  const child = graphileMigrate(adminUrl, ["watch"], "pipe");
  const show = (chunk: Buffer) => {
    process.stderr.write(withoutStack(chunk.toString()));
    if (/: Finished \(/.test(chunk.toString())) onMigrated();
  };
  child.stdout!.on("data", show);
  child.stderr!.on("data", show);
  return () => void child.kill("SIGTERM");
}

/**
 * Refuses a database that the migrations of this code have not all reached.
 *
 * @throws {UserError} naming the command that brings it up
 */
export async function requireMigrated(client: pg.ClientBase): Promise<void> {
  const command = "Run `DATABASE_URL=<an administrator's URL> npm run db:setup` first.";
  const { rows: found } = await client.query(
    "select to_regproc('api_meta.migration_count') is not null as ready",
  );
  if (!found[0].ready) throw new UserError(`This database has not been set up. ${command}`);
  const { rows } = await client.query<{ count: number }>("select api_meta.migration_count() as count");
  const wanted = await migrationsWanted();
  if (rows[0]!.count < wanted) {
    throw new UserError(`This database has had ${rows[0]!.count} of ${wanted} migrations. ${command}`);
  }
}

let wantedCount: Promise<number> | undefined;

/** How many migrations this code needs: those of db/committed when it was first asked. */
export function migrationsWanted(): Promise<number> {
  return (wantedCount ??= readdir(new URL("db/committed/", root))
    .catch(() => [])
    .then((names) => names.filter((name) => /^\d+.*\.sql$/.test(name)).length));
}
