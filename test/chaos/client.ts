import { setTimeout as sleep } from "node:timers/promises";
import type { ClientCredentials } from "../../src/auth/credentials.ts";
import type { Books } from "./books.ts";
import type { Random } from "../lib/random.ts";
import { Requests } from "./requests.ts";
import type { Service } from "./service.ts";

/** What a client books, by global ids. */
export interface Goods {
  /** The product that only this client books. */
  own: string;
  /** Products that all book. */
  shared: readonly string[];
  bins: readonly string[];
}

export interface ClientOptions {
  services: readonly Service[];
  /** The only service that it asks, without sending its position along; null when it asks all. */
  home: Service | null;
  credentials: ClientCredentials;
  goods: Goods;
  random: Random;
  books: Books;
  /** When nobody wants to know any more. */
  interrupted: AbortSignal;
}

/** Milliseconds between two calls, as clients have something else to do. */
const pauseMs = [50, 250] as const;
/** Milliseconds until a request is sent again. */
const againMs = 200;
/** Bookings that it still knows, to send them again. */
const known = 50;

interface Line {
  productId: string;
  place: { binLocationId: string };
  delta: number;
}

const stockAdjust = `mutation ($input: StockAdjustInput!) { stockAdjust(input: $input) {
  stockMovements { id } stocks { productId quantity } userErrors { code } } }`;
const suppliersUpsert = `mutation ($input: SuppliersUpsertInput!) { suppliersUpsert(input: $input) {
  suppliers { id name } userErrors { code } } }`;

/**
 * Books stock, renames its supplier, and reads what it has written. It sends calls with their keys again until they are
 * answered, as clients should. Calls without a key it sends once.
 */
export class Client {
  readonly name: string;
  readonly #options: ClientOptions;
  readonly #requests: Requests;
  readonly #ending = new AbortController();
  readonly ended: Promise<void>;
  /** Calls that it has had answered. */
  done = 0;
  /** Units of its own product. */
  #stock = 0;
  #supplier: { id: string; name: string } | null = null;
  readonly #answered: { input: object; movements: string }[] = [];

