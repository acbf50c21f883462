import { randomUUID } from "node:crypto";
import pg from "pg";
import { calculateHash } from "graphile-migrate/dist/hash.js";
import type { FileMigration } from "graphile-migrate/dist/migration.js";
import {
  _migrateMigrationSchema,
  compilePlaceholders,
  getLastMigration,
  getMigrationsAfter,
  runStringMigration,
} from "graphile-migrate/dist/migration.js";
import type { ParsedSettings } from "graphile-migrate/dist/settings.js";
import { parseSettings } from "graphile-migrate/dist/settings.js";
import { UserError } from "../../errors/user-error.ts";
import { withClient } from "../client.ts";
import { migrationFailure } from "./migration-failure.ts";
import type { CurrentFile } from "./migration-files.ts";
import {
  compiled,
  hasStatements,
  isWithoutTransaction,
  joinedFiles,
  migrationsFolder,
  namesOf,
  readCurrent,
} from "./migration-files.ts";
import { requireSameMigrations } from "./migration-history.ts";
import type { LockLimits } from "./retry-locked.ts";
import { defaultLockLimits, LockObserver, retryLocked } from "./retry-locked.ts";
import { urlAsRole } from "../roles.ts";

export interface MigrateOptions {
  locks?: LockLimits;
  /** Called with a line whenever a migration waits for locks. */
  onWait?: (line: string) => void;
  /** How many committed migrations the database is to have; all when not given. */
  upTo?: number;
}

/** The lock of running migrations; graphile-migrate takes it too. */
const lockOfMigrations = "4727445306447283";
/** Milliseconds between reports about a migration that waits without limit. */
const tellEveryMs = 10_000;

// Each migration brings its own finish_migration, so a database without that migration has the older one
const finish = `do $finish$ begin
  if to_regprocedure('api_meta.finish_migration()') is not null then perform api_meta.finish_migration();
  elsif to_regprocedure('api_meta.derive()') is not null then perform api_meta.derive(); end if;
end $finish$;`;

/** Runs migrations on one connection: each in a transaction, and again while others hold locks that it needs. */
export class Migrator {
  /** graphile-migrate wants one of a pool, and uses it as any other connection. */
  readonly #client: pg.PoolClient;
  readonly #settings: ParsedSettings;
  readonly #locks: LockLimits;
  readonly #observer: LockObserver;
  readonly #upTo: number;
  readonly #onWait: (line: string) => void;

  private constructor(
    client: pg.Client,
    settings: ParsedSettings,
    observer: LockObserver,
    options: MigrateOptions,
  ) {
    this.#client = client as unknown as pg.PoolClient;
    this.#settings = settings;
    this.#observer = observer;
    this.#locks = options.locks ?? defaultLockLimits;
    this.#upTo = options.upTo ?? Infinity;
    this.#onWait = options.onWait ?? (() => {});
  }

  /** @param adminUrl the database, with a role that may become its owner */
  static async with<T>(
    adminUrl: string,
    options: MigrateOptions,
    work: (migrator: Migrator) => Promise<T>,
  ): Promise<T> {
    const { lockTimeoutMs } = options.locks ?? defaultLockLimits;
    const application = `migration ${randomUUID()}`;
    const url = migratingUrl(adminUrl, application, lockTimeoutMs);
    const settings = await parseSettings({
      connectionString: url,
      migrationsFolder,
      databaseOwner: "service_owner",
    });
    return withClient(url, async (client) => {
      await requireSameMigrations(client);
      const observer = new LockObserver(adminUrl, application, lockTimeoutMs);
      try {
        return await new Migrator(client, settings, observer, options).#alone(work);
      } finally {
        await observer.close();
      }
    });
  }

