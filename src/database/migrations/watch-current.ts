import { watch } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { goneFiles, hasStatements, migrationsFolder, readCurrent } from "./migration-files.ts";
import type { MigrateOptions, Rehearsal } from "./migrate-options.ts";
import { Migrator } from "./migrator.ts";
import { Shadow } from "./shadow.ts";
import type { ShadowOptions } from "./shadow.ts";
import { pause, retry } from "../../lib/retry.ts";

/** How long files must stay as they are before they are run: some editors write a little at a time. */
const settledMs = 25;
/** How often it is looked for changes that nobody tells of: of files on some network drives, and by other programs. */
const lookEveryMs = 1_000;
/** Milliseconds before a lost connection is opened anew. */
const reconnectMs = 250;
const reconnectAttempts = 20;
/** Milliseconds after which a file is gone: some programs remove one before they write it anew. */
const goneMs = 300;

/** What was done about a change. */
export interface Run {
  /** The files of db/current that do something. */
  files: readonly string[];
  /** Whether they have been run, for they were not what had been run last. */
  isNew: boolean;
  /** Milliseconds since the change was seen. */
  ms: number;
}

export interface WatchOptions extends MigrateOptions, ShadowOptions {
  rehearsal: Rehearsal;
  onRun: (run: Run) => void;
  /**
   * Called with files of db/current that were run last, and are there no more, neither in another file nor committed.
   *
   * @returns whether the database has been made anew, with those that are left
   */
  onGone: (names: readonly string[]) => Promise<boolean>;
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
  /** What has been asked for; it begins again while that grows. */
  #asked = 0;
  #isRunning = false;
  /** When the change was seen that waits to be run. */
  #since: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** The files of the last run, see {@link signature}. */
  #ranWith = Promise.resolve("");
  /** What the database notes of migrations since the last run, see {@link Migrator.noted}. */
  #noted = "";

  /** @param adminUrl the database, as a role that may become its owner */
  constructor(adminUrl: string, options: WatchOptions) {
    this.#adminUrl = adminUrl;
    this.#options = options;
    this.#shadow = new Shadow(adminUrl, options);
    const { signal } = this.#stopping;
    for (const folder of ["current", "fixtures"]) {
      const watcher = watch(join(migrationsFolder, folder), { recursive: true, signal }, () =>
        this.#touched(),
      );
      watcher.on("error", () => {});
    }
    void this.#lookNowAndThen();
    this.#ask();
  }

  /** Stops. What still runs then is not waited for, and told of no more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    const migrator = await this.#migrator?.catch(() => null);
    await migrator?.close().catch(() => {});
    await this.#shadow.close();
  }

  #touched(): void {
    this.#since ??= performance.now();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), settledMs);
  }

  #ask(): void {
    this.#asked++;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let seen = 0; seen !== this.#asked && !this.#stopping.signal.aborted;) {
      seen = this.#asked;
      await this.#runOnce();
      const migrator = await this.#migrator?.catch(() => null);
      this.#noted = (await migrator?.noted().catch(() => null)) ?? this.#noted;
    }
    this.#isRunning = false;
  }

  async #runOnce(): Promise<void> {
    const { onRun, onGone, onFailure, rehearsal } = this.#options;
    const since = this.#since ?? performance.now();
    this.#since = null;
    this.#ranWith = signature();
    const shadow = this.#shadow;
    try {
      const migrator = await (this.#migrator ??= this.#open());
      const gone = await this.#gone(migrator);
      const isAnew = gone.length > 0 && (await onGone(gone));
      const present = await presentFiles();
      const isNew =
        isAnew ||
        (await migrator.alone(() => migrator.runCurrent({ files: present, rehearsal, shadow }))).isNew;
      const files = present.map(({ name }) => name);
      if (this.#stopping.signal.aborted) return;
      onRun({ files, isNew, ms: performance.now() - since });
      void shadow.follow(present, await migrator.state());
    } catch (error) {
      if (!this.#stopping.signal.aborted) onFailure(error as Error);
    }
  }

  /** The names of the files that were run last, and are gone, whether this has watched them or not. */
  async #gone(migrator: Migrator): Promise<string[]> {
    const ran = await migrator.ranLast();
    if ((await goneFiles(ran)).length === 0) return [];
    await pause(goneMs, this.#stopping.signal);
    const gone = await goneFiles(await migrator.ranLast());
    return gone.map(({ name }) => name || "A file of db/current");
  }

  async #open(): Promise<Migrator> {
    const { signal } = this.#stopping;
    try {
      const open = () => Migrator.open(this.#adminUrl, this.#options);
      const migrator = await retry(open, {
        pauseMs(error, failures) {
          // Only a database that is away, as while it is made anew, may come back
          if ((error as Error).cause === undefined || failures >= reconnectAttempts) throw error;
          return reconnectMs;
        },
      });
      // The database may have been made anew, without what is in db/current
      void migrator.ended.then(async () => {
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

  /** Whether another program has migrated the database, such as graphile-migrate. */
  async #isMigrated(): Promise<boolean> {
    const migrator = await this.#migrator?.catch(() => null);
    const noted = await migrator?.noted().catch(() => undefined);
    return noted !== undefined && noted !== this.#noted && !this.#isRunning;
  }

  async #lookNowAndThen(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await pause(lookEveryMs, signal);
      if (this.#isRunning || signal.aborted) continue;
      if ((await signature()) !== (await this.#ranWith) || (await this.#isMigrated())) this.#ask();
    }
  }
}

const presentFiles = async () => (await readCurrent()).filter(hasStatements);

/** Another text whenever a file of db/current or db/fixtures is another. */
async function signature(): Promise<string> {
  const lists = ["current", "fixtures"].map(async (folder) => {
    const path = join(migrationsFolder, folder);
    const names = await readdir(path, { recursive: true }).catch(() => []);
    const fileStates = names
      .filter((name) => name.endsWith(".sql"))
      .map(async (name) => {
        const file = await stat(join(path, name)).catch(() => null);
        return `${name} ${file?.mtimeMs} ${file?.size}`;
      });
    return (await Promise.all(fileStates)).sort().join("\n");
  });
  return (await Promise.all(lists)).join("\n");
}
