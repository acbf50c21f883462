import { iso } from "./books.ts";
import { Purchases } from "./purchases.ts";
import type { Method, Movement, Place } from "./record.ts";
import { isCounted, isReceipt, isSpecial } from "./record.ts";

const dayLength = 86_400_000_000n;
/** The day of a moment in the time zone of the merchant, which is UTC. */
export const dayOf = (moment: bigint): string => iso(moment).slice(0, 10);

/** What is booked of values, without goods. */
export class Bookkeeping extends Purchases {
  get isValued(): boolean {
    return this.can.has("valuation.states");
  }

  override async open(): Promise<void> {
    await super.open();
    if (this.isValued && this.random.below(3) > 0) await this.changeMethod("2026-01-01");
  }

  amount(most: number): string {
    return this.random.between(0.01, most).toFixed(this.random.oneOf([2, 2, 6]));
  }

  /** Freight of a receipt: before its goods arrive, or when an invoice comes later. */
  async landCost(): Promise<void> {
    const { random } = this;
    const known = [...this.record.receipts].filter(
      ([id, { type }]) => type !== "Customer" && !this.record.deletedPlaces.has(`goods_receipt:${id}`),
    );
    const some = known.flatMap(([id, { lines }]) =>
      lines
        .filter(({ product, quantity }) => quantity > 0 && this.products.some((one) => one.id === product))
        .map(({ product }) => ({ id, product })),
    );
    if (some.length === 0 || !this.isValued) return;
    await this.number();
    const { id: receipt, product } = random.oneOf(some);
    const [amount, day] = [this.amount(40), dayOf(this.now)];
    const [{ id }] = await this.run(
      `insert into valuation.landed_cost (goods_receipt_id, product_id, amount, day, sequence)
       values ($1, $2, $3, $4, $5) returning id`,
      [receipt, product, amount, day, this.sequence],
    );
    this.record.valueBookings.push({
      kind: "landed cost",
      id,
      product,
      receipt,
      amount,
      day,
      sequence: this.sequence,
    });
  }

  /** Less by the lower market value, or more again. */
  async writeDown(): Promise<void> {
    if (!this.isValued) return;
    await this.number();
    const { id: product } = this.random.oneOf(this.products);
    const day = dayOf(this.now);
    const amount = `${this.random.below(4) === 0 ? "-" : ""}${this.amount(this.random.oneOf([20, 400]))}`;
    const [{ id }] = await this.run(
      `insert into valuation.write_down (product_id, amount, day, sequence, reason) values ($1, $2, $3, $4, 'Old') returning id`,
      [product, amount, day, this.sequence],
    );
    this.record.valueBookings.push({ kind: "write-down", id, product, amount, day, sequence: this.sequence });
  }

  /** Says what units are worth that came from nowhere. */
  async valueOpening(): Promise<void> {
    const open = this.openingsAfter(0);
    if (open.length > 0) await this.setOpening(this.random.oneOf(open));
  }

  /** Movements in the open period that brought units from nowhere, and have no value yet. */
  openingsAfter(sequence: number): Movement[] {
    const { movements, closings, openingValues, deletedProducts } = this.record;
    const closed = Math.max(sequence, closings.at(-1)?.sequence ?? 0);
    return movements.filter(
      ({ id, product, from, to, ...movement }) =>
        isSpecial(from) &&
        isCounted(to) &&
        !openingValues.has(id) &&
        !deletedProducts.has(product) &&
        movement.sequence > closed,
    );
  }

  async setOpening({ id, product }: Movement): Promise<void> {
    if (!this.isValued) return;
    const value = this.random.below(8) === 0 ? "0" : this.amount(60);
    await this.run(
      "insert into valuation.opening_value (stock_movement_id, product_id, unit_value) values ($1, $2, $3)",
      [id, product, value],
    );
    this.record.openingValues.set(id, value);
  }

  /** The price of what a receipt brought is known at last. */
  async setPrices(receipts: Iterable<string>): Promise<void> {
    for (const id of receipts) {
      const price = this.price();
      await this.run(
        "update erp.goods_receipt_line_item set unit_price = $2 where goods_receipt_id = $1 and unit_price is null",
        [id, price],
      );
      for (const line of this.record.receipts.get(id)!.lines) line.price ??= price;
    }
  }

  /** Closes the period up to a day that is over, once everything in it has a value. */
  async closePeriod(): Promise<void> {
    if (!this.can.has("valuation.close_report")) return;
    await this.number();
    const day = dayOf(this.now - dayLength * BigInt(1 + this.random.below(3)));
    if (day <= (this.record.closings.at(-1)?.day ?? dayOf(this.start))) return;
    for (const movement of this.openingsAfter(0))
      if (!movement.from.endsWith("stock_correction") || this.random.below(2) === 0)
        await this.setOpening(movement);
    const unpriced = [...this.record.receipts].filter(
      ([id, { lines, type }]) =>
        type !== "Customer" &&
        lines.some(({ price }) => price === null) &&
        !this.record.deletedPlaces.has(`goods_receipt:${id}`),
    );
    await this.setPrices(unpriced.map(([id]) => id));
    const made = await this.book(() => this.call("stock_valuation_report_create", { reference_date: day }));
    const id = made!.result.stock_valuation_report;
    if (!(await this.book(() => this.call("stock_valuation_report_close", { id })))) return;
    this.record.closings.push({ id, day, sequence: this.cut(day), method: this.methodOn(day) });
    if (this.random.below(3) === 0)
      await this.changeMethod(dayOf(BigInt(Date.parse(day)) * 1000n + dayLength));
  }

  async changeMethod(startsOn: string): Promise<void> {
    const method = this.random.oneOf(["moving_average", "period_average", "fifo"] as const);
    await this.run("insert into valuation.method (method, starts_on) values ($1, $2)", [method, startsOn]);
    this.record.methods.push({ method, startsOn });
  }

  /** The method of a day. It may change with the day after a report. */
  methodOn(day: string): Method {
    const { methods } = this.record;
    return methods.findLast(({ startsOn }) => startsOn <= day)?.method ?? "moving_average";
  }

  /** The number up to which the ledger had been written at the end of a day. */
  cut(day: string): number {
    const later = this.record.movements.filter(
      ({ sequence, booked, product }) =>
        sequence > 0 && dayOf(booked) > day && !this.record.deletedProducts.has(product),
    );
    return later.length > 0 ? Math.min(...later.map(({ sequence }) => sequence)) - 1 : this.sequence;
  }

  /** Places outside of the stock that a movement takes goods from or to. */
  static outsideOf({ from, to }: Movement): Place[] {
    if (isCounted(from) === isCounted(to) && (isCounted(from) || isSpecial(from))) return [];
    if (isSpecial(from) && isReceipt(to)) return [];
    return [from, to].filter((place) => !isCounted(place) && !isSpecial(place));
  }
}
