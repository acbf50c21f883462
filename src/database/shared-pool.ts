import { LRUCache } from "lru-cache";
import type { Pool, PoolClient } from "pg";
import { Turns } from "../lib/turns.ts";

/** Returns a connection. @param isBroken whether to throw it away */
export type Release = (isBroken?: boolean) => void;
type Connected = (error: Error | null, client?: PoolClient, release?: Release) => void;

/** Called when a client's statement is done. @param ms milliseconds for which it had a connection */
export type OnUsed = (client: string, ms: number) => void;

/**
 * Share of all connections that one client of the API may have: at first, and when its statements are known to be
 * quick.
 */
const shareOf = { anyone: 0.4, quick: 1 };
/** Average milliseconds of a client's statements, up to which others hardly notice a wait for its connections. */
const quickMs = 20;
/** Statements that the average needs to be meaningful. */
const knownAfter = 20;
const maxKnownClients = 10_000;

/** The connections of a pool, shared among the clients of the API. */
export class SharedPool {
  readonly turns: Turns;
  readonly #pool: Pool;
  readonly #onUsed: OnUsed;
  readonly #pace = new LRUCache<string, { count: number; averageMs: number }>({ max: maxKnownClients });

  constructor(pool: Pool, onUsed: OnUsed = () => {}) {
    const { max: total } = pool.options;
    this.#pool = pool;
    this.#onUsed = onUsed;
    const perClient = (client: string) => Math.max(1, Math.ceil(total * this.#shareOf(client)));
    // As long as the pool itself would let it wait
    this.turns = new Turns({
      total,
      perClient,
      maxWaitMs: () => pool.options.connectionTimeoutMillis || 5_000,
    });
  }

  /** Calls back with a connection when it is the client's turn. */
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
          const ms = performance.now() - start;
          this.#note(client, ms);
          this.#onUsed(client, ms);
          // Ended first, so that the next client already waits when the connection is released
          this.turns.end(client);
          release(isBroken);
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

  #shareOf(client: string): number {
    const pace = this.#pace.get(client);
    return pace && pace.count >= knownAfter && pace.averageMs < quickMs ? shareOf.quick : shareOf.anyone;
  }

  /** A slow statement counts at once, and is soon forgotten. */
  #note(client: string, ms: number): void {
    const pace = this.#pace.get(client);
    if (!pace) return void this.#pace.set(client, { count: 1, averageMs: ms });
    pace.count++;
    pace.averageMs += (ms - pace.averageMs) / Math.min(pace.count, knownAfter);
  }
}
