import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import pg from "pg";
import { afterBackfills } from "./backfills.ts";
import { connect } from "../postgres/client.ts";
import {
  compilePlaceholders,
  getLastMigration,
  getMigrationsAfter,
  parseSettings,
} from "./graphile-migrate-private.ts";
import type { ParsedSettings } from "./graphile-migrate-private.ts";
import type { CurrentOptions, MigrateOptions, Rehearsal } from "./migrate-options.ts";
import { explainFailures, runStatements } from "./migration-failure.ts";
import {
  compileMigration,
  hasStatements,
  isWithoutTransaction,
  joinFiles,
  migrationsFolder,
  joinNames,
  readCurrent,
  requireUntouched,
  splitFiles,
  type CurrentFile,
  removeBlankFiles,
} from "./migration-files.ts";
import {
  readCurrentContent,
  recordCommitted,
  recordUnfinished,
  recordCurrent,
  readDatabaseOid,
  requireSameMigrations,
  readMigrationState,
} from "./migration-history.ts";
import type { LockRetryOptions } from "./retry-locked.ts";
import { defaultLockLimits, LockObserver, retryLocked, withoutLockTimeout } from "./retry-locked.ts";
import { migrationLock } from "./being-migrated.ts";
import { toMigrationUrl } from "../postgres/roles.ts";

/** Ends a migration that isn't committed. */
const finish = readFileSync(new URL("../../db/finish.sql", import.meta.url), "utf8");

type Step = () => Promise<unknown> | undefined;

/** Runs migrations on one connection: each in a transaction, again while others hold the locks that it needs. */
export class Migrator {
  /** Settles when the connection has ended. */
  readonly ended: Promise<void>;
  /** graphile-migrate wants one of a pool, and uses it like any other. */
  readonly #client: pg.PoolClient;
  readonly #settings: ParsedSettings;
  readonly #locks: LockRetryOptions;
  readonly #upTo: number;
  readonly #onWait: (line: string) => void;
  readonly #observe: () => LockObserver;
  #observer: LockObserver | null = null;

  private constructor(
    client: pg.Client,
    settings: ParsedSettings,
    observe: () => LockObserver,
    options: MigrateOptions,
  ) {
    this.#client = client as unknown as pg.PoolClient;
    this.ended = new Promise((done) => client.once("end", done));
    this.#settings = settings;
    this.#observe = observe;
    this.#locks = options.locks ?? defaultLockLimits;
    this.#upTo = options.upTo ?? Infinity;
    this.#onWait = options.onWait ?? (() => {});
  }

  /**
   * Connects.
   *
   * @param adminUrl the database, as a role that may become its owner
   */
  static async open(adminUrl: string, options: MigrateOptions): Promise<Migrator> {
    const { lockTimeoutMs } = options.locks ?? defaultLockLimits;
    const application = `migration ${randomUUID()}`;
    const url = toMigrationUrl(adminUrl, application, lockTimeoutMs);
    const settings = await parseSettings({
      connectionString: url,
      migrationsFolder,
      databaseOwner: "service_owner",
    });
    const client = await connect(url);
    try {
      // When this process is killed, its statement ends as well, and another can begin. Not every system can tell
      await client.query("set client_connection_check_interval = '2s'").catch(() => {});
      await requireSameMigrations(client);
    } catch (error) {
      await client.end();
      throw error;
    }
    const observe = () => new LockObserver(adminUrl, application, lockTimeoutMs);
    return new Migrator(client, settings, observe, options);
  }

  /** Works while no other process migrates. */
  async withLock<T>(work: (migrator: Migrator) => Promise<T>): Promise<T> {
    this.#observer = this.#observe();
    try {
      const lock = () => this.#client.query("select pg_advisory_lock($1)", [migrationLock]);
      // However long that takes: waiting holds up nobody
      await this.#retry("Another process migrates: this one", lock, Infinity);
      try {
        return await work(this);
      } finally {
        await this.#client.query("select pg_advisory_unlock($1)", [migrationLock]).catch(() => {});
      }
    } finally {
      await this.#observer.close();
    }
  }