  /** Runs the committed migrations that the database doesn't have yet. */
  async runCommitted(): Promise<void> {
    await this.#retry("Looking for new migrations", () =>
      _migrateMigrationSchema(this.#client, this.#settings),
    );
    const last = await getLastMigration(this.#client, this.#settings);
    const after = await getMigrationsAfter(this.#settings, last);
    const wanted = after.filter(({ filename }) => Number.parseInt(filename) <= this.#upTo);
    for (const migration of wanted) {
      requireUntouched(migration);
      await this.#run(migration.realFilename, migration.body, () =>
        runStringMigration(
          this.#client,
          this.#settings,
          this.#context,
          migration.body,
          migration.filename,
          migration,
        ),
      );
    }
    // db/current comes after them, so it must run again
    if (wanted.length > 0) await this.#client.query("delete from graphile_migrate.current");
  }

  /**
   * Runs db/current, unless it was what ran last.
   *
   * @param current its files; by default all
   * @returns whether it was run
   */
  async runCurrent(current?: readonly CurrentFile[]): Promise<boolean> {
    const files = (current ?? (await readCurrent())).filter(hasStatements);
    const text = compilePlaceholders(this.#settings, await compiled(joinedFiles(files), this.#settings));
    const { rows } = await this.#client.query<{ content: string }>(
      "select content from graphile_migrate.current where filename = 'current.sql'",
    );
    if (rows[0]?.content === text) return false;
    const isInTransaction = !isWithoutTransaction(text);
    const note = `insert into graphile_migrate.current (content) values (${pg.escapeLiteral(text)})
      on conflict (filename) do update set content = excluded.content, date = excluded.date;`;
    const end = files.length > 0 ? `${finish}\n${note}` : note;
    await this.#run(`db/current (${namesOf(files)})`, text, async () => {
      const run = (sql: string) =>
        runStringMigration(this.#client, this.#settings, this.#context, sql, "current.sql");
      if (isInTransaction) await run(`${text}\n${end}`);
      else {
        await run(text);
        await run(end);
      }
    });
    return true;
  }

  get #context() {
    return { database: String(this.#settings.databaseName) };
  }

  /** Migrations run one after the other, also those of other processes. */
  async #alone<T>(work: (migrator: Migrator) => Promise<T>): Promise<T> {
    await this.#retry("Another process migrates: this one", () =>
      this.#client.query("select pg_advisory_lock($1)", [lockOfMigrations]),
    );
    return work(this);
  }

  async #run(name: string, text: string, work: () => Promise<unknown>): Promise<void> {
    const mayWait = isWithoutTransaction(text) && /\bconcurrently\b/i.test(text);
    try {
      await this.#retry(name, () => (mayWait ? this.#withoutLimit(name, work) : work()));
    } catch (error) {
      throw migrationFailure(error as Error, name, text);
    }
  }

  /**
   * `concurrently` waits for older transactions and holds up none meanwhile, but leaves an invalid index when it is
   * interrupted.
   */
  async #withoutLimit(name: string, work: () => Promise<unknown>): Promise<void> {
    const tell = () => {
      if (this.#observer.holders() !== "")
        this.#onWait(`${name} waits for a lock${this.#observer.holders()}.`);
    };
    const telling = setInterval(tell, tellEveryMs);
    try {
      await this.#client.query("set lock_timeout = 0");
      await work();
    } finally {
      clearInterval(telling);
      await this.#client.query("reset lock_timeout");
    }
  }

  #retry<T>(name: string, work: () => Promise<T>): Promise<T> {
    const holders = () => this.#observer.holders();
    return retryLocked(work, { name, holders, onWait: this.#onWait, ...this.#locks });
  }
}

/** The database as its owner, with a limit on waiting for locks, and an application_name. */
export function migratingUrl(adminUrl: string, application: string, lockTimeoutMs: number): string {
  // No limit: those of the role or the database are meant for requests
  const noTimeouts = { statement_timeout: "0", idle_in_transaction_session_timeout: "0" };
  const url = new URL(
    urlAsRole(adminUrl, "service_owner", { ...noTimeouts, lock_timeout: String(lockTimeoutMs) }),
  );
  url.searchParams.set("application_name", application);
  return url.href;
}

/** @throws {UserError} when a committed migration was changed */
function requireUntouched({ body, previousHash, hash, allowInvalidHash, realFilename }: FileMigration): void {
  if (allowInvalidHash || calculateHash(body, previousHash) === hash) return;
  throw new UserError(
    `db/committed/${realFilename} has been changed since it was committed. Take the change back.`,
  );
}