  constructor(name: string, options: ClientOptions) {
    this.name = name;
    this.#options = options;
    this.#requests = new Requests(name, options);
    this.ended = this.#work().catch((error: unknown) => {
      if (options.interrupted.aborted) return;
      options.books.violation(`${name} can't go on: ${error instanceof Error ? error.stack : error}`);
    });
  }

  /** Ends its work, when its call has been answered; at once when the run is broken off. */
  end(): Promise<void> {
    this.#ending.abort();
    return this.ended;
  }

  async #work(): Promise<void> {
    const { random } = this.#options;
    for (let n = 1; !this.#ending.signal.aborted; n++) {
      const choice = random.next();
      if (choice < 0.5) await this.#bookOwn(n);
      else if (choice < 0.65) await this.#bookWithoutKey(n);
      else if (choice < 0.8) await this.#rename(n);
      else if (choice < 0.9) await this.#repeat();
      else await this.#read();
      this.done++;
      await sleep(random.between(...pauseMs));
    }
  }

  #line(productId: string): Line {
    const { random, goods } = this.#options;
    return { productId, place: { binLocationId: random.oneOf(goods.bins) }, delta: 1 + random.below(5) };
  }

  /** Books its own product, mostly in a line, and reads how much there is. */
  async #bookOwn(n: number): Promise<void> {
    const { random, goods, books } = this.#options;
    const comment = `${this.name}, booking ${n}`;
    const lines = Array.from({ length: random.next() < 0.7 ? 1 : 3 }, () => this.#line(goods.own));
    const added = lines.reduce((sum, { delta }) => sum + delta, 0);
    if (random.next() < 0.3) lines.push(this.#line(random.oneOf(goods.shared)));
    const input = { lines, comment, idempotencyKey: comment };
    books.bookings.set(comment, { comment, lines: lines.length, outcome: "unknown" });
    const { stockAdjust: made } = await this.#surely(stockAdjust, { input });
    if (made.userErrors.length > 0) books.violation(`${comment} was refused: ${JSON.stringify(made)}`);
    books.bookings.get(comment)!.outcome = "answered";
    books.counts.booked++;
    this.#stock += added;
    this.#answered.push({ input, movements: JSON.stringify(made.stockMovements) });
    if (this.#answered.length > known) this.#answered.shift();
    await this.#read();
  }

  /** Sends a booking once. The answer tells whether it was done, or that this is unknown. */
  async #bookWithoutKey(n: number): Promise<void> {
    const { random, goods, books } = this.#options;
    const comment = `${this.name}, without key ${n}`;
    const booking = { comment, lines: 1, outcome: "unknown" as "unknown" | "answered" | "not done" };
    books.bookings.set(comment, booking);
    const input = { lines: [this.#line(random.oneOf(goods.shared))], comment };
    const answer = await this.#requests.send(stockAdjust, { input }, { isRepeatable: false });
    if (answer === null) return;
    if (answer.data) booking.outcome = "answered";
    else if (answer.wasDone) booking.outcome = "answered";
    else if (answer.retryable) booking.outcome = "not done";
    if (booking.outcome === "answered") books.counts.booked++;
  }

  /** Renames its supplier, and reads the name. */
  async #rename(n: number): Promise<void> {
    const { books } = this.#options;
    const name = `name ${n}`;
    const input = { suppliers: [{ number: this.name, name }], idempotencyKey: `${this.name}, ${name}` };
    const { suppliersUpsert: made } = await this.#surely(suppliersUpsert, { input });
    if (made.userErrors.length > 0) books.violation(`${this.name}: ${JSON.stringify(made)}`);
    this.#supplier = { id: made.suppliers[0].id, name };
    books.counts.renamed++;
    await this.#read();
  }

  /** Sends a booking again that was answered. */
  async #repeat(): Promise<void> {
    const { random, books } = this.#options;
    if (this.#answered.length === 0) return;
    const { input, movements } = random.oneOf(this.#answered);
    const { stockAdjust: made } = await this.#surely(stockAdjust, { input });
    if (JSON.stringify(made.stockMovements) !== movements)
      books.violation(`${JSON.stringify(input)} again: ${JSON.stringify(made)} instead of ${movements}`);
    books.counts.repeated++;
  }

  /** Reads what it has written: no answer may be older than that. */
  async #read(): Promise<void> {
    const { goods, books } = this.#options;
    const supplier = this.#supplier;
    const query = `query ($product: ID!, $supplier: ID!) {
      product(id: $product) { stocks { edges { node { quantity binLocationId } } } } supplier(id: $supplier) { name } }`;
    const variables = { product: goods.own, supplier: supplier?.id ?? nobody };
    const data = await this.#surely(query, variables);
    let stock = 0;
    for (const { node } of data.product.stocks.edges) if (node.binLocationId !== null) stock += node.quantity;
    const seen = { stock, name: data.supplier?.name ?? null };
    const wanted = { stock: this.#stock, name: supplier?.name ?? null };
    books.counts.read++;
    if (JSON.stringify(seen) !== JSON.stringify(wanted))
      books.violation(
        `${this.name} has written ${JSON.stringify(wanted)} and sees ${JSON.stringify(seen)}: ${JSON.stringify(this.#requests.latest)}`,
      );
  }

  /** The data of an answer, sooner or later. */
  async #surely(query: string, variables: object): Promise<any> {
    const { interrupted } = this.#options;
    for (;;) {
      const answer = await this.#requests.send(query, variables, { isRepeatable: true });
      if (answer?.data) return answer.data;
      interrupted.throwIfAborted();
      this.#options.books.counts.sentAgain++;
      // As clients do, instead of asking ever faster
      await sleep(againMs);
    }
  }
}

const nobody = "gid://service/Supplier/01980000-0000-7000-8000-000000000000";