  close(): Promise<void> {
    return (this.#client as unknown as pg.Client).end();
  }

  /** Identifies the database: another one of the same name has another number. */
  readDatabaseOid = (): Promise<number> => readDatabaseOid(this.#client);

  /** The same text for databases that have had the same migrations, and the same db/current. */
  state(): Promise<string> {
    return readMigrationState(this.#client);
  }

  /** The files of db/current that were run last, by any program, with their fixtures in them. */
  async readLastRun(): Promise<CurrentFile[]> {
    return splitFiles((await readCurrentContent(this.#client)) ?? "");
  }

  /** Runs the committed migrations that the database doesn't have yet. */
  async runCommitted(): Promise<void> {
    const last = await this.#retry("Looking for new migrations", () =>
      getLastMigration(this.#client, this.#settings),
    );
    const after = await getMigrationsAfter(this.#settings, last);
    const wanted = after.filter(({ filename }) => Number.parseInt(filename) <= this.#upTo);
    // Nobody has used a new database, so what follows from its migrations is derived once, at the end
    const isNew = last === null;
    for (const migration of wanted) {
      await requireUntouched(migration);
      const text = compilePlaceholders(this.#settings, migration.body);
      const note = isNew && migration !== wanted.at(-1) ? recordUnfinished : recordCommitted;
      await this.#run(migration.realFilename, text, () => note(this.#client, migration));
    }
    // db/current comes after them, so it must run again
    if (wanted.length > 0) await this.#client.query("delete from graphile_migrate.current");
  }

  /**
   * Runs db/current, unless it was what ran last.
   *
   * @returns its files that do something, and whether they have been run
   */
  async runCurrent({ files: given, rehearsal, shadow }: CurrentOptions = {}): Promise<{
    files: string[];
    isNew: boolean;
  }> {
    const files = (given ?? (await readCurrent())).filter(hasStatements);
    const names = files.map(({ name }) => name);
    const text = compilePlaceholders(
      this.#settings,
      await compileMigration(joinFiles(files), this.#settings),
    );
    const content = await readCurrentContent(this.#client);
    if (content !== undefined && removeBlankFiles(content) === removeBlankFiles(text))
      return { files: names, isNew: false };
    const name = `db/current (${joinNames(files)})`;
    const isAlone = isWithoutTransaction(text);
    rehearsal?.begin();
    if (rehearsal && !isAlone && !(await shadow?.rehearse(text, await this.state(), rehearsal)))
      await explainFailures(name, text, async () => {
        await this.#retry(name, () => this.rehearse(text, rehearsal));
        await rehearsal.evaluate();
      });
    const note = async () => {
      if (files.length > 0) await this.#client.query(finish);
      await recordCurrent(this.#client, text);
      if (isAlone) await rehearsal?.inspect(this.#client).then(() => rehearsal.evaluate());
    };
    // What was rehearsed may hold what it waits for, if all databases share that, such as a role
    await this.#run(name, text, note, () => shadow?.undo());
    return { files: names, isNew: true };
  }

  /** Runs db/current, and looks at what it makes. Its transaction stays open until it is {@link settle}d. */
  async prepare(text: string, rehearsal: Rehearsal): Promise<void> {
    await this.#client.query("begin");
    await runStatements(this.#client, text);
    await this.#client.query(finish);
    await recordCurrent(this.#client, text);
    await rehearsal.inspect(this.#client);
  }

  /** Keeps or undoes what has been prepared. */
  async settle(how: "commit" | "rollback"): Promise<void> {
    await this.#client.query(how);
  }

  /** Runs db/current, looks at what it makes, and undoes it. */
  async rehearse(text: string, rehearsal: Rehearsal): Promise<void> {
    try {
      await this.prepare(text, rehearsal);
    } finally {
      await this.settle("rollback").catch(() => {});
    }
  }

  /**
   * Runs a migration.
   *
   * @param note what ends it, in its transaction or, when it has none, in one after it
   * @param onFailure what follows each attempt that fails
   */
  async #run(name: string, text: string, note: Step, onFailure?: Step): Promise<void> {
    const isAlone = isWithoutTransaction(text);
    const mayWait = isAlone && /\bconcurrently\b/i.test(text);
    const statements = () => runStatements(this.#client, text);
    const work = async () => {
      if (isAlone)
        await (mayWait ? withoutLockTimeout(this.#client, this.#waiting(name), statements) : statements());
      await this.#client.query("begin");
      try {
        if (!isAlone) await statements();
        await note();
        await this.#client.query("commit");
      } catch (error) {
        await this.#client.query("rollback").catch(() => {});
        await onFailure?.();
        throw error;
      }
    };
    const trying = () => this.#retry(name, work);
    await explainFailures(name, text, () => afterBackfills(this.#client, trying, this.#onWait));
  }

  #retry<T>(name: string, work: () => Promise<T>, attempts = this.#locks.attempts): Promise<T> {
    return retryLocked(work, { ...this.#waiting(name), ...this.#locks, attempts });
  }

  #waiting(name: string) {
    return { name, holders: () => this.#observer!.holders(), onWait: this.#onWait };
  }
}
