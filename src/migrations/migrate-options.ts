import type { ClientBase } from "pg";
import type { CurrentFile } from "./migration-files.ts";
import type { LockRetryOptions } from "./retry-locked.ts";

export interface MigrateOptions {
  locks?: LockRetryOptions;
  /** Called with a line whenever a migration waits for locks. */
  onWait?: (line: string) => void;
  /** How many committed migrations the database is to have; all when not given. */
  upTo?: number;
}

/** Options for running db/current. */
export interface CurrentOptions {
  /** The files to run; by default all. */
  files?: readonly CurrentFile[] | undefined;
  rehearsal?: Rehearsal | undefined;
  /** The database for the rehearsal, if it can be used. */
  shadow?: RehearsalDatabase | undefined;
}

/** Another database, on which a migration can be rehearsed. */
export interface RehearsalDatabase {
  /**
   * Rehearses a migration.
   *
   * @param state of the database at hand, see `stateOf`
   * @returns whether that shows what it would do there; when it fails here, it may still work there
   */
  rehearse(text: string, state: string, rehearsal: Rehearsal): Promise<boolean>;
  /** Undoes what was rehearsed last: it could not be run on the database at hand. */
  undo(): Promise<void>;
}

/**
 * Checks a migration before it is run. It is run and rolled back on a shadow of the database, or on the database itself. An error
 * from these functions prevents the real run. A migration without a transaction is checked after its run: an error only
 * prevents that it is recorded.
 */
export interface Rehearsal {
  /** Before it is run. */
  begin: () => void;
  /** Looks at what it makes of the catalog, while it can be undone. */
  inspect: (client: ClientBase) => Promise<void>;
  /** Draws conclusions. */
  evaluate: () => Promise<void>;
}
