import type { Pool } from "pg";
import type { Logger } from "pino";
import { settlesWithin } from "../lib/within.ts";
import { createRowReader, textReader } from "../postgres/pipeline/read-text.ts";
import type { ReadText, WaitingRead } from "../postgres/pipeline/read-text.ts";
import { guardedSettings } from "../postgres/pipeline/transaction-settings.ts";
import { createPool } from "../postgres/pool.ts";
import type { PoolOptions } from "../postgres/pool.ts";
import type { OnUsed } from "../postgres/shared-pool.ts";
import { SharedPool } from "../postgres/shared-pool.ts";
import { parsePosition, formatPosition } from "../postgres/wal-position.ts";
import type { Position } from "../postgres/wal-position.ts";

/** Milliseconds within which a replica must answer a health check. */
export const responseTimeoutMs = 1_000;

/** The reason why a replica isn't used. */
export type Obstacle = "away" | "no standby" | "another timeline" | "lagging";

/** The position and timeline of a standby. */
export interface StandbyState {
  position: Position;
  /** The timeline of its last restartpoint: after a failover, a standby shows the new one only minutes later. */
  timeline: number;
}

/** Thrown when a read ended because the replica could no longer be reached. */
export class ReplicaUnreachable extends Error {}

/** Its connections, while it can be reached. */
interface OpenConnections {
  pool: Pool;
  healthPool: Pool;
  readText: ReadText;
  /** Functions that fail the running reads, one for each. */
  reads: Set<(error: Error) => void>;
}

/** A standby of the primary that answers reads. */
export class Replica {
  readonly name: string;
  readonly #url: string;
  readonly #options: PoolOptions;
  readonly #onUsed: OnUsed;
  #open: OpenConnections | null = null;
  readonly #logger: Logger;
  #obstacle: Obstacle | null = "away";
  /** Its lag behind the primary in milliseconds, at the last health check. */
  lagMs = 0;

  constructor(url: string, options: PoolOptions, { logger, onUsed }: { logger: Logger; onUsed: OnUsed }) {
    this.name = getAddress(url);
    this.#url = url;
    this.#options = options;
    this.#logger = logger;
    this.#onUsed = onUsed;
  }

  /** Why it isn't used now; null when it is used. */
  get obstacle(): Obstacle | null {
    return this.#obstacle;
  }

  /** Notes why it isn't used, or that it is, and logs changes. */
  setObstacle(obstacle: Obstacle | null, error?: unknown): void {
    if (obstacle === this.#obstacle) return;
    this.#obstacle = obstacle;
    const about = { replica: this.name, obstacle: obstacle ?? undefined, err: error };
    if (obstacle === null) this.#logger.info(about, "reading from a replica");
    else this.#logger.warn(about, "not reading from a replica");
  }

  /**
   * Reads its position. Opens connections if there are none, and closes them when it doesn't answer.
   *
   * @returns null when it isn't a standby
   * @throws when it can't be reached
   */
  async checkHealth(): Promise<StandbyState | null> {
    const open = (this.#open ??= this.#connect());
    try {
      const { rows } = await open.healthPool.query<{ position: string | null; timeline: number }>(
        `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn()::text end as position,
          greatest(c.timeline_id, r.min_recovery_end_timeline) as timeline
        from pg_control_checkpoint() c, pg_control_recovery() r`,
      );
      const [{ position, timeline }] = rows as [{ position: string | null; timeline: number }];
      return position === null ? null : { position: parsePosition(position)!, timeline };
    } catch (error) {
      this.#disconnect(open, error);
      throw error;
    }
  }

  /**
   * Reads a text, if the replica has replayed all up to a position.
   *
   * @throws {ReplicaUnreachable} when it can't be reached
   * @throws invalid_text_representation when it hasn't reached the position yet
   */
  read(position: Position, ...[client, settings, statement]: Parameters<ReadText>): Promise<string | null> {
    return new Promise((resolve, reject) => {
      if (this.#open === null) return reject(new ReplicaUnreachable());
      const { readText, reads } = this.#open;
      reads.add(reject);
      readText(client, guardedSettings(settings, formatPosition(position)), statement)
        .then(resolve, reject)
        .finally(() => reads.delete(reject));
    });
  }

  /** Closes its connections. Reads that wait for its answer are repeated on the primary. */
  #disconnect(open: OpenConnections, error: unknown): void {
    this.setObstacle("away", error);
    if (this.#open === open) this.#open = null;
    for (const end of open.reads) end(new ReplicaUnreachable());
    for (const pool of [open.pool, open.healthPool]) void pool.end().catch(() => {});
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    if (open) await settlesWithin(responseTimeoutMs, Promise.all([open.pool.end(), open.healthPool.end()]));
  }

  #connect(): OpenConnections {
    const pool = createPool(this.#url, this.#options);
    const watching = createPool(this.#url, { max: 1, name: "replicas" });
    Object.assign(watching.options, {
      connectionTimeoutMillis: responseTimeoutMs,
      query_timeout: responseTimeoutMs,
    });
    const shared = new SharedPool<WaitingRead>(pool, this.#onUsed);
    return { pool, healthPool: watching, readText: textReader(createRowReader(shared)), reads: new Set() };
  }
}

/** Returns host and port, for the log and metrics. */
function getAddress(url: string): string {
  const { host, searchParams } = new URL(url);
  return host || (searchParams.get("host") ?? "local");
}
