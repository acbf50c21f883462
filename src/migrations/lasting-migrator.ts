import type { MigrateOptions } from "./migrate-options.ts";
import { Migrator } from "./migrator.ts";
import { UserError } from "../errors/user-error.ts";
import { pause, retry } from "../lib/retry.ts";
import { isConnectionBroken } from "../postgres/broken.ts";

/** Milliseconds before a lost connection is opened again. */
const reconnectMs = 250;
const attempts = 20;

/** Thrown when the database can't be opened, as while it is recreated, and may come back. */
export class DatabaseAway extends UserError {}

export interface LastingMigratorOptions extends MigrateOptions {
  signal: AbortSignal;
  /** Called when the database has been recreated, before it is used. */
  onRecreated: () => void;
  /** Called when the connection was lost, and can be opened again. */
  onLost: () => void;
}

/** A connection for migrations. When it is lost, it is opened again, to the database that has the name then. */
export class LastingMigrator {
  readonly #adminUrl: string;
  readonly #options: LastingMigratorOptions;
  #migrator: Promise<Migrator> | null = null;
  /** Identifies the last database; null before the first. */
  #database: number | null = null;

  /** @param adminUrl the database, as a role that may become its owner */
  constructor(adminUrl: string, options: LastingMigratorOptions) {
    this.#adminUrl = adminUrl;
    this.#options = options;
  }

  /** Connects, unless it is connected. @throws {DatabaseAway} after several attempts */
  open(): Promise<Migrator> {
    return (this.#migrator ??= this.#open());
  }

  /** The open connection, or null. */
  async present(): Promise<Migrator | null> {
    return (await this.#migrator?.catch(() => null)) ?? null;
  }

  /** Forgets the connection, which has ended, and the database, which was recreated as it should be. */
  forget(): void {
    this.#migrator = this.#database = null;
  }

  async close(): Promise<void> {
    await (await this.present())?.close().catch(() => {});
  }

  async #open(): Promise<Migrator> {
    const { signal, onLost } = this.#options;
    try {
      const migrator = await retry(() => this.#connect(), {
        pauseMs(error, failures) {
          if (!isAway(error) || failures >= attempts || signal.aborted) throw error;
          return reconnectMs;
        },
      });
      const opened = this.#migrator;
      void migrator.ended.then(async () => {
        if (this.#migrator !== opened) return;
        this.#migrator = null;
        await pause(reconnectMs, signal);
        if (!signal.aborted) onLost();
      });
      return migrator;
    } catch (error) {
      this.#migrator = null;
      throw isAway(error) ? new DatabaseAway((error as Error).message, { cause: error }) : error;
    }
  }

  async #connect(): Promise<Migrator> {
    const migrator = await Migrator.open(this.#adminUrl, this.#options);
    try {
      const database = await migrator.readDatabaseOid();
      if (this.#database !== null && this.#database !== database) {
        this.#options.onRecreated();
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
}

const isAway = (error: unknown) => (error as Error).cause !== undefined;

/** Whether a connection can still be used; not whether its transaction can. */
export const isOpen = (migrator: Migrator): Promise<boolean> =>
  migrator.readDatabaseOid().then(
    () => true,
    (error) => !isConnectionBroken(error),
  );
