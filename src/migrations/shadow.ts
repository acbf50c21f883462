import { randomUUID } from "node:crypto";
import type pg from "pg";
import { getDatabaseName, withClient } from "../postgres/client.ts";
import { settlesWithin } from "../lib/within.ts";
import type { MigrateOptions, Rehearsal, RehearsalDatabase } from "./migrate-options.ts";
import type { CurrentFile } from "./migration-files.ts";
import { Migrator } from "./migrator.ts";
import { dropDatabase, dropOwn, renameMarked } from "./own-databases.ts";
import { urlOfDatabase, createCommittedDatabase, derivedName } from "./templates.ts";

/** Milliseconds that its end may take. */
const closeMs = 1_000;

/** Returns the name of a database's shadow. */
export const nameShadow = (name: string): string => derivedName(name, "_rehearsal");

/**
 * A database with the same migrations as the current one, but no rows. What a migration makes of the catalog is found out
 * there, where its locks hold up nobody. It is only a means: without it, or when it differs, the database itself serves.
 */
export class Shadow implements RehearsalDatabase {
  readonly #adminUrl: string;
  readonly #name: string;
  readonly #mark: string;
  readonly #options: MigrateOptions;
  readonly #onWait: MigrateOptions["onWait"];
  #migrator: Migrator | null = null;
  #following: Promise<void> | null = null;
  /** Whether what is run next has been rehearsed, and waits to be kept: then it needn't be run here again. */
  #isRehearsed = false;
  #hasExplained = false;
  /** Whether it isn't made any more. */
  #isClosed = false;

  /**
   * @param adminUrl the database that it is the shadow of, as a role that may make others
   * @param options.onWait told once why there is none, when it takes somebody to change that
   */
  constructor(adminUrl: string, { locks, onWait }: Pick<MigrateOptions, "locks" | "onWait">) {
    this.#adminUrl = adminUrl;
    const name = getDatabaseName(adminUrl);
    this.#name = nameShadow(name);
    this.#mark = `Shadow of db:watch for ${name}`;
    this.#options = locks === undefined ? {} : { locks };
    this.#onWait = onWait;
  }

  async rehearse(text: string, state: string, rehearsal: Rehearsal): Promise<boolean> {
    const migrator = this.#migrator;
    if (migrator === null || this.#following !== null) return false;
    try {
      if ((await migrator.state()) !== state) return false;
      this.#isRehearsed = true;
      await migrator.prepare(text, rehearsal);
      await rehearsal.evaluate();
      return true;
    } catch {
      await this.undo();
      return false;
    }
  }

  async undo(): Promise<void> {
    // With its connection it is undone as well
    await this.#settle("rollback").catch(() => {});
  }

  async #settle(how: "commit" | "rollback"): Promise<void> {
    if (!this.#isRehearsed) return;
    this.#isRehearsed = false;
    await this.#migrator?.settle(how);
  }

  /**
   * Becomes like the database at hand, beside whatever comes next. It never rejects.
   *
   * @param state of that database, whose db/current has just been run
   */
  async follow(files: readonly CurrentFile[], state: string): Promise<void> {
    if (this.#isClosed) return;
    await (this.#following ??= this.#follow(files, state)
      .catch((error: unknown) => this.#failed(error as Error))
      .finally(() => (this.#following = null)));
  }

  /** One that is still being made stays, until the next time. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await settlesWithin(
      closeMs,
      (this.#following ?? Promise.resolve()).then(() => this.#drop()),
    );
  }

  async #follow(files: readonly CurrentFile[], state: string): Promise<void> {
    await this.#settle("commit");
    if ((await this.#migrator?.state()) === state) return;
    if (!(await this.#drop()))
      return this.#explainOnce(`there is a database ${this.#name} that db:watch hasn't made`);
    await this.#create();
    if ((await this.#run(files)) !== state) await this.#drop();
  }

  async #failed(error: Error): Promise<void> {
    // What can't be dropped now is dropped the next time
    await this.#drop().catch(() => {});
    // insufficient_privilege
    if ((error as pg.DatabaseError).code !== "42501") return;
    this.#isClosed = true;
    this.#explainOnce(error.message);
  }

  #explainOnce(reason: string): void {
    if (!this.#hasExplained) this.#onWait?.(`A save is tried on the database itself: ${reason}.`);
    this.#hasExplained = true;
  }

  async #run(files: readonly CurrentFile[]): Promise<string | undefined> {
    await this.#migrator?.runCurrent({ files });
    return this.#migrator?.state();
  }

  async #create(): Promise<void> {
    const made = `rehearsal_${randomUUID()}`;
    await withClient(this.#adminUrl, async (admin) => {
      try {
        await createCommittedDatabase(admin, this.#adminUrl, made);
        await renameMarked(admin, made, this.#name, this.#mark);
      } catch (error) {
        await dropDatabase(admin, made).catch(() => {});
        throw error;
      }
    });
    this.#migrator = await Migrator.open(urlOfDatabase(this.#adminUrl, this.#name), this.#options);
    void this.#migrator.ended.then(() => (this.#migrator = null));
  }

  /** @returns whether there is none now; one that isn't its own stays */
  async #drop(): Promise<boolean> {
    const migrator = this.#migrator;
    this.#migrator = null;
    this.#isRehearsed = false;
    await migrator?.close();
    return withClient(this.#adminUrl, (admin) => dropOwn(admin, this.#name, this.#mark));
  }
}
