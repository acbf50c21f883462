import type { Pool, PoolClient } from "pg";
import { Turns } from "./turns.ts";

/** Gives a connection back. @param isBroken whether to throw it away */
export type Release = (isBroken?: boolean) => void;
type Connected = (error: Error | null, client?: PoolClient, release?: Release) => void;

/** Called when a client's statement is done. @param ms for how long it had a connection */
export type OnUsed = (client: string, ms: number) => void;

/** Connections that one client of the API may have, as a part of all. */
const shareOfOne = 0.4;

/** The connections of a pool, shared among the clients of the API. */
export class SharedPool {
  readonly turns: Turns;
  readonly #pool: Pool;
  readonly #onUsed: OnUsed;

  constructor(pool: Pool, onUsed: OnUsed = () => {}) {
    const { max: total } = pool.options;
    this.#pool = pool;
    this.#onUsed = onUsed;
    const perClient = Math.max(1, Math.ceil(total * shareOfOne));
    // As long as the pool itself would let it wait
    this.turns = new Turns({
      total,
      perClient,
      maxWaitMs: () => pool.options.connectionTimeoutMillis || 5_000,
    });
  }

  /** Calls back with a connection, when it is the client's turn. */
  connect(client: string, connected: Connected): void {
    this.turns.take(client, (refusal) => {
      if (refusal) return connected(refusal);
      this.#pool.connect((error, connection, release) => {
        if (!connection) {
          this.turns.end(client);
          return connected(error!);
        }
        const start = performance.now();
        connected(null, connection, (isBroken) => {
          release(isBroken);
          this.#onUsed(client, performance.now() - start);
          this.turns.end(client);
        });
      });
    });
  }

  /** The same, as a promise. */
  connection(client: string): Promise<{ connection: PoolClient; release: Release }> {
    return new Promise((resolve, reject) =>
      this.connect(client, (error, connection, release) =>
        error ? reject(error) : resolve({ connection: connection!, release: release! }),
      ),
    );
  }
}
