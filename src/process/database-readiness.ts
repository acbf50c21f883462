import { codeOf } from "../errors/postgres-errors.ts";
import type pg from "pg";
import type { Obstacle } from "../lib/readiness.ts";
import { within } from "../lib/within.ts";
import { isConnectionBroken } from "../postgres/broken.ts";
import { migrationsWanted } from "../migrations/migrations.ts";
import { canPrepareOn } from "../postgres/pipeline/prepared-statements.ts";
import { openPoolLike } from "../postgres/pool.ts";
import { isPooled, losesStatements, poolerAdvice } from "../postgres/pooler.ts";

/** Milliseconds between checks of the disk: each writes a megabyte, and anyone may cause one. */
const roomHoldsMs = 2_000;
/** Milliseconds between checks of a pooler, and for one such check: a busy pooler isn't a broken one. */
const [poolerHoldsMs, poolerWaitMs] = [5_000, 1_000];
/** Milliseconds without checks after which their connection is closed. */
const idleMs = 30_000;
/** Milliseconds that Postgres may take for one check. */
const lookTimeoutMs = 1_900;

/** The state that Postgres reports about itself. */
interface State {
  is_recovering: boolean;
  is_read_only: boolean;
  migrations: number;
  pid: number;
}

const stateQuery = `
  select pg_is_in_recovery() as is_recovering, current_setting('transaction_read_only')::boolean as is_read_only,
    api_meta.migration_count() as migrations, pg_backend_pid() as pid`;

/**
 * Sorts a megabyte of random data in 64 kB of memory, so that Postgres writes a temporary file. That needs disk space as
 * new rows do, and leaves nothing behind. An update would prove nothing, because it may fit into an existing file.
 */
const roomQuery = `
  set local work_mem = '64kB';
  select count(*) from (
    select n, repeat('.', 1000) || random() as text from generate_series(1, 1000) n order by text offset 0) filler`;

const away: Obstacle = { code: "DATABASE_AWAY", message: "The database can't be reached." };
const recovering: Obstacle = {
  code: "DATABASE_RECOVERING",
  message: "The database is starting, recovering, or a standby.",
};
const readOnly: Obstacle = { code: "DATABASE_READ_ONLY", message: "The database is read-only." };
const diskFull: Obstacle = { code: "DISK_FULL", message: "The database's disk is full." };
const pending: Obstacle = {
  code: "MIGRATIONS_PENDING",
  message: "The database lacks migrations. Run `npx erp db setup`.",
};
const untracked: Obstacle = {
  code: "PREPARED_STATEMENTS_LOST",
  message: `The pooler doesn't keep track of prepared statements. ${poolerAdvice}`,
};

/**
 * Checks whether the database can be read and written now. It has its own connection, because a process whose other
 * connections are all busy is still ready. Concurrent callers share one check.
 */
export class DatabaseCheck {
  readonly #own: pg.Pool;
  readonly #shared: pg.Pool;
  #under: Promise<Obstacle | null> | null = null;
  #roomUntil = -Infinity;
  #poolerUntil = -Infinity;
  #isLossy = false;

  /** @param shared the connections that serve requests */
  constructor(shared: pg.Pool) {
    this.#shared = shared;
    this.#own = openPoolLike(shared, {
      // The check of a pooler takes two
      max: 3,
      connectionTimeoutMillis: lookTimeoutMs,
      query_timeout: lookTimeoutMs,
      idleTimeoutMillis: idleMs,
      application_name: "readiness",
    });
    // Read at the start, because the files on the disk may be replaced later
    void migrationsWanted();
  }

  close(): Promise<void> {
    return this.#own.end();
  }

  look(): Promise<Obstacle | null> {
    return (this.#under ??= this.#look().finally(() => void (this.#under = null)));
  }

  async #look(): Promise<Obstacle | null> {
    try {
      return await this.#lookBy(this.#own);
    } catch (error) {
      // too_many_connections: existing connections may still work
      if (codeOf(error) !== "53300") return obstacleOf(error);
      return this.#lookBy(this.#shared).catch(obstacleOf);
    }
  }

  async #lookBy(pool: pg.Pool): Promise<Obstacle | null> {
    const client = await pool.connect();
    let failure: unknown;
    let obstacle: Obstacle | null = null;
    try {
      const { rows } = await client.query<State>(stateQuery);
      obstacle = await obstacleIn(rows[0]!);
      if (obstacle === null && isPooled(client, rows[0]!.pid)) obstacle = await this.#pooler();
      if (obstacle === null && performance.now() > this.#roomUntil) {
        await client.query(roomQuery);
        this.#roomUntil = performance.now() + roomHoldsMs;
      }
      return obstacle;
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      // After a failover a new connection may reach a server that takes writes
      client.release(isConnectionBroken(failure) || obstacle !== null);
    }
  }

  /** Checks the pooler from time to time. Returns the last known result if the check takes too long. */
  async #pooler(): Promise<Obstacle | null> {
    if (!canPrepareOn(this.#shared)) return null;
    if (performance.now() > this.#poolerUntil) {
      this.#poolerUntil = performance.now() + poolerHoldsMs;
      const looking = losesStatements((work) => onNewConnection(this.#own, work));
      await within(
        poolerWaitMs,
        looking.then((isLossy) => void (this.#isLossy = isLossy)),
      );
    }
    return this.#isLossy ? untracked : null;
  }
}

/** Runs work on a connection and then closes it, because the work may leave it in any state. */
async function onNewConnection<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release(true);
  }
}

async function obstacleIn({ is_recovering, is_read_only, migrations }: State): Promise<Obstacle | null> {
  if (is_recovering) return recovering;
  if (is_read_only) return readOnly;
  return migrations < (await migrationsWanted()) ? pending : null;
}

function obstacleOf(error: unknown): Obstacle {
  switch (codeOf(error)) {
    case "53100": // disk_full
      return diskFull;
    case "57P03": // cannot_connect_now: starting, recovering or shutting down
      return recovering;
    case "3F000": // invalid_schema_name
    case "42883": // undefined_function
      return pending;
    default:
      return away;
  }
}
