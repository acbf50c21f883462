import { errorCodeOf } from "../errors/postgres-errors.ts";
import type pg from "pg";
import { UserError } from "../errors/user-error.ts";
import { growingPause, pause, retry } from "../lib/retry.ts";
import { settlesWithin } from "../lib/within.ts";
import { withClient } from "../postgres/client.ts";

/** How long a migration waits for locks. While it waits, later statements on the same table wait behind it. */
export interface LockRetryOptions {
  /** For one lock; a migration may set its own with `set local lock_timeout`. */
  lockTimeoutMs: number;
  /** How often a migration is begun before it fails. */
  attempts: number;
}

/** Milliseconds between reports about a migration that waits without limit. */
const reportEveryMs = 10_000;

export const defaultLockLimits: LockRetryOptions = { lockTimeoutMs: 1_000, attempts: 20 };

/** Pauses after attempts, for a time-out. */
const pausesOf = (lockTimeoutMs: number) => ({
  firstMs: 0.5 * lockTimeoutMs,
  factor: 1.5,
  longestMs: 5 * lockTimeoutMs,
});

/** lock_not_available, the error of a lock_timeout, and deadlock_detected */
const lockFailureCodes = ["55P03", "40P01"];

/** Whether work failed because others held locks, so that it may succeed later. */
export function isLockFailure(error: unknown): boolean {
  return lockFailureCodes.includes(errorCodeOf(error) ?? "");
}

export interface RetryLockedOptions extends LockRetryOptions {
  /** Name of the work, for messages. */
  name: string;
  /** A text about who held the locks; empty when that isn't known. */
  holders: () => string;
  /** Called with a line after each failed attempt. */
  onWait: (line: string) => void;
}

/**
 * Runs work that needs locks, again and again with growing pauses while others hold them. It must leave nothing behind
 * when it fails: others use the pauses.
 *
 * @throws {UserError} when the last attempt has failed because of locks, too
 */
export function retryLocked<T>(
  work: () => Promise<T>,
  { name, lockTimeoutMs, attempts, holders, onWait }: RetryLockedOptions,
): Promise<T> {
  return retry(work, {
    pauseMs(cause, attempt) {
      if (!isLockFailure(cause)) throw cause;
      const waits = `${name} waits for a lock${holders()}`;
      if (attempt >= attempts) {
        throw new UserError(
          `${waits}. It was given up after ${attempts} attempts, and nothing of it was kept. Let that transaction end, or end it by pg_terminate_backend; MIGRATION_LOCK_TIMEOUT and MIGRATION_LOCK_ATTEMPTS give migrations more time.`,
          { cause },
        );
      }
      const pauseMs = growingPause(attempt, pausesOf(lockTimeoutMs));
      const which = Number.isFinite(attempts) ? `Attempt ${attempt} of ${attempts}` : `Attempt ${attempt}`;
      onWait(`${waits}. ${which}; the next in ${(pauseMs / 1000).toFixed(1)} s.`);
      return pauseMs;
    },
  });
}

const blockers = `
  select l.waits_for, b.pid, b.usename, nullif(b.application_name, '') as application, b.xact_start
  from pg_stat_activity w
  cross join lateral unnest(pg_blocking_pids(w.pid)) as holding (pid)
  join pg_stat_activity b on b.pid = holding.pid
  cross join lateral (
    select string_agg(distinct k.relation::regclass::text, ', ') as waits_for from pg_locks k
    where k.pid = w.pid and not k.granted
  ) l
  where w.application_name = $1`;

interface Blocker {
  waits_for: string | null;
  pid: number;
  usename: string | null;
  application: string | null;
  xact_start: Date | null;
}

/** Milliseconds that the end of a look may take. */
const closeMs = 1_000;

/** Watches, on its own connection, who holds locks that connections of one application_name wait for. */
export class LockObserver {
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>;
  #last = "";

  /**
   * @param url a role that may see the statements of others, if there is one
   * @param lockTimeoutMs how long they wait: it looks several times within that
   */
  constructor(url: string, application: string, lockTimeoutMs: number) {
    const everyMs = Math.max(20, Math.min(250, lockTimeoutMs / 4));
    this.#watching = this.#watch(url, application, everyMs);
  }

  /** The last holders that it saw, as the end of a sentence; empty when there were none. */
  holders(): string {
    return this.#last;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await settlesWithin(closeMs, this.#watching);
  }

  async #watch(url: string, application: string, everyMs: number): Promise<void> {
    const { signal } = this.#closing;
    await pause(everyMs, signal);
    if (signal.aborted) return;
    while (!signal.aborted) {
      const looking = withClient(url, async (client) => {
        while (!signal.aborted) {
          const { rows } = await client.query<Blocker>(blockers, [application]);
          if (rows.length > 0) this.#last = describeBlockers(rows);
          await pause(everyMs, signal);
        }
      });
      // This is only information, so a failure is followed by another look
      await looking.catch(() => pause(everyMs, signal));
    }
  }
}

function describeBlockers(rows: Blocker[]): string {
  const wanted = rows[0]!.waits_for === null ? "" : ` on ${rows[0]!.waits_for}`;
  const holders = rows.map(({ pid, usename, application, xact_start: begun }) => {
    const facts = [usename, application, begun && `since ${begun.toISOString()}`].filter(Boolean).join(", ");
    return `process ${pid}${facts && ` (${facts})`}`;
  });
  return `${wanted} that ${[...new Set(holders)].join(" and ")} holds`;
}

/**
 * `concurrently` waits for older transactions and holds up none meanwhile, but leaves an invalid index when it is
 * interrupted.
 */
export async function withoutLockTimeout(
  client: pg.ClientBase,
  { name, holders, onWait }: Pick<RetryLockedOptions, "name" | "holders" | "onWait">,
  work: () => Promise<unknown>,
): Promise<void> {
  const report = () => {
    const found = holders();
    if (found !== "") onWait(`${name} waits for a lock${found}.`);
  };
  const reporting = setInterval(report, reportEveryMs);
  try {
    await client.query("set lock_timeout = 0");
    await work();
  } finally {
    clearInterval(reporting);
    await client.query("reset lock_timeout");
  }
}
