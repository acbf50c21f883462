import assert from "node:assert/strict";
import type { Move } from "./books.ts";
import { hour, iso, special, unitsOf } from "./books.ts";
import { insertOrder } from "./merchant.ts";
import { Bookkeeping } from "./bookkeeping.ts";
import type { Movement, Receipt } from "./record.ts";
import { isCount } from "./record.ts";

interface Order {
  id: string;
  fulfillmentOrder: string;
  lines: { id: string; product: string; open: number }[];
}

/** Random business of a merchant, by the functions that mutations call. */
export class Business extends Bookkeeping {
  readonly orders: Order[] = [];
  fulfillments: string[] = [];

  override async open(): Promise<void> {
    await super.open();
    for (let n = 0; n < 4; n++) await this.begin();
  }

  /** Does something at random. */
  async step(): Promise<void> {
    this.now += BigInt(1 + this.random.below(Number(6n * hour)));
    const name = this.random.oneOf(steps);
    this.log.push(name);
    await this[name]();
    if (this.random.below(3) === 0) await this.number();
  }

  /** Stock that was there before the ledger. */
  async begin(): Promise<void> {
    const moves = Array.from({ length: 1 + this.random.below(3) }, (): Move => {
      const product = this.random.oneOf(this.products);
      const [from, to] = [
        special(this.random.oneOf(["initialization", "import"])),
        this.random.oneOf(this.places),
      ];
      return { product: product.id, quantity: 5 + this.random.below(40), ...this.batchOf(product), from, to };
    });
    await this.book(() => this.insert(moves));
  }

  async adjust(): Promise<void> {
    const pile = this.inPlace();
    const product = this.random.oneOf(this.products);
    const isLess = pile && this.random.below(2) === 0;
    const line = isLess
      ? {
          product: pile.product,
          batch: pile.batch,
          place: pile.place,
          delta: -this.some(Math.min(pile.units, 6)),
        }
      : {
          product: product.id,
          ...this.batchOf(product),
          place: this.random.oneOf(this.places),
          delta: 1 + this.random.below(8),
        };
    await this.book(() =>
      this.call("stock_adjust", {
        lines: [
          { product_id: line.product, place: this.at(line.place), delta: line.delta, batch_id: line.batch },
        ],
      }),
    );
  }

  /** A count, mostly one that comes late: what was there at its moment, give or take some. */
  async count(): Promise<void> {
    const pile = this.inPlace();
    if (!pile) return;
    const { product, place, batch = "" } = pile;
    const counted = this.now - BigInt(this.random.oneOf([0, 1, 20, 60])) * hour - 1n;
    const legs = this.record.movements.filter(
      (m) => m.product === product && (m.from === place || m.to === place),
    );
    const change = (m: Movement) =>
      (m.to === place ? 1 : -1) * (unitsOf(m).find(([name]) => name === batch)?.[1] ?? 0);
    const sum = (some: Movement[]) => some.reduce((units, movement) => units + change(movement), 0);
    const moved = sum(legs.filter((m) => m.booked > counted && !isCount(m)));
    const found = Math.max(0, pile.units - moved + this.random.below(7) - 3);
    const isOld = legs.some((m) => isCount(m) && m.happened > counted && change(m) !== 0);
    const done = await this.book(() =>
      this.call("stock_set", {
        lines: [
          {
            product_id: product,
            place: this.at(place),
            quantity: found,
            batch_id: pile.batch,
            counted_at: iso(counted),
          },
        ],
      }),
    );
    if (!done || isOld) return;
    const difference = sum(done.movements);
    if (difference !== 0) assert.equal(done.movements[0]!.happened, counted);
    // A newer count that found what was there left no movement, but makes this one old, too
    if (difference !== 0)
      assert.equal(difference, found + moved - pile.units, "the difference of a late count");
  }

  async transfer(): Promise<void> {
    const pile = this.inPlace();
    const to = this.random.oneOf(this.places);
    if (!pile || pile.place === to) return;
    const { product, place, units, batch } = pile;
    await this.book(() =>
      this.call("stock_transfer", {
        lines: [
          {
            product_id: product,
            source: this.at(place),
            destination: this.at(to),
            quantity: this.some(units),
            batch_id: batch,
          },
        ],
      }),
    );
  }

