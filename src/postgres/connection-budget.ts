import pg from "pg";
import { Turns } from "../lib/turns.ts";

/** Milliseconds that a merchant waits until it may open a connection. */
const waitMs = 4_500;

/** The callback of the driver. */
type Connected = (error: Error) => void;

/** Milliseconds without statements of others after which a merchant counts as alone. */
const defaultAloneAfterMs = 1_000;

/** How many connections and statements a merchant should have at present. */
export interface Share {
  /** Whether it has more than are its due while others wait, so that it should close one. */
  mustYield: () => boolean;
  /** Whether there is room for one that could wait. */
  mayGrow: () => boolean;
  /** Notes that it has a statement to send. */
  noteUse: () => void;
  /** Its statements that may run at a time, beside quick reads. */
  mostStatements: () => number;
}

export interface BudgetOptions {
  /** Statements of one merchant at a time, beside quick reads, while others have some: their databases share processors. */
  mostStatements?: number;
  /** For tests. */
  aloneAfterMs?: number | undefined;
}

/** What a merchant opens connections with. */
export interface Allotment extends Share {
  /** For pools and single connections: opens one when it is the merchant's turn. */
  Client: typeof pg.Client;
  /** Notes a pool, of which idle connections may be closed when others need them. */
  add(pool: pg.Pool): void;
  /** Forgets a pool that is closed. */
  remove(pool: pg.Pool): void;
  /** Forgets its pools. */
  close(): void;
}

/**
 * Bounds the connections of all merchants of a process together. Who needs one when there are no more takes the place of
 * an idle one, or waits; places are given merchant by merchant, and a merchant that has more than its due gives back.
 */
export class ConnectionBudget {
  readonly #max: number;
  readonly #mostStatements: number;
  readonly #aloneAfterMs: number;
  readonly #turns: Turns;
  readonly #pools = new Set<Set<pg.Pool>>();
  readonly #held = new Map<string, number>();
  /** Connections that are being closed to make room. */
  #leaving = 0;
  /** When the merchant with the latest statement had it, and when the last one of another was. */
  readonly #latest = { merchant: "", at: -Infinity, ofOthersAt: -Infinity };

  /** @param max connections of all merchants together */
  constructor(
    max: number,
    { mostStatements = Infinity, aloneAfterMs = defaultAloneAfterMs }: BudgetOptions = {},
  ) {
    this.#max = max;
    this.#mostStatements = mostStatements;
    this.#aloneAfterMs = aloneAfterMs;
    // Waiting requests are bounded where they wait for a pool
    const unbounded = { maxWaiting: Infinity, maxWaitingPerClient: Infinity };
    this.#turns = new Turns({
      ...{ total: () => max, perClient: () => max, maxWaitMs: () => waitMs },
      ...unbounded,
    });
  }

  /** Connections that are open, and those that are waited for. */
  get counts(): { open: number; waiting: number } {
    const { running, waiting } = this.#turns.counts;
    return { open: running, waiting };
  }

  /**
   * What a merchant opens its connections with.
   *
   * @param within another budget's, of which these are a part
   */
  allot(merchant: string, within?: Allotment): Allotment {
    const take = (begin: (refusal: Error | null) => void) => this.#take(merchant, begin);
    const end = () => this.#end(merchant);
    const pools = new Set<pg.Pool>();
    this.#pools.add(pools);
    class Client extends (within?.Client ?? pg.Client) {
      override connect(): Promise<this>;
      override connect(connected: Connected): void;
      override connect(connected?: Connected): Promise<this> | void {
        const opening = openInTurn(this, take, end, () => super.connect());
        if (!connected) return opening;
        opening.then(() => (connected as () => void)(), connected);
      }
    }
    return {
      Client,
      mustYield: () => this.#isWanting && this.#has(merchant) > this.#due,
      mayGrow: () => this.#turns.counts.running < this.#max,
      noteUse: () => this.#noteUse(merchant),
      mostStatements: () => (this.#isAlone(merchant) ? Infinity : this.#mostStatements),
      add: (pool) => {
        pools.add(pool);
        within?.add(pool);
        // It is idle a moment later
        pool.on("release", () => {
          if (this.#isWanting) setImmediate(() => this.#makeRoom());
        });
      },
      remove(pool) {
        pools.delete(pool);
        within?.remove(pool);
      },
      close: () => {
        for (const pool of pools) within?.remove(pool);
        this.#pools.delete(pools);
      },
    };
  }

  #noteUse(merchant: string): void {
    const latest = this.#latest;
    if (merchant !== latest.merchant) Object.assign(latest, { merchant, ofOthersAt: latest.at });
    latest.at = performance.now();
  }

  #isAlone(merchant: string): boolean {
    const { merchant: latest, at, ofOthersAt } = this.#latest;
    return performance.now() - (merchant === latest ? ofOthersAt : at) > this.#aloneAfterMs;
  }

  /** The connections that are due to each merchant while one waits that has none. */
  get #due(): number {
    return this.#max / (this.#held.size + 1);
  }

  /** Whether more wait than are about to get a place. */
  get #isWanting(): boolean {
    return this.#turns.counts.waiting > this.#leaving;
  }

  #has(merchant: string): number {
    return this.#held.get(merchant) ?? 0;
  }

  #take(merchant: string, begin: (refusal: Error | null) => void): void {
    let isNow = true;
    this.#turns.take(merchant, (refusal) => {
      if (!refusal) this.#held.set(merchant, this.#has(merchant) + 1);
      isNow = false;
      begin(refusal);
    });
    if (isNow) this.#makeRoom();
  }

  #end(merchant: string): void {
    const left = this.#has(merchant) - 1;
    if (left > 0) this.#held.set(merchant, left);
    else this.#held.delete(merchant);
    this.#turns.end(merchant);
  }

  /** Closes an idle connection of the merchant that has most of them. */
  #makeRoom(): void {
    if (!this.#isWanting) return;
    const idle = [...this.#pools].flatMap((pools) => [...pools]);
    const most = idle.reduce<pg.Pool | null>(
      (best, pool) => (pool.idleCount > (best?.idleCount ?? 0) ? pool : best),
      null,
    );
    if (most === null) return;
    this.#leaving++;
    most
      .connect()
      .then((client) => client.release(true))
      .catch(() => {})
      .finally(() => {
        this.#leaving--;
        // Somebody else may have taken it before
        if (this.#isWanting) setImmediate(() => this.#makeRoom());
      });
  }
}

/** Connects when it is its turn, which ends with the connection. */
async function openInTurn<Client extends pg.Client>(
  client: Client,
  take: (begin: (refusal: Error | null) => void) => void,
  end: () => void,
  connect: () => Promise<unknown>,
): Promise<Client> {
  await new Promise<void>((resolve, reject) => take((refusal) => (refusal ? reject(refusal) : resolve())));
  let isOver = false;
  const over = () => {
    if (!isOver) end();
    isOver = true;
  };
  client.once("end", over);
  try {
    await connect();
    return client;
  } catch (error) {
    over();
    throw error;
  }
}
