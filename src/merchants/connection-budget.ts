import pg from "pg";
import type { Allotment } from "../postgres/allotment.ts";
import { FairQueue, unboundedWaiting } from "../lib/fair-queue.ts";
import { LatestOwner } from "../lib/latest-owner.ts";

/** The maximum wait of a merchant for a connection, in milliseconds. */
const waitMs = 4_500;

/** The callback of node-postgres. */
type ConnectCallback = (error: Error) => void;

export interface BudgetOptions {
  /** Statements that a merchant may run at a time, besides quick reads, while others run some: they share processors. */
  mostStatements?: number;
  /** For tests. */
  aloneAfterMs?: number | undefined;
}

/** The allotment of a merchant, while it is open or has a turn. */
export interface MerchantAllotment extends Allotment {
  /** Forgets a pool. */
  remove: (pool: pg.Pool) => void;
  /** Forgets its pools, which are closed. */
  close: () => void;
}

/** Creates the allotment of a merchant. */
export type Allot = (merchant: string) => MerchantAllotment;

/**
 * Limits the connections of all merchants of a process together. When none is left, a merchant takes the place of an idle
 * connection, or waits. Free places go to one merchant after another; a merchant with more than its share returns some.
 */
export class ConnectionBudget {
  readonly #max: number;
  readonly #mostStatements: number;
  readonly #turns: FairQueue;
  readonly #pools = new Set<pg.Pool>();
  readonly #counts = new Map<string, number>();
  /** Connections that are being closed to make room. */
  #closing = 0;
  /** The merchant with the latest statement. */
  readonly #latest: LatestOwner;

  /** @param max connections of all merchants together */
  constructor(max: number, { mostStatements = Infinity, aloneAfterMs }: BudgetOptions = {}) {
    this.#max = max;
    this.#mostStatements = mostStatements;
    this.#latest = new LatestOwner(aloneAfterMs);
    // The pools limit the number of waiting requests
    this.#turns = new FairQueue({ ...unboundedWaiting, limit: () => max, maxWaitMs: () => waitMs });
  }

  /** The numbers of open connections, and of requests that wait for one. */
  get counts(): { open: number; waiting: number } {
    const { running, waiting } = this.#turns.counts;
    return { open: running, waiting };
  }

  /**
   * Returns the allotment with which a merchant opens its connections.
   *
   * @param within an allotment of another budget that these connections are part of
   */
  allot(merchant: string, within?: MerchantAllotment): MerchantAllotment {
    const open = <Opened extends pg.Client>(client: Opened, connect: () => Promise<unknown>) =>
      this.#open(merchant, client, connect);
    const pools = new Set<pg.Pool>();
    const remove = (pool: pg.Pool) => {
      pools.delete(pool);
      this.#pools.delete(pool);
      within?.remove(pool);
    };
    class Client extends (within?.Client ?? pg.Client) {
      override connect(): Promise<this>;
      override connect(connected: ConnectCallback): void;
      override connect(connected?: ConnectCallback): Promise<this> | void {
        const opening = open(this, () => super.connect());
        if (!connected) return opening;
        opening.then(() => (connected as () => void)(), connected);
      }
    }
    return {
      Client,
      mustYield: () => this.#isWanting && this.#countOf(merchant) > this.#fairShare,
      mayGrow: () => this.#turns.counts.running < this.#max,
      noteUse: () => this.#latest.note(merchant),
      mostStatements: () => (this.#latest.isAlone(merchant) ? Infinity : this.#mostStatements),
      add: (pool) => {
        pools.add(pool);
        this.#pools.add(pool);
        within?.add(pool);
        // The connection is idle a moment later
        pool.on("release", () => {
          if (this.#isWanting) setImmediate(() => this.#makeRoom());
        });
      },
      remove,
      close: () => [...pools].forEach(remove),
    };
  }

  /** The fair share of each merchant, while a merchant without a connection waits. */
  get #fairShare(): number {
    return this.#max / (this.#counts.size + 1);
  }

  /** Whether more requests wait than connections are being closed. */
  get #isWanting(): boolean {
    return this.#turns.counts.waiting > this.#closing;
  }

  #countOf(merchant: string): number {
    return this.#counts.get(merchant) ?? 0;
  }

  /** Connects when the merchant gets a turn, which lasts as long as the connection. */
  async #open<Client extends pg.Client>(
    merchant: string,
    client: Client,
    connect: () => Promise<unknown>,
  ): Promise<Client> {
    const turn = new Promise<void>((resolve, reject) =>
      this.#turns.take(merchant, (refusal) => {
        if (refusal) return reject(refusal);
        this.#counts.set(merchant, this.#countOf(merchant) + 1);
        resolve();
      }),
    );
    if (this.#turns.isWaiting(merchant)) this.#makeRoom();
    await turn;
    let isOver = false;
    const end = () => {
      if (!isOver) this.#end(merchant);
      isOver = true;
    };
    client.once("end", end);
    try {
      await connect();
      return client;
    } catch (error) {
      end();
      throw error;
    }
  }

  #end(merchant: string): void {
    const left = this.#countOf(merchant) - 1;
    if (left > 0) this.#counts.set(merchant, left);
    else this.#counts.delete(merchant);
    this.#turns.end(merchant);
  }

  /** Closes an idle connection of the pool that has most of them. */
  #makeRoom(): void {
    if (!this.#isWanting) return;
    let most: pg.Pool | undefined;
    for (const pool of this.#pools) if (pool.idleCount > (most?.idleCount ?? 0)) most = pool;
    if (!most) return;
    this.#closing++;
    most
      .connect()
      .then((client) => client.release(true))
      .catch(() => {})
      .finally(() => {
        this.#closing--;
        // Another request may have taken the free place
        if (this.#isWanting) setImmediate(() => this.#makeRoom());
      });
  }
}