  /** Into a container, out of it, or from there to a customer. */
  async pack(): Promise<void> {
    const container = `stock_container:${this.merchant.container[0]}`;
    const packed = this.pile((place) => place === container);
    const pile = packed && this.random.below(2) ? packed : this.inPlace();
    if (!pile) return;
    const order =
      this.orders.length > 0 && this.random.below(2) ? `order:${this.random.oneOf(this.orders).id}` : null;
    const to = pile.place === container ? (order ?? this.random.oneOf(this.places)) : container;
    const { product, place: from, units, batch } = pile;
    await this.book(() =>
      this.insert([{ product, quantity: this.some(units), ...(batch && { batch }), from, to }]),
    );
  }

  /** Out of the books, or back to where it came from. */
  async lose(): Promise<void> {
    const pile = this.inPlace();
    if (!pile) return;
    const { product, place: from, units, batch } = pile;
    const to = special(this.random.oneOf(["unknown", "stock_correction"]));
    await this.book(() =>
      this.insert([{ product, quantity: this.some(Math.min(units, 5)), ...(batch && { batch }), from, to }]),
    );
  }

  async order(): Promise<void> {
    const random = this.random;
    const warehouse = random.oneOf(this.merchant.warehouses);
    const lying = this.products
      .map(({ id: product }) => {
        const places = this.places.filter((place) => this.record.warehouseOf.get(place) === warehouse);
        return { product, units: places.reduce((sum, place) => sum + this.unitsIn(product, place), 0) };
      })
      .filter(({ units }) => units > 0);
    if (lying.length === 0) return;
    const wanted = [...new Set([0, 1, 2].map(() => random.oneOf(lying)))].map(({ product, units }) => ({
      product,
      quantity: this.some(Math.min(units, 12)),
    }));
    const done = await this.book(() =>
      this.run(insertOrder, [`O-${this.log.length}`, JSON.stringify(wanted), warehouse]),
    );
    const [{ id, fulfillment_order: fulfillmentOrder, lines }] = done!.result;
    const open = wanted.map(({ product, quantity }, n) => ({ id: lines[n], product, open: quantity }));
    this.orders.push({ id, fulfillmentOrder, lines: open });
    this.now += hour;
    await this.ship();
  }

  async ship(): Promise<void> {
    const isAlive = (product: string) => !this.record.deletedProducts.has(product);
    const open = this.orders.filter(({ lines }) =>
      lines.some((line) => line.open > 0 && isAlive(line.product)),
    );
    if (open.length === 0) return;
    const order = this.random.oneOf(open);
    const parts = order.lines
      .filter((line) => line.open > 0 && isAlive(line.product))
      .map((line) => ({ line, quantity: this.some(line.open) }));
    const done = await this.book(() =>
      this.call("fulfillment_create", {
        fulfillment_order_id: order.fulfillmentOrder,
        lines: parts.map(({ line, quantity }) => ({ fulfillment_order_line_item_id: line.id, quantity })),
      }),
    );
    if (!done) return;
    const { fulfillment } = done.result;
    this.fulfillments.push(fulfillment);
    this.record.fulfillments.set(
      fulfillment,
      done.movements.map(({ id }) => id),
    );
    for (const { line, quantity } of parts) {
      line.open -= quantity;
      const sent: Movement[] = done.movements.filter(
        ({ product, to }) => product === line.product && to === `order:${order.id}`,
      );
      assert.equal(
        sent.reduce((sum, movement) => sum + movement.quantity, 0),
        quantity,
        "units that were shipped",
      );
      for (const [batch] of sent.flatMap(({ batches }) => batches))
        assert.ok(!this.record.heldBatches.has(batch), "a held batch was picked");
    }
  }

  /** Cancels a fulfillment: its units come back, and stay off the order, which has what is open already. */
  async cancel(): Promise<void> {
    if (this.fulfillments.length === 0) return;
    const id = this.random.oneOf(this.fulfillments);
    this.fulfillments = this.fulfillments.filter((other) => other !== id);
    await this.book(() => this.call("fulfillment_cancel", { id }));
  }

