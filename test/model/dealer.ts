import assert from "node:assert/strict";
import { gid } from "../lib/ids.ts";
import type { Random } from "../lib/random.ts";
import type { TestProcess } from "../lib/service.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { Books, readFacts } from "./facts.ts";
import type { Row, Step } from "./facts.ts";
import { checkStep } from "./step.ts";

/** Refusals that a merchant may get for what he tries at random. Any other one fails the test. */
const expectable = new Set(
  `INSUFFICIENT_STOCK INVALID_STATE_TRANSITION ON_HOLD OVER_FULFILLMENT EXCEEDS_SHIPPED NOT_EDITABLE REFERENCE_IN_USE
   BATCH_MISMATCH BATCH_REQUIRED OUT_OF_RANGE INVALID WAREHOUSE_NOT_EMPTY NOT_COUNTED ALREADY_COUNTED NOT_UNIQUE BEING_COUNTED
   QUANTITY_CHANGED RETURN_EXISTS REQUIRED`.split(/\s+/),
);
const brief = (input: object): string =>
  JSON.stringify(input).replace(/gid:\/\/service\/(\w+)\/[0-9a-f-]+?([0-9a-f]{6})"/g, '$1 $2"');

/** Calls the service as a merchant does, and checks everything after each call. */
export class Dealer {
  readonly shop: ShippingShop;
  readonly random: Random;
  readonly log: string[] = [];
  /** How often each call succeeded. */
  readonly done = new Map<string, number>();
  readonly #processes: TestProcess[];
  books!: Books;
  readonly earlier: Books[] = [];
  approver = "";
  number = 0;

  constructor(shop: ShippingShop, processes: TestProcess[], random: Random) {
    this.shop = shop;
    this.#processes = processes;
    this.random = random;
  }

  async open(): Promise<void> {
    await this.shop.owner.query(`update erp.location set active = true;
      update erp.bin_location set stock_state = 'damaged' where code = 'R-1'`);
    this.approver = await this.shop.token({ read: "all", write: "all" });
    this.books = new Books(await readFacts(this.shop.owner));
  }

  /** Makes one call; the next one comes to the other process. Then everything must be right. */
  async call(name: string, input: any, token?: string): Promise<Step> {
    const process = this.#processes[this.number++ % this.#processes.length]!;
    const { body, text } = await this.shop.tryMutate(name, input, {
      process,
      ...(token && { token }),
      select: "__typename",
    });
    const cause = () => JSON.stringify(this.shop.log.at(-1)?.err ?? null).slice(0, 3_000);
    assert.equal(body.errors, undefined, `${this.history()}\n${name} ${brief(input)}\n${text}\n${cause()}`);
    const payload = body.data[name];
    const codes: string[] = payload.userErrors.map(({ code }: Row) => code);
    const step: Step = { name, input, codes, payload };
    this.log.push(`${name} ${brief(input)}: ${codes.length ? JSON.stringify(payload.userErrors) : "done"}`);
    if (codes.length === 0) this.done.set(name, (this.done.get(name) ?? 0) + 1);
    for (const code of codes) assert.ok(expectable.has(code), `${code}\n${this.history()}`);
    await this.check(step);
    return step;
  }

  async check(step: Step): Promise<void> {
    const before = this.books;
    this.earlier.push(before);
    this.books = new Books(await readFacts(this.shop.owner));
    try {
      checkStep(before, this.books, step);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${this.history()}`, { cause: error });
    }
  }

  /** Changes rows as a DBA does. */
  async sql(text: string, ...values: unknown[]): Promise<void> {
    await this.shop.owner.query(text, values);
    this.log.push(`${text} ${values.join(" ")}`);
    await this.check({ name: "sql", input: {}, codes: [], payload: {} });
  }

  history(): string {
    return this.log.slice(-40).join("\n");
  }

  one(list: Row[], isFit: (row: Row) => boolean = () => true): Row | undefined {
    const fit = list.filter(isFit);
    return fit.length > 0 ? this.random.oneOf(fit) : undefined;
  }
  some(most: number): number {
    return 1 + this.random.below(Math.max(1, most));
  }
  chance(of: number): boolean {
    return this.random.below(of) === 0;
  }
  product(): Row {
    return this.random.oneOf(this.books.facts.products);
  }
  warehouse(): Row {
    return this.random.oneOf(this.books.facts.warehouses);
  }
  place(warehouse?: string): Row {
    const { bins, warehouses } = this.books.facts;
    const its = bins.filter((bin) => !warehouse || bin.warehouse === warehouse);
    if (its.length > 0 && !this.chance(3))
      return { binLocationId: gid("BinLocation", this.random.oneOf(its).id) };
    return { warehouseId: gid("Warehouse", warehouse ?? this.random.oneOf(warehouses).id) };
  }
  placeOf(pile: { warehouse: string; bin: string | null }): Row {
    return pile.bin
      ? { binLocationId: gid("BinLocation", pile.bin) }
      : { warehouseId: gid("Warehouse", pile.warehouse) };
  }
  batchOf(product: Row): string | null {
    const batch = this.one(this.books.facts.batches, (one) => one.product === product.id);
    return batch && (product.hasBatches || this.chance(3)) ? gid("Batch", batch.id) : null;
  }
  idOf(batch: string): string | null {
    return batch === "-" ? null : gid("Batch", batch);
  }
  pile() {
    const piles = this.books.piles.filter(({ warehouse, units }) => warehouse && units > 0);
    return piles.length > 0 ? this.random.oneOf(piles) : undefined;
  }
}
