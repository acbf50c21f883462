import assert from "node:assert/strict";
import { iso } from "./books.ts";
import { divideCosts } from "./model.ts";
import { divide, micro, scaled, shown } from "./money.ts";
import { Purchases } from "./purchases.ts";
import type { Method, Movement, Place } from "./record.ts";
import { isCounted, isReceipt, isSpecial } from "./record.ts";

const dayLength = 86_400_000_000n;
/** The day of a moment in the time zone of the merchant, which is UTC. */
export const dayOf = (moment: bigint): string => iso(moment).slice(0, 10);

interface ValueRow {
  id: string;
  product: string;
  amount: string;
  day: string;
  sequence: number;
}

/** What is booked of values, without goods. */
export class Bookkeeping extends Purchases {
  override async open(): Promise<void> {
    await super.open();
    if (this.random.below(3) > 0) await this.changeMethod("2026-01-01");
  }

  amount(most: number): string {
    return this.random.between(0.01, most).toFixed(this.random.oneOf([2, 2, 6]));
  }

  /** Freight of a receipt: before its goods arrive, or when an invoice comes later. */
  async landCost(): Promise<void> {
    const { random, record } = this;
    const known = this.receipts.filter(
      ({ state, receipt }) => state !== "created" && receipt.type !== "Customer",
    );
    if (known.length === 0) return;
    const { id, receipt } = random.oneOf(known);
    const basis = random.oneOf(["by_value", "by_quantity", "by_weight"] as const);
    const [amount, isForeign] = [this.amount(80), random.below(2) === 0];
    const currency_id = isForeign ? receipt.currency : undefined;
    const parts = await this.#bookValue("landed_cost_allocate", "landed_cost", (day) => ({
      goods_receipt_id: id,
      amount,
      currency_id,
      basis,
      day,
    }));
    if (parts.length === 0) return;
    const cost = isForeign ? divide(micro(amount) * 10n ** 12n, scaled(receipt.factor, 12)) : micro(amount);
    const weightOf = (product: string) => this.merchant.products.find((one) => one.id === product)!.weight;
    // What a deleted product would have borne, others do: only the sum is known then
    if (!receipt.lines.some(({ product }) => record.deletedProducts.has(product)))
      assert.deepEqual(
        parts.map(({ product, amount: part }) => [product, part]),
        [...divideCosts(receipt, cost, basis, weightOf)]
          .filter(([, part]) => part !== 0n)
          .map(([product, part]) => [product, shown(part)]),
        `landed costs ${basis}`,
      );
    for (const part of parts) record.valueBookings.push({ ...part, kind: "landed cost", receipt: id });
  }

  /** Less by the lower market value, or more again. */
  async writeDown(): Promise<void> {
    const { id: product_id } = this.random.oneOf(this.products);
    const amount = `${this.random.below(4) === 0 ? "-" : ""}${this.amount(this.random.oneOf([20, 400]))}`;
    const reason = "Old";
    if (this.random.below(2)) {
      const bookings = await this.#bookValue("stock_write_down", "write_down", (day) => ({
        product_id,
        amount,
        reason,
        day,
      }));
      for (const booking of bookings) this.record.valueBookings.push({ ...booking, kind: "write-down" });
      return;
    }
    // As if something had been booked before it, since
    await this.number();
    const [day, { sequence }] = [dayOf(this.now), this];
    const [{ id }] = await this.run(
      "insert into valuation.write_down (product_id, amount, day, sequence, reason) values ($1, $2, $3, $4, $5) returning id",
      [product_id, amount, day, sequence, reason],
    );
    this.record.valueBookings.push({ kind: "write-down", id, product: product_id, amount, day, sequence });
  }

  /** Books values at the end of a day in the open period. Returns none when it is refused. */
  async #bookValue(name: string, table: string, inputOf: (day: string) => object): Promise<ValueRow[]> {
    await this.number();
    const day = dayOf(this.now - dayLength * BigInt(this.random.oneOf([0, 0, 1, 3])));
    const done = await this.book(() => this.call(name, inputOf(day)));
    if (!done) return [];
    const ids = [done.result.landed_costs ?? done.result.write_down].flat();
    const rows: ValueRow[] = await this.run(
      `select id, product_id as product, amount::numeric(30, 6)::text as amount, day::text as day, sequence::integer as sequence
       from valuation.${table} where id = any ($1) order by product_id`,
      [ids],
    );
    assert.ok(rows.length > 0, `${name} booked nothing`);
    const position = Math.max(this.cut(day), this.record.closings.at(-1)?.sequence ?? 0);
    for (const row of rows) assert.deepEqual([row.day, row.sequence], [day, position], `${name} on ${day}`);
    return rows;
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

  async setOpening({ id }: Movement): Promise<void> {
    const value = this.random.below(8) === 0 ? "0" : this.amount(60);
    await this.call("stock_opening_values_set", { lines: [{ stock_movement_id: id, unit_value: value }] });
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

  /** The newest report was wrong: its period is open again. */
  async voidReport(): Promise<void> {
    const { closings, methods, deletedPlaces, deletedProducts } = this.record;
    const newest = closings.at(-1);
    if (!newest || this.random.below(3) > 0) return;
    await this.number();
    const input = { id: newest.id, reason: "Wrong" };
    // Not of two in a row: the second is not the newest
    if (!(await this.book(() => this.call("stock_valuation_report_void", input)))) return;
    closings.pop();
    this.record.methods = methods.filter(({ startsOn }) => startsOn <= newest.day);
    await this.run("delete from valuation.method where starts_on > $1", [newest.day]);
    for (const gone of [deletedPlaces, deletedProducts])
      for (const [id, periods] of gone) gone.set(id, Math.min(periods, closings.length));
  }

  async changeMethod(startsOn: string): Promise<void> {
    const method = this.random.oneOf(["moving_average", "period_average", "fifo"] as const);
    await this.run("select valuation.set_method($1, $2)", [method, startsOn]);
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
