import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import {
  calculateHash,
  compileIncludes,
  getAllMigrations,
} from "../../src/migrations/graphile-migrate-private.ts";
import type { FileMigration, ParsedSettings } from "../../src/migrations/graphile-migrate-private.ts";
import { countCommitted } from "../../src/migrations/migration-files.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { startCommand, temporaryFolder } from "./process.ts";
import type { CommandProcess } from "./process.ts";

type Migrations = typeof import("../../src/migrations/migrations.ts");

const execute = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));

const compiled = join(root, ".data/test/compiled-copies");

/** A copy of the project, for tests of commands that write into it. */
export class Project {
  readonly path: string;
  readonly #remove: () => Promise<void>;

  private constructor(path: string, remove: () => Promise<void>) {
    this.path = path;
    this.#remove = remove;
  }

  /** @param versions the versions that its service serves: the head alone takes half of the time to start */
  static async copy({ versions = "all" }: { versions?: "all" | "head" } = {}): Promise<Project> {
    const folder = await temporaryFolder();
    const parts = ["db", "plugins", "schema", "src", ".gmrc.js", "package.json"];
    // A tenth of the time that Node's `cp` takes
    await execute("cp", ["-R", ...parts.map((part) => join(root, part)), folder.path]);
    // The menu of pages
    await mkdir(join(folder.path, "docs"));
    await copyFile(join(root, "docs/README.md"), join(folder.path, "docs/README.md"));
    await symlink(join(root, "node_modules"), join(folder.path, "node_modules"));
    await mkdir(compiled, { recursive: true });
    await symlink(compiled, join(folder.path, ".compiled"));
    const project = new Project(folder.path, folder.remove);
    if (versions === "head")
      await project.write("src/versions/versions.json", JSON.stringify([{ slug: "unstable" }]));
    return project;
  }

  remove(): Promise<void> {
    return this.#remove();
  }

  /** Settings by which Node finds what it has compiled of another copy: by paths that are the same from a link in each. */
  get compileCache(): Record<string, string> {
    return { NODE_COMPILE_CACHE: join(this.path, ".compiled"), NODE_COMPILE_CACHE_PORTABLE: "1" };
  }

  /** A module of the copy, such as the one that runs its migrations. */
  import<T>(file: string): Promise<T> {
    return import(pathToFileURL(join(this.path, file)).href) as Promise<T>;
  }

  /** A database with its committed migrations. */
  async database(): Promise<TestDatabase> {
    const database = await openTestDatabase("template_committed");
    // It takes long to load
    if ((await this.migrations()).length === (await countCommitted())) return database;
    const { migrateDatabase } = await this.import<Migrations>("src/migrations/migrations.ts");
    await migrateDatabase(database.adminUrl);
    return database;
  }

  read(file: string): Promise<string> {
    return readFile(join(this.path, file), "utf8");
  }

  write(file: string, text: string): Promise<void> {
    return writeFile(join(this.path, file), text);
  }

  async list(folder: string): Promise<string[]> {
    return (await readdir(join(this.path, folder))).sort();
  }

  /** Starts one of its commands. */
  start(command: string[], settings: Record<string, string> = {}): CommandProcess {
    const own = { DATA_DIRECTORY: join(this.path, ".data"), ...this.compileCache };
    return startCommand(command, { ...own, ...settings }, this.path);
  }

  /** Runs one of its commands to its end. */
  async run(command: string[], settings?: Record<string, string>) {
    const process = this.start(command, settings);
    const code = await process.ended;
    return { code, output: process.output() };
  }

  /** Its committed migrations. */
  migrations(): Promise<FileMigration[]> {
    return getAllMigrations({ migrationsFolder: join(this.path, "db") } as ParsedSettings);
  }

  /** Commits a migration without trying it. */
  async commit(name: string, text: string): Promise<void> {
    const all = await this.migrations();
    const previous = all.at(-1)!;
    const settings = { migrationsFolder: join(this.path, "db") } as ParsedSettings;
    const body = (await compileIncludes(settings, text, new Set())).trim() + "\n";
    const file = `${String(all.length + 1).padStart(6, "0")}-${name}.sql`;
    const header = `--! Previous: ${previous.hash}\n--! Hash: ${calculateHash(body, previous.hash)}`;
    await this.write(`db/committed/${file}`, `${header}\n\n${body}`);
  }

  /** Takes back the newest committed migrations. */
  async uncommit(count = 1): Promise<void> {
    for (const { fullPath } of (await this.migrations()).slice(-count)) {
      await chmod(fullPath, 0o644);
      await rm(fullPath);
    }
  }

  /** Commits each file of db/current as a separate migration, as before a release. */
  async commitCurrent(): Promise<void> {
    const files = (await this.list("db/current")).toSorted((a, b) => Number.parseInt(a) - Number.parseInt(b));
    for (const file of files) {
      const text = await this.read(`db/current/${file}`);
      await rm(join(this.path, "db/current", file));
      if (/^(?!--(?!!include)|\s*$)/m.test(text)) await this.commit(file.replace(/^\d+-|\.sql$/g, ""), text);
    }
    await this.write("db/current/1-current.sql", "-- Enter migration here\n");
  }
}
