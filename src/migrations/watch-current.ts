import { watch } from "node:fs";
import { join } from "node:path";
import {
  filesSignature,
  findDeletedFiles,
  hasStatements,
  migrationsFolder,
  readCurrent,
} from "./migration-files.ts";
import type { MigrateOptions, Rehearsal } from "./migrate-options.ts";
import { Migrator } from "./migrator.ts";
import { isLockFailure } from "./retry-locked.ts";
import { Shadow } from "./shadow.ts";
import { takeTurn } from "./turn.ts";
import { UserError } from "../errors/user-error.ts";
import { pause, retry } from "../lib/retry.ts";
import { settlesWithin } from "../lib/within.ts";

/** How long files must stay as they are before they are run: some editors write a little at a time. */
const settledMs = 25;
/** Milliseconds between two looks for changes without a notice: of files on some network drives, and by other programs. */
const lookEveryMs = 1_000;
/** Milliseconds before a lost connection is opened again. */
const reconnectMs = 250;
const reconnectAttempts = 20;
/** Milliseconds after which a file is gone: some programs remove one before they write it again. */
const goneMs = 300;

/** Milliseconds after which a connection that was cut has ended. */
const cutMs = 50;

/** The result of handling a change. */
export interface Run {
  /** The files of db/current that do something. */
  files: readonly string[];
  /** Whether they have been run, for they were not what had been run last. */
  isNew: boolean;
  /** Milliseconds since the change was seen. */
  ms: number;
}

export interface WatchOptions extends MigrateOptions {
  rehearsal: Rehearsal;
  onRun: (run: Run) => void;
  /**
   * Called with files of db/current that were run last, and are there no more, neither in another file nor committed.
   *
   * @returns whether the database was recreated with those that are left
   */
  onDeleted: (names: readonly string[]) => Promise<boolean>;
  /** Told why db/current could not be run. */
  onFailure: (error: Error) => void;
}

/** Runs db/current now, and whenever it or a fixture changes, on one connection. */
export class CurrentWatch {
  readonly #adminUrl: string;
  readonly #options: WatchOptions;
  readonly #shadow: Shadow;
  readonly #stopping = new AbortController();
  #migrator: Promise<Migrator> | null = null;
  /** The number of requested runs; a run repeats while it grows. */
  #requested = 0;
  #isRunning = false;
  /** The time at which the pending change was seen. */
  #since: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** The files of the last run, see {@link filesSignature}. */
  #ranWith = Promise.resolve("");
  /** The state of the database after the last run, see {@link Migrator.state}. */
  #state = "";
  /** Identifies the database of the last run; null before the first, and while this recreates it. */
  #database: number | null = null;
  /** Whether the last run was given up because others hold a lock, and is tried again until it gets it. */
  #isLocked = false;

  /** @param adminUrl the database, as a role that may become its owner */
  constructor(adminUrl: string, options: WatchOptions) {
    this.#adminUrl = adminUrl;
    this.#options = options;
    this.#shadow = new Shadow(adminUrl, options);
    const { signal } = this.#stopping;
    for (const folder of ["current", "fixtures"]) {
      const watcher = watch(join(migrationsFolder, folder), { recursive: true, signal }, () =>
        this.#onChange(),
      );
      watcher.on("error", () => {});
    }
    void this.#pollChanges();
    this.#ask();
  }

