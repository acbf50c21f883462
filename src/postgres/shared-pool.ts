import type { Pool, PoolClient } from "pg";
import { FairQueue } from "../lib/fair-queue.ts";
import { LatestOwner } from "../lib/latest-owner.ts";
import type { Share } from "./allotment.ts";
import { Pace } from "./pace.ts";

/**
 * Returns a connection.
 *
 * @param isBroken whether to throw it away
 * @param others clients whose reads were taken along
 */
export type ReturnConnection = (isBroken?: boolean, others?: readonly string[]) => void;
type Connected = (error: Error | null, client?: PoolClient, release?: ReturnConnection) => void;

/** Called when a client's statement is done. @param ms milliseconds for which it had a connection */
export type OnUsed = (client: string, ms: number) => void;

/**
 * Share of the connections that one client of the API may have: usually, and with quick statements while no other client
 * sends requests.
 */
const shareOf = { anyone: 0.4, quickAndAlone: 1 };
/**
 * When a client's statements are quick: up to 20 milliseconds others hardly notice a wait for its connections. A slow
 * statement counts at once, and is soon forgotten.
 */
const paceOfClients = { quickMs: 20, knownAfter: 20, weight: (times: number) => 1 / Math.min(times, 20) };
/**
 * Connections that quick reads take at the same time. More would only make Postgres' processes take turns; reads that wait
 * are taken along instead.
 */
const quickConnections = 6;
/** Milliseconds that requests wait for a connection before another one is opened which other merchants could use. */
const patienceMs = 10;

/** Where connections come from. */
export type Connections = Pick<SharedPool, "connect" | "connection">;

/** The service itself, as a client. It makes no other one less alone. */
export const ownClient = "service";

/** A read that another one may take along on its connection. */
export interface SharedRead {
  client: string;
  /** Whether it is known to be quick, at present. */
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
 * Opening a connection takes as long as many statements, so no request waits for that while others are open: free
 * connections go on to the next request, and more are opened in the background.
 */
export class SharedPool<Read extends SharedRead = SharedRead> {
  readonly turns: FairQueue<Read>;
  readonly #pool: Pool;
  readonly #onUsed: OnUsed;
  readonly #share: Share | null;
  readonly #pace = new Pace(paceOfClients);
  #isOpening = false;
  #patience: NodeJS.Timeout | undefined;
  /** Connections that quick reads have. */
  #quick = 0;
  /** Connections that other statements have: of all clients, of those that are slow, and of each that has some. */
  #others = 0;
  #slow = 0;
  readonly #othersOf = new Map<string, number>();
  /** A connection that has just become free, while the next client gets its turn. */
  #free: { connection: PoolClient; release: ReturnConnection } | null = null;
  readonly #latest = new LatestOwner();

  /** @param share of connections that others need, too */
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
      // As long as the pool itself would let it wait
      maxWaitMs: () => pool.options.connectionTimeoutMillis || 5_000,
    });
  }

  /**
   * Calls back with a connection when it is the client's turn.
   *
   * @param read what it is for, if others may take that along
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

  /** The same, as a promise. */
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
    // More may run now, if other merchants have become quiet
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
   * Where statements are few, one client has a part of them only, and one is kept for clients that need it briefly. The
   * service works for all clients at once.
   */
  #mayBeginOther(client: string): boolean {
    const most = this.#share?.mostStatements() ?? Infinity;
    if (this.#others >= most) return false;
    if (most === Infinity || client === ownClient) return true;
    if (most > 1 && this.#slow >= most - 1 && !this.#pace.isQuick(client)) return false;
    return (this.#othersOf.get(client) ?? 0) < Math.max(1, Math.ceil(most * shareOf.anyone));
  }

  /** Usable connections. */
  get #open(): number {
    return this.#pool.totalCount - (this.#isOpening ? 1 : 0);
  }

  /** Opens another connection if all are in use. */
  #openAnother(hasWaited = false): void {
    const { totalCount, options } = this.#pool;
    // Others need what isn't needed here yet
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

  /** Opens another one in a moment, if it is still needed then. */
  #awaitNeed(): void {
    this.#patience ??= setTimeout(() => {
      this.#patience = undefined;
      this.#openAnother(true);
    }, patienceMs).unref();
  }

  #shareOf(client: string): number {
    // What the service does itself takes nothing from a client that is alone
    const isAlone = this.#latest.isAlone(client === ownClient ? undefined : client);
    const isQuick = isAlone && this.#pace.isKnown(client) && this.#pace.isQuick(client);
    return isQuick ? shareOf.quickAndAlone : shareOf.anyone;
  }
}
