import { errorCodeOf } from "../errors/postgres-errors.ts";
import type pg from "pg";
import type { Obstacle } from "../lib/readiness.ts";
import { settlesWithin } from "../lib/within.ts";
import { isConnectionBroken } from "../postgres/broken.ts";
import { countRequiredMigrations } from "../migrations/migrations.ts";
import { canPrepare } from "../postgres/pipeline/prepared-statements.ts";
import { openPoolLike } from "../postgres/pool.ts";
import { isPooled, losesStatements, poolerAdvice } from "../postgres/pooler.ts";

/** Milliseconds between checks of the disk: each writes a megabyte, and anyone may cause one. */
const diskCheckEveryMs = 2_000;
/** Milliseconds between checks of a pooler, and for one such check: a busy pooler isn't a broken one. */
const [poolerCheckEveryMs, poolerWaitMs] = [5_000, 1_000];
/** Milliseconds without checks after which their connection is closed. */
const idleMs = 30_000;
/** Milliseconds that Postgres may take for one check. */
const checkTimeoutMs = 1_900;

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
const diskQuery = `
  set local work_mem = '64kB';
  select count(*) from (
    select n, repeat('.', 1000) || random() as text from generate_series(1, 1000) n order by text offset 0) filler`;

const unreachable: Obstacle = { code: "DATABASE_AWAY", message: "The database can't be reached." };
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
const statementsLost: Obstacle = {
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
  #running: Promise<Obstacle | null> | null = null;
  #diskCheckedUntil = -Infinity;
  #poolerCheckedUntil = -Infinity;
  #isLossy = false;

  /** @param shared the connections that serve requests */
  constructor(shared: pg.Pool) {
    this.#shared = shared;
    this.#own = openPoolLike(shared, {
      // The check of a pooler takes two
      max: 3,
      connectionTimeoutMillis: checkTimeoutMs,
      query_timeout: checkTimeoutMs,
      idleTimeoutMillis: idleMs,
      application_name: "readiness",
    });
    // Read at the start, because the files on the disk may be replaced later
    void countRequiredMigrations();
  }

  close(): Promise<void> {
    return this.#own.end();
  }

  check(): Promise<Obstacle | null> {
    return (this.#running ??= this.#check().finally(() => void (this.#running = null)));
  }

  async #check(): Promise<Obstacle | null> {
    try {
      return await this.#checkOn(this.#own);
    } catch (error) {
      // too_many_connections: existing connections may still work
      if (errorCodeOf(error) !== "53300") return obstacleFromError(error);
      return this.#checkOn(this.#shared).catch(obstacleFromError);
    }
  }

  async #checkOn(pool: pg.Pool): Promise<Obstacle | null> {
    const client = await pool.connect();
    let failure: unknown;
    let obstacle: Obstacle | null = null;
    try {
      const { rows } = await client.query<State>(stateQuery);
      obstacle = await findObstacle(rows[0]!);
      if (obstacle === null && isPooled(client, rows[0]!.pid)) obstacle = await this.#checkPooler();
      if (obstacle === null && performance.now() > this.#diskCheckedUntil) {
        await client.query(diskQuery);
        this.#diskCheckedUntil = performance.now() + diskCheckEveryMs;
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
  async #checkPooler(): Promise<Obstacle | null> {
    if (!canPrepare(this.#shared)) return null;
    if (performance.now() > this.#poolerCheckedUntil) {
      this.#poolerCheckedUntil = performance.now() + poolerCheckEveryMs;
      const checking = losesStatements((work) => onNewConnection(this.#own, work));
      await settlesWithin(
        poolerWaitMs,
        checking.then((isLossy) => void (this.#isLossy = isLossy)),
      );
    }
    return this.#isLossy ? statementsLost : null;
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

async function findObstacle({ is_recovering, is_read_only, migrations }: State): Promise<Obstacle | null> {
  if (is_recovering) return recovering;
  if (is_read_only) return readOnly;
  return migrations < (await countRequiredMigrations()) ? pending : null;
}

function obstacleFromError(error: unknown): Obstacle {
  switch (errorCodeOf(error)) {
    case "53100": // disk_full
      return diskFull;
    case "57P03": // cannot_connect_now: starting, recovering or shutting down
      return recovering;
    case "3F000": // invalid_schema_name
    case "42883": // undefined_function
      return pending;
    default:
      return unreachable;
  }
}
