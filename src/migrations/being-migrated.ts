import type pg from "pg";
import { UserError } from "../errors/user-error.ts";
import { retry } from "../lib/retry.ts";

/** The lock of running migrations; graphile-migrate takes it too. */
export const migrationLock = "4727445306447283";

/** Milliseconds between two looks whether they are done. */
const intervalMs = 1_000;

/** Milliseconds in which another takes over whose turn it is next, as after the first was killed. */
const takeOverMs = 15_000;

/** A database lacks migrations. */
export class MissingMigrationsError extends UserError {
  /** Whether somebody runs them. */
  readonly areRunning: boolean;

  constructor(message: string, areRunning: boolean) {
    super(message);
    this.areRunning = areRunning;
  }
}

/** Whether somebody migrates the database. Everybody may see that. */
export async function isBeingMigrated(client: pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_locks l join pg_database d on d.oid = l.database
     where d.datname = current_database() and l.locktype = 'advisory' and l.granted and l.objsubid = 1
       and (l.classid::bigint << 32) + l.objid::bigint = $1`,
    [migrationLock],
  );
  return rowCount! > 0;
}

/**
 * Runs work that needs all migrations, after those that somebody else runs now.
 *
 * @param onWaiting called with a line once a second; an error that it throws ends the wait
 */
export function afterMigrations<T>(work: () => Promise<T>, onWaiting: (line: string) => void): Promise<T> {
  let seenAt = -Infinity;
  return retry(work, {
    pauseMs(error) {
      if (!(error instanceof MissingMigrationsError)) throw error;
      const now = performance.now();
      if (error.areRunning) seenAt = now;
      else if (now - seenAt > takeOverMs) throw error;
      onWaiting(error.areRunning ? error.message : "Waiting for another process to continue the migrations.");
      return intervalMs;
    },
  });
}
