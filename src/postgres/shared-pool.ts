import type { Pool, PoolClient } from "pg";
import { FairQueue } from "../lib/fair-queue.ts";
import { LatestOwner } from "../lib/latest-owner.ts";
import type { Share } from "./allotment.ts";
import { Pace } from "./pace.ts";

/**
 * Returns a connection.
 *
 * @param isBroken whether to close it
 * @param others the clients whose reads were taken along
 */
export type ReturnConnection = (isBroken?: boolean, others?: readonly string[]) => void;
type Connected = (error: Error | null, client?: PoolClient, release?: ReturnConnection) => void;

/** Called when a client's statement is done. @param ms the milliseconds for which it had a connection */
export type OnUsed = (client: string, ms: number) => void;

/**
 * The share of the connections that one client of the API may have: usually, and with quick statements while no other
 * client sends requests.
 */
const shares = { anyone: 0.4, quickAndAlone: 1 };
/**
 * The bounds for clients with quick statements: others hardly notice a wait of up to 20 milliseconds. A slow statement counts
 * at once, and is soon forgotten.
 */
const clientPace = { quickMs: 20, minMeasurements: 20, weight: (times: number) => 1 / Math.min(times, 20) };
/**
 * The most connections that quick reads use at a time. More would only make Postgres' processes compete for cores; waiting
 * reads are taken along instead.
 */
const quickConnections = 6;
/** Milliseconds that requests wait before a connection is opened that other merchants could use. */
const growthDelayMs = 10;

/** A source of connections. */
export type Connections = Pick<SharedPool, "connect" | "connection">;

/** The client name of the service itself. It doesn't count when a client is checked for being alone. */
export const serviceClient = "service";

/** A read that may share the connection of another one. */
export interface SharedRead {
  client: string;
  /** Whether it is known to be quick at present. */
  isQuick(): boolean;
}

interface Borrower {
  client: string;
  /** Whether it has the connection for a quick read. */
  isQuick: boolean;
  /** Whether the statements of its client usually take long. */
  isSlow: boolean;
  connected: Connected;
}

/**
 * Shares the connections of a pool among the clients of the API.
 * Opening a connection takes as long as many statements, so no request waits for that while others are open. Free
 * connections pass to the next request, and more are opened in the background.
 */
export class SharedPool<Read extends SharedRead = SharedRead> {
  readonly queue: FairQueue<Read>;
  readonly #pool: Pool;
  readonly #onUsed: OnUsed;
  readonly #share: Share | null;
  readonly #pace = new Pace(clientPace);
  #isOpening = false;
  #growthTimer: NodeJS.Timeout | undefined;
  /** The number of connections in use by quick reads. */
  #quickCount = 0;
  /** The numbers of connections in use by other statements: of all clients, of slow clients, and of each client. */
  #otherCount = 0;
  #slowCount = 0;
  readonly #otherCounts = new Map<string, number>();
  /** A connection that has just become free, until the next client has it. */
  #free: { connection: PoolClient; release: ReturnConnection } | null = null;
  readonly #latestOwner = new LatestOwner();

