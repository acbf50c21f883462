import { setTimeout as sleep } from "node:timers/promises";
import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { errorCodeOf } from "../errors/postgres-errors.ts";
import { isConnectionBroken } from "./broken.ts";
import { runPipelined } from "./pipeline/pipelined-query.ts";

/** The most connections that are kept warm. Each takes about 11 MB of Postgres' memory. */
const maxWarm = 4;
/** Milliseconds after which a new connection is warmed up. By then the request that opened it has probably ended. */
const delayMs = 500;
const settings = { role: "service_api" };
const rehearsal = { text: "select mutation.rehearse()", name: "mutation.rehearse" };

/** Returns how many connections of a pool to keep warm. The last one is left to requests. */
export function getWarmCount(max: number): number {
  return Math.max(0, Math.min(maxWarm, max - 1));
}

/**
 * Rehearses mutations on connections before requests need them.
 *
 * The first booking of a connection takes ten times as long as later ones. Of its 76 ms, half went into reading Postgres'
 * catalog and compiling 17 functions, half into analysing and planning their 86 statements. The connection caches all of
 * that. `mutation.rehearse` defines what is rehearsed.
 */
export class PoolWarmer {
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #targetCount: number;
  /** Connections that have rehearsed nothing yet. */
  readonly #cold = new Set<PoolClient>();
  readonly #closing = new AbortController();
  #round: Promise<void> | null = null;

  /** Starts in the background. Connections that the pool opens later are warmed up too. */
  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool;
    this.#logger = logger;
    this.#targetCount = getWarmCount(pool.options.max);
    if (this.#targetCount === 0) return;
    pool.on("connect", this.#add);
    pool.on("remove", this.#remove);
    this.schedule();
  }

  async close(): Promise<void> {
    this.#pool.off("connect", this.#add);
    this.#pool.off("remove", this.#remove);
    this.#closing.abort();
    await this.#round;
  }

  readonly #add = (client: PoolClient): void => {
    this.#cold.add(client);
    this.schedule();
  };

  readonly #remove = (client: PoolClient): void => void this.#cold.delete(client);

  schedule(): void {
    this.#round ??= this.#warmAll().finally(() => void (this.#round = null));
  }

  async #warmAll(): Promise<void> {
    const { signal } = this.#closing;
    try {
      while (this.#cold.size > 0 || this.#pool.totalCount < this.#targetCount) {
        await sleep(delayMs, undefined, { signal, ref: false });
        for (let client; (client = await this.#takeCold()) !== null;) await this.#rehearseOn(client);
      }
    } catch (error) {
      // Postgres can't be reached or is read-only, or the merchant's plan has no mutations: none of it is urgent
      this.#logger.debug({ err: error }, "connections aren't warmed up");
    }
  }

  /** Takes an idle cold connection, or a new one while there are too few; null when none can be spared. */
  async #takeCold(): Promise<PoolClient | null> {
    const pool = this.#pool;
    const held: PoolClient[] = [];
    try {
      while (
        this.#isSpare() &&
        (pool.totalCount < this.#targetCount || (pool.idleCount > 0 && this.#cold.size > 0))
      ) {
        const client = await pool.connect();
        if (this.#cold.has(client)) return client;
        held.push(client);
      }
      return null;
    } finally {
      for (const client of held) client.release();
    }
  }

  /** Whether a connection can be taken while another one stays free for requests. */
  #isSpare(): boolean {
    const { waitingCount, totalCount, idleCount, options } = this.#pool;
    return waitingCount === 0 && options.max - (totalCount - idleCount) > 1;
  }

  async #rehearseOn(client: PoolClient): Promise<void> {
    // Each connection is tried once, successful or not
    this.#cold.delete(client);
    let failure: unknown;
    try {
      await runPipelined(client, settings, rehearsal);
    } catch (error) {
      failure = error;
      // lock_not_available: real work has priority. Other connections may find other rows
      if (errorCodeOf(error) !== "55P03") throw error;
    } finally {
      client.release(isConnectionBroken(failure));
    }
  }
}
