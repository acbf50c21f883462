import { withClient } from "../client.ts";
import { within } from "../../lib/within.ts";
import type { MigrateOptions, Rehearsal, Stage } from "./migrate-options.ts";
import type { CurrentFile } from "./migration-files.ts";
import { Migrator } from "./migrator.ts";
import { besides, createCommitted, dropDatabase } from "./templates.ts";

/** Milliseconds that its end may take. */
const closeMs = 1_000;

/** What the shadow of a database is called. */
const shadowOf = (name: string): string => `${name}_rehearsal`;

/**
 * A database with the same migrations as the one at hand, and no rows. What a migration makes of the catalog is found out
 * there, where its locks hold up nobody. It is only a means: without it, or when it differs, the database itself serves.
 */
export class Shadow implements Stage {
  readonly #adminUrl: string;
  readonly #name: string;
  readonly #options: MigrateOptions;
  #migrator: Migrator | null = null;
  #following: Promise<void> | null = null;
  /** Whether what is run next has been rehearsed, and so can be run on top of what is there. */
  #isRehearsed = false;

  /** @param adminUrl the database that it is the shadow of, as a role that may make others */
  constructor(adminUrl: string, { locks }: MigrateOptions) {
    this.#adminUrl = adminUrl;
    this.#name = shadowOf(decodeURIComponent(new URL(adminUrl).pathname.slice(1)));
    this.#options = locks === undefined ? {} : { locks };
  }

  async rehearse(text: string, state: string, rehearsal: Rehearsal): Promise<boolean> {
    const migrator = this.#migrator;
    if (migrator === null || this.#following !== null) return false;
    try {
      if ((await migrator.state()) !== state) return false;
      await migrator.rehearse(text, rehearsal);
      await rehearsal.conclude();
      this.#isRehearsed = true;
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Becomes like the database at hand, beside whatever comes next.
   *
   * @param state of that database, whose db/current has just been run
   */
  follow(files: readonly CurrentFile[], state: string): void {
    this.#following ??= this.#follow(files, state)
      .catch(() => this.#drop())
      .finally(() => (this.#following = null));
  }

  /** One that is still being made stays, until the next time. */
  async close(): Promise<void> {
    await within(
      closeMs,
      (this.#following ?? Promise.resolve()).then(() => this.#drop()),
    );
  }

  async #follow(files: readonly CurrentFile[], state: string): Promise<void> {
    if ((await this.#migrator?.state()) === state) return;
    if (this.#isRehearsed && (await this.#run(files)) === state) return;
    await this.#make();
    if ((await this.#run(files)) !== state) await this.#drop();
  }

  async #run(files: readonly CurrentFile[]): Promise<string | undefined> {
    this.#isRehearsed = false;
    await this.#migrator?.runCurrent({ files });
    return this.#migrator?.state();
  }

  async #make(): Promise<void> {
    await this.#drop();
    await withClient(this.#adminUrl, (admin) => createCommitted(admin, this.#adminUrl, this.#name));
    this.#migrator = await Migrator.open(besides(this.#adminUrl, this.#name), this.#options);
    void this.#migrator.ended.then(() => (this.#migrator = null));
  }

  async #drop(): Promise<void> {
    const migrator = this.#migrator;
    this.#migrator = null;
    await migrator?.close();
    await withClient(this.#adminUrl, (admin) => dropDatabase(admin, this.#name));
  }
}