  /** @param share the share of connections that others need too */
  constructor(pool: Pool, onUsed: OnUsed = () => {}, share: Share | null = null) {
    const { max } = pool.options;
    this.#pool = pool;
    this.#onUsed = onUsed;
    this.#share = share;
    this.queue = new FairQueue({
      limit: () => Math.max(1, this.#openCount),
      limitPerOwner: (client) => Math.max(1, Math.ceil(max * this.#getShare(client))),
      isLight: (read) => read?.isQuick() === true,
      mayBegin: (read, client) =>
        read?.isQuick() ? this.#quickCount < quickConnections : this.#mayBeginOther(client),
      // As long as the pool itself would wait
      maxWaitMs: () => pool.options.connectionTimeoutMillis || 5_000,
    });
  }

  /**
   * Lends a connection when it is the client's turn, by a callback.
   *
   * @param read the read that the connection is for, if it may share one
   */
  connect(client: string, connected: Connected, read?: Read): void {
    if (client !== serviceClient) this.#latestOwner.note(client);
    this.#share?.noteUse();
    const begin = (refusal: Error | null) => {
      if (refusal) return connected(refusal);
      const isQuick = read?.isQuick() ?? false;
      const borrower = { client, isQuick, isSlow: !this.#pace.isQuick(client), connected };
      this.#count(borrower, 1);
      const free = this.#free;
      this.#free = null;
      if (free) return this.#lend(borrower, free.connection, free.release);
      this.#pool.connect((error, connection, release) => {
        if (connection) return this.#lend(borrower, connection, release);
        this.#finish(borrower);
        connected(error!);
      });
    };
    this.queue.take(client, begin, read);
    this.#openAnother();
  }

  /** Lends a connection by a promise. */
  connection(client: string): Promise<{ connection: PoolClient; release: ReturnConnection }> {
    return new Promise((resolve, reject) =>
      this.connect(client, (error, connection, release) =>
        error ? reject(error) : resolve({ connection: connection!, release: release! }),
      ),
    );
  }

  #lend(borrower: Borrower, connection: PoolClient, release: ReturnConnection): void {
    const start = performance.now();
    borrower.connected(null, connection, (hasBroken = false, others = []) => {
      const isBroken = hasBroken || this.#share?.mustYield() === true;
      const ms = (performance.now() - start) / (1 + others.length);
      for (const client of [borrower.client, ...others]) {
        this.#pace.note(client, ms);
        this.#onUsed(client, ms);
      }
      this.#free = isBroken ? null : { connection, release };
      this.#finish(borrower);
      if (!isBroken && this.#free === null) return; // The next client has it
      this.#free = null;
      release(isBroken);
    });
  }

  #finish(borrower: Borrower): void {
    this.#count(borrower, -1);
    this.queue.end(borrower.client);
    // More may run now, if other merchants have become idle
    if (this.#share) this.queue.proceed();
  }

  #count({ client, isQuick, isSlow }: Borrower, change: 1 | -1): void {
    if (isQuick) return void (this.#quickCount += change);
    this.#otherCount += change;
    if (isSlow) this.#slowCount += change;
    const count = (this.#otherCounts.get(client) ?? 0) + change;
    if (count > 0) this.#otherCounts.set(client, count);
    else this.#otherCounts.delete(client);
  }

  /**
   * Whether a statement other than a quick read may begin. If few may run, each client gets only a part of them, and one is
   * kept for clients with quick statements. The service itself works for all clients at once.
   */
  #mayBeginOther(client: string): boolean {
    const most = this.#share?.mostStatements() ?? Infinity;
    if (this.#otherCount >= most) return false;
    if (most === Infinity || client === serviceClient) return true;
    if (most > 1 && this.#slowCount >= most - 1 && !this.#pace.isQuick(client)) return false;
    return (this.#otherCounts.get(client) ?? 0) < Math.max(1, Math.ceil(most * shares.anyone));
  }

  /** The number of usable connections. */
  get #openCount(): number {
    return this.#pool.totalCount - (this.#isOpening ? 1 : 0);
  }

  /** Opens another connection if all are in use. */
  #openAnother(hasWaited = false): void {
    const { totalCount, options } = this.#pool;
    // Other merchants may need a connection that isn't needed here yet
    if (this.#share && totalCount > 0) {
      if (this.queue.counts.waiting === 0 || !this.#share.mayGrow()) return;
      if (!hasWaited) return this.#openLater();
    }
    if (this.#isOpening || this.queue.counts.running < totalCount || totalCount >= options.max) return;
    this.#isOpening = true;
    this.#pool.connect((error, _connection, release) => {
      this.#isOpening = false;
      release?.();
      this.queue.proceed();
      if (!error) this.#openAnother();
    });
  }

  /** Opens another connection soon, if it is still needed then. */
  #openLater(): void {
    this.#growthTimer ??= setTimeout(() => {
      this.#growthTimer = undefined;
      this.#openAnother(true);
    }, growthDelayMs).unref();
  }

  #getShare(client: string): number {
    // The service's own work doesn't reduce the share of a client that is alone
    const isAlone = this.#latestOwner.isAlone(client === serviceClient ? undefined : client);
    const isQuick = isAlone && this.#pace.isKnown(client) && this.#pace.isQuick(client);
    return isQuick ? shares.quickAndAlone : shares.anyone;
  }
}
