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
const shareOf = { anyone: 0.4, quickAndAlone: 1 };
/**
 * The bounds for clients with quick statements: others hardly notice a wait of up to 20 milliseconds. A slow statement counts
 * at once, and is soon forgotten.
 */
const paceOfClients = { quickMs: 20, knownAfter: 20, weight: (times: number) => 1 / Math.min(times, 20) };
/**
 * The most connections that quick reads use at a time. More would only make Postgres' processes compete for cores; waiting
 * reads are taken along instead.
 */
const quickConnections = 6;
/** Milliseconds that requests wait before a connection is opened that other merchants could use. */
const patienceMs = 10;

/** A source of connections. */
export type Connections = Pick<SharedPool, "connect" | "connection">;

/** The client name of the service itself. It doesn't count when a client is checked for being alone. */
export const ownClient = "service";

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
  readonly turns: FairQueue<Read>;
  readonly #pool: Pool;
  readonly #onUsed: OnUsed;
  readonly #share: Share | null;
  readonly #pace = new Pace(paceOfClients);
  #isOpening = false;
  #patience: NodeJS.Timeout | undefined;
  /** The number of connections in use by quick reads. */
  #quick = 0;
  /** The numbers of connections in use by other statements: of all clients, of slow clients, and of each client. */
  #others = 0;
  #slow = 0;
  readonly #othersOf = new Map<string, number>();
  /** A connection that has just become free, until the next client has it. */
  #free: { connection: PoolClient; release: ReturnConnection } | null = null;
  readonly #latest = new LatestOwner();

  /** @param share the share of connections that others need too */
  constructor(pool: Pool, onUsed: OnUsed = () => {}, share: Share | null = null) {
    const { max } = pool.options;
    this.#pool = pool;
    this.#onUsed = onUsed;
    this.#share = share;
    this.turns = new FairQueue({
      limit: () => Math.max(1, this.#open),
      limitPerOwner: (client) => Math.max(1, Math.ceil(max * this.#shareOf(client))),
      isLight: (read) => read?.isQuick() === true,
      mayBegin: (read, client) =>
        read?.isQuick() ? this.#quick < quickConnections : this.#mayBeginOther(client),
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
    if (client !== ownClient) this.#latest.note(client);
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
        this.#end(borrower);
        connected(error!);
      });
    };
    this.turns.take(client, begin, read);
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
      this.#end(borrower);
      if (!isBroken && this.#free === null) return; // The next client has it
      this.#free = null;
      release(isBroken);
    });
  }

  #end(borrower: Borrower): void {
    this.#count(borrower, -1);
    this.turns.end(borrower.client);
    // More may run now, if other merchants have become idle
    if (this.#share) this.turns.proceed();
  }

  #count({ client, isQuick, isSlow }: Borrower, change: 1 | -1): void {
    if (isQuick) return void (this.#quick += change);
    this.#others += change;
    if (isSlow) this.#slow += change;
    const count = (this.#othersOf.get(client) ?? 0) + change;
    if (count > 0) this.#othersOf.set(client, count);
    else this.#othersOf.delete(client);
  }

  /**
   * Whether a statement other than a quick read may begin. If few may run, each client gets only a part of them, and one is
   * kept for clients with quick statements. The service itself works for all clients at once.
   */
  #mayBeginOther(client: string): boolean {
    const most = this.#share?.mostStatements() ?? Infinity;
    if (this.#others >= most) return false;
    if (most === Infinity || client === ownClient) return true;
    if (most > 1 && this.#slow >= most - 1 && !this.#pace.isQuick(client)) return false;
    return (this.#othersOf.get(client) ?? 0) < Math.max(1, Math.ceil(most * shareOf.anyone));
  }

  /** The number of usable connections. */
  get #open(): number {
    return this.#pool.totalCount - (this.#isOpening ? 1 : 0);
  }

  /** Opens another connection if all are in use. */
  #openAnother(hasWaited = false): void {
    const { totalCount, options } = this.#pool;
    // Other merchants may need a connection that isn't needed here yet
    if (this.#share && totalCount > 0) {
      if (this.turns.counts.waiting === 0 || !this.#share.mayGrow()) return;
      if (!hasWaited) return this.#awaitNeed();
    }
    if (this.#isOpening || this.turns.counts.running < totalCount || totalCount >= options.max) return;
    this.#isOpening = true;
    this.#pool.connect((error, _connection, release) => {
      this.#isOpening = false;
      release?.();
      this.turns.proceed();
      if (!error) this.#openAnother();
    });
  }

  /** Opens another connection soon, if it is still needed then. */
  #awaitNeed(): void {
    this.#patience ??= setTimeout(() => {
      this.#patience = undefined;
      this.#openAnother(true);
    }, patienceMs).unref();
  }

  #shareOf(client: string): number {
    // The service's own work doesn't reduce the share of a client that is alone
    const isAlone = this.#latest.isAlone(client === ownClient ? undefined : client);
    const isQuick = isAlone && this.#pace.isKnown(client) && this.#pace.isQuick(client);
    return isQuick ? shareOf.quickAndAlone : shareOf.anyone;
  }
}
