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
import { DatabaseAway, isOpen, LastingMigrator } from "./lasting-migrator.ts";
import type { Migrator } from "./migrator.ts";
import { isLockFailure } from "./retry-locked.ts";
import { Shadow } from "./shadow.ts";
import { takeTurn } from "./turn.ts";
import { pause } from "../lib/retry.ts";

/** How long files must stay as they are before they are run: some editors write a little at a time. */
const settledMs = 25;
/** Milliseconds between two looks for changes without a notice: of files on some network drives, and by other programs. */
const lookEveryMs = 1_000;
/** Milliseconds after which a file is gone: some programs remove one before they write it again. */
const goneMs = 300;

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
  readonly #connection: LastingMigrator;
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
  /** Why the last run was given up and is tried again: others hold a lock, or the database is away. */
  #lacks: "lock" | "database" | null = null;

  /** @param adminUrl the database, as a role that may become its owner */
  constructor(adminUrl: string, options: WatchOptions) {
    this.#adminUrl = adminUrl;
    this.#options = options;
    this.#shadow = new Shadow(adminUrl, options);
    const { signal } = this.#stopping;
    this.#connection = new LastingMigrator(adminUrl, {
      ...options,
      signal,
      onWait: (line) => (this.#lacks === "lock" ? undefined : options.onWait?.(line)),
      onRecreated: () => options.rehearsal.begin(),
      onLost: () => this.#ask(),
    });
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
    await this.#connection.close();
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
    }
    this.#isRunning = false;
  }

  async #runInTurn(): Promise<void> {
    const { signal } = this.#stopping;
    const turn = await takeTurn(this.#adminUrl, { signal, onWait: this.#options.onWait });
    try {
      if (!signal.aborted) await this.#runOnce();
    } finally {
      await turn.end().catch(() => {});
    }
  }

  async #runOnce(): Promise<void> {
    const { onRun, onDeleted: onGone, rehearsal } = this.#options;
    const since = this.#since ?? performance.now();
    this.#since = null;
    // Before the files are read: what is saved meanwhile is another change
    await (this.#ranWith = filesSignature());
    const shadow = this.#shadow;
    let migrator: Migrator | undefined;
    try {
      migrator = await this.#connection.open();
      const gone = await this.#findDeleted(migrator);
      const isAnew = gone.length > 0 && (await this.#recreate(() => onGone(gone)));
      if (isAnew) migrator = undefined;
      const current = (migrator = await this.#connection.open());
      const present = await presentFiles();
      // Before it begins and before others may: what they do meanwhile is another change
      this.#state = await current.state();
      const run = async () => {
        const { isNew } = await current.runCurrent({ files: present, rehearsal, shadow });
        this.#state = await current.state();
        return isNew;
      };
      const isNew = isAnew || (await current.withLock(run));
      const files = present.map(({ name }) => name);
      if (this.#stopping.signal.aborted) return;
      this.#lacks = null;
      onRun({ files, isNew, ms: performance.now() - since });
      void shadow.follow(present, this.#state);
    } catch (error) {
      // With a connection that was cut nothing has failed: it runs again on the next one
      if (migrator === undefined || (await isOpen(migrator))) this.#failed(error as Error);
    }
  }

  #failed(error: Error): void {
    const { onFailure, onWait } = this.#options;
    const lacked = this.#lacks;
    this.#lacks = isLockFailure(error.cause) ? "lock" : error instanceof DatabaseAway ? "database" : null;
    if (this.#stopping.signal.aborted || (this.#lacks !== null && this.#lacks === lacked)) return;
    onFailure(error);
    if (this.#lacks === "lock") onWait?.("It is tried again until it gets that lock.");
    if (this.#lacks === "database") onWait?.("It is tried again until the database is back.");
  }

  /** Recreates the database, whose connections end. @returns whether that was possible */
  async #recreate(work: () => Promise<boolean>): Promise<boolean> {
    this.#options.rehearsal.begin();
    const isAnew = await work();
    if (isAnew) this.#connection.forget();
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

  /** Whether another program has migrated the database, such as graphile-migrate. */
  async #isMigrated(): Promise<boolean> {
    const migrator = await this.#connection.present();
    const state = await migrator?.state().catch(() => undefined);
    return state !== undefined && state !== this.#state && !this.#isRunning;
  }

  async #pollChanges(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await pause(lookEveryMs, signal);
      if (this.#isRunning || signal.aborted) continue;
      if (
        this.#lacks !== null ||
        (await filesSignature()) !== (await this.#ranWith) ||
        (await this.#isMigrated())
      )
        this.#ask();
    }
  }
}

const presentFiles = async () => (await readCurrent()).filter(hasStatements);