  /** Goods come back from an order: they are announced by a return order, and arrive with a receipt. */
  async sendBack(): Promise<void> {
    const pile = this.pile((place) => place.startsWith("order:") && !this.record.deletedPlaces.has(place));
    if (!pile) return;
    const { product, place: from, batch } = pile;
    const units = this.some(pile.units);
    const done = await this.book(async () => {
      const [{ id }] = await this.run(
        "insert into erp.return_order (number, order_id) values ('R-' || gen_random_uuid(), $1) returning id",
        [from.split(":")[1]],
      );
      await this.insert([
        { product, quantity: units, ...(batch && { batch }), from, to: `return_order:${id}` },
      ]);
      return id;
    });
    if (!done || this.random.below(5) === 0) return;
    const quantity = this.some(units);
    const line = {
      product,
      quantity,
      price: this.random.oneOf([null, "5"]),
      taxRate: "19",
      disposed: this.random.below(4) ? 0 : 1,
    };
    const receipt: Receipt = {
      type: "Customer",
      taxStatus: "net",
      factor: "1",
      currency: this.euro,
      lines: [line],
    };
    const [warehouse, , returns] = this.merchant.warehouses;
    await this.announceLines(
      receipt,
      { type: "Customer", warehouse_id: this.random.oneOf([warehouse, returns]), currency_id: this.euro },
      [{ ...line, ...(batch && { batch }), returnOrder: done.result }],
    );
  }

  /** A batch waits for an examination, or passed it. */
  async hold(): Promise<void> {
    const batches = this.products.flatMap((product) => product.batches);
    if (batches.length === 0) return;
    const id = this.random.oneOf(batches);
    const { heldBatches } = this.record;
    const isHeld = heldBatches.has(id);
    const name = isHeld ? "batch_release" : "batch_hold";
    if (!(await this.book(() => this.call(name, { ids: [id] })))) return;
    if (isHeld) heldBatches.delete(id);
    else heldBatches.add(id);
  }

  /** The ledger writes down its balances, as background work does. */
  async close(): Promise<void> {
    await this.number();
    await this.run("select ledger.close_next($1)", [20 + this.random.below(60)]);
  }

  /** Once in a while a product goes, with all its movements. */
  async deleteProduct(): Promise<void> {
    if (this.products.length < 5 || this.random.below(4) > 0) return;
    await this.number();
    const { id } = this.random.oneOf(this.products);
    if (!(await this.book(() => this.run("delete from erp.product where id = $1", [id])))) return;
    this.record.deletedProducts.set(id, this.record.closings.length);
  }

  /** Orders may be deleted; what was shipped for them is not to be found any more. */
  async deleteOrder(): Promise<void> {
    if (this.orders.length < 5 || this.random.below(3) > 0) return;
    const order = this.random.oneOf(this.orders);
    const remove = () => this.run("delete from erp.sales_order where id = $1", [order.id]);
    if (await this.book(remove, `order:${order.id}`)) this.orders.splice(this.orders.indexOf(order), 1);
  }

  /** A bin is emptied and torn down. */
  async deleteBin(): Promise<void> {
    const bins = this.places.filter((place) => place.startsWith("bin_location:"));
    if (bins.length < 4 || this.random.below(3) > 0) return;
    const bin = this.random.oneOf(bins);
    const moves = this.products.flatMap(({ id: product }) =>
      [...(this.stock.get(product)!.get(bin) ?? [])]
        .filter(([, units]) => units > 0)
        .map(([batch, quantity]) => ({
          product,
          quantity,
          ...(batch && { batch }),
          from: bin,
          to: `warehouse:${this.record.warehouseOf.get(bin)}`,
        })),
    );
    if (moves.length > 0) await this.book(() => this.insert(moves));
    this.now += hour;
    await this.book(() => this.call("bin_location_delete", { id: bin.split(":")[1] }), bin);
  }
}

/** As often as they are named. */
const steps = [
  ..."adjust adjust count count count transfer transfer pack pack lose announce announce receive receive receive receive".split(
    " ",
  ),
  ..."giveBack order order order order ship ship cancel sendBack sendBack deleteProduct deleteBin begin hold hold close landCost landCost writeDown valueOpening closePeriod closePeriod voidReport deleteOrder".split(
    " ",
  ),
] as ("adjust" | "count" | "transfer")[];