  /** Stops. What still runs then is neither waited for nor reported. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    const migrator = await this.#migrator?.catch(() => null);
    await migrator?.close().catch(() => {});
    await this.#shadow.close();
  }

  #onChange(): void {
    this.#since ??= performance.now();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), settledMs);
  }

  #ask(): void {
    this.#requested++;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let seen = 0; seen !== this.#requested && !this.#stopping.signal.aborted;) {
      seen = this.#requested;
      await this.#runInTurn();
      const migrator = await this.#migrator?.catch(() => null);
      this.#state = (await migrator?.state().catch(() => null)) ?? this.#state;
    }
    this.#isRunning = false;
  }

  async #runInTurn(): Promise<void> {
    const { signal } = this.#stopping;
    const turn = await takeTurn(this.#adminUrl, { signal, onWait: this.#options.onWait });
    if (!signal.aborted) await this.#runOnce();
    await turn.end().catch(() => {});
  }

  async #runOnce(): Promise<void> {
    const { onRun, onDeleted: onGone, rehearsal } = this.#options;
    const since = this.#since ?? performance.now();
    this.#since = null;
    this.#ranWith = filesSignature();
    const shadow = this.#shadow;
    let migrator: Migrator | undefined;
    try {
      migrator = await this.#opened();
      const gone = await this.#findDeleted(migrator);
      const isAnew = gone.length > 0 && (await this.#recreate(() => onGone(gone)));
      const current = (migrator = await this.#opened());
      const present = await presentFiles();
      const isNew =
        isAnew ||
        (await current.withLock(() => current.runCurrent({ files: present, rehearsal, shadow }))).isNew;
      const files = present.map(({ name }) => name);
      if (this.#stopping.signal.aborted) return;
      this.#isLocked = false;
      onRun({ files, isNew, ms: performance.now() - since });
      void shadow.follow(present, await migrator.state());
    } catch (error) {
      // With a connection that was cut nothing has failed: it runs again on the next one
      if (migrator === undefined || !(await settlesWithin(cutMs, migrator.ended)))
        this.#failed(error as Error);
    }
  }

  #failed(error: Error): void {
    const { onFailure, onWait } = this.#options;
    const wasLocked = this.#isLocked;
    this.#isLocked = isLockFailure(error.cause);
    if (this.#stopping.signal.aborted || (wasLocked && this.#isLocked)) return;
    onFailure(error);
    if (this.#isLocked) onWait?.("It is tried again until it gets that lock.");
  }

  #opened(): Promise<Migrator> {
    return (this.#migrator ??= this.#open());
  }

  /** Recreates the database, whose connections end. @returns whether that was possible */
  async #recreate(work: () => Promise<boolean>): Promise<boolean> {
    this.#options.rehearsal.begin();
    const isAnew = await work();
    if (isAnew) this.#migrator = this.#database = null;
    return isAnew;
  }

  /** The names of the files that were run last, and are gone, whether this has watched them or not. */
  async #findDeleted(migrator: Migrator): Promise<string[]> {
    const ran = await migrator.readLastRun();
    if ((await findDeletedFiles(ran)).length === 0) return [];
    await pause(goneMs, this.#stopping.signal);
    const gone = await findDeletedFiles(await migrator.readLastRun());
    return gone.map(({ name }) => name || "A file of db/current");
  }

  async #open(): Promise<Migrator> {
    const { signal } = this.#stopping;
    try {
      const migrator = await retry(() => this.#connect(), {
        pauseMs(error, failures) {
          // Only a database that is away, as while it is recreated, may come back
          if ((error as Error).cause === undefined || failures >= reconnectAttempts) throw error;
          return reconnectMs;
        },
      });
      // The database may have been recreated, without what is in db/current
      const opened = this.#migrator;
      void migrator.ended.then(async () => {
        if (this.#migrator !== opened) return;
        this.#migrator = null;
        await pause(reconnectMs, signal);
        if (!signal.aborted) this.#ask();
      });
      return migrator;
    } catch (error) {
      this.#migrator = null;
      throw error;
    }
  }

  async #connect(): Promise<Migrator> {
    const onWait = (line: string) => (this.#isLocked ? undefined : this.#options.onWait?.(line));
    const migrator = await Migrator.open(this.#adminUrl, { ...this.#options, onWait });
    try {
      const database = await migrator.readDatabaseOid();
      if (this.#database !== null && this.#database !== database) {
        this.#options.rehearsal.begin();
        // Fails while the database has no migrations
        await migrator.readLastRun();
      }
      this.#database = database;
      return migrator;
    } catch (cause) {
      await migrator.close().catch(() => {});
      throw new UserError("The database is being recreated.", { cause });
    }
  }

  /** Whether another program has migrated the database, such as graphile-migrate. */
  async #isMigrated(): Promise<boolean> {
    const migrator = await this.#migrator?.catch(() => null);
    const state = await migrator?.state().catch(() => undefined);
    return state !== undefined && state !== this.#state && !this.#isRunning;
  }

  async #pollChanges(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await pause(lookEveryMs, signal);
      if (this.#isRunning || signal.aborted) continue;
      if (this.#isLocked || (await filesSignature()) !== (await this.#ranWith) || (await this.#isMigrated()))
        this.#ask();
    }
  }
}

const presentFiles = async () => (await readCurrent()).filter(hasStatements);
