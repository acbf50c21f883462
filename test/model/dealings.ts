import assert from "node:assert/strict";
import { gid } from "../lib/ids.ts";
import type { Random } from "../lib/random.ts";
import type { TestProcess } from "../lib/service.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { Books, isOpen, readFacts, sum } from "./facts.ts";
import type { Row } from "./facts.ts";
import { checkStep } from "./step.ts";

/** One call of the business, and what came of it. */
export interface Step {
  name: string;
  input: any;
  codes: string[];
  payload: any;
}

/** Refusals that a merchant may get for what he tries at random. Any other one fails the test. */
const expectable = new Set(
  `INSUFFICIENT_STOCK INVALID_STATE_TRANSITION ON_HOLD OVER_FULFILLMENT EXCEEDS_SHIPPED NOT_EDITABLE REFERENCE_IN_USE
   BATCH_MISMATCH BATCH_REQUIRED OUT_OF_RANGE INVALID WAREHOUSE_NOT_EMPTY NOT_COUNTED ALREADY_COUNTED NOT_UNIQUE BEING_COUNTED
   QUANTITY_CHANGED RETURN_EXISTS REQUIRED`.split(/\s+/),
);
const brief = (input: object): string =>
  JSON.stringify(input).replace(/gid:\/\/service\/(\w+)\/[0-9a-f-]+?([0-9a-f]{6})"/g, '$1 $2"');

/** A merchant who does everything at once: sells, promises, ships, takes back, counts, moves, holds and closes. */
export class Dealings {
  readonly shop: ShippingShop;
  readonly random: Random;
  readonly log: string[] = [];
  /** How often each call succeeded. */
  readonly done = new Map<string, number>();
  readonly #processes: TestProcess[];
  #books!: Books;
  readonly #earlier: Books[] = [];
  #approver = "";
  #number = 0;

  constructor(shop: ShippingShop, processes: TestProcess[], random: Random) {
    this.shop = shop;
    this.#processes = processes;
    this.random = random;
  }

  get books(): Books {
    return this.#books;
  }

  async open(): Promise<void> {
    await this.shop.owner.query(`update erp.location set active = true;
      update erp.bin_location set stock_state = 'damaged' where code = 'R-1'`);
    this.#approver = await this.shop.token({ read: "all", write: "all" });
    this.#books = new Books(await readFacts(this.shop.owner));
    for (let n = 0; n < 30; n++) await this.adjust();
  }

  /** Makes one call; the next one comes to the other process. Then everything must be right. */
  async call(name: string, input: any, token?: string): Promise<Step> {
    const process = this.#processes[this.#number++ % this.#processes.length]!;
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
    const before = this.#books;
    this.#earlier.push(before);
    this.#books = new Books(await readFacts(this.shop.owner));
    try {
      checkStep(before, this.#books, step);
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
    return this.random.oneOf(this.#books.facts.products);
  }
  warehouse(): Row {
    return this.random.oneOf(this.#books.facts.warehouses);
  }
  place(warehouse?: string): Row {
    const { bins, warehouses } = this.#books.facts;
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
    const batch = this.one(this.#books.facts.batches, (one) => one.product === product.id);
    return batch && (product.hasBatches || this.chance(3)) ? gid("Batch", batch.id) : null;
  }
  idOf(batch: string): string | null {
    return batch === "-" ? null : gid("Batch", batch);
  }
  pile() {
    const piles = this.#books.piles.filter(({ warehouse, units }) => warehouse && units > 0);
    return piles.length > 0 ? this.random.oneOf(piles) : undefined;
  }

  // Stock

  async adjust(): Promise<void> {
    const product = this.product();
    const pile = this.chance(4) ? this.pile() : undefined;
    const line = pile
      ? {
          productId: gid("Product", pile.product),
          place: this.placeOf(pile),
          batchId: this.idOf(pile.batch),
          delta: -this.some(pile.units),
        }
      : {
          productId: gid("Product", product.id),
          place: this.place(),
          batchId: this.batchOf(product),
          delta: this.some(40),
        };
    await this.call("stockAdjust", { lines: [line] });
  }
  async set(): Promise<void> {
    const pile = this.pile();
    if (!pile) return;
    const line = {
      productId: gid("Product", pile.product),
      place: this.placeOf(pile),
      batchId: this.idOf(pile.batch),
    };
    if (
      pile.batch === "-" &&
      this.#books.piles.some((one) => one.batch !== "-" && one.product === pile.product)
    )
      return;
    await this.call("stockSet", { lines: [{ ...line, quantity: this.random.below(pile.units + 4) }] });
  }
  async transfer(): Promise<void> {
    const pile = this.pile();
    if (!pile) return;
    const line = {
      productId: gid("Product", pile.product),
      source: this.placeOf(pile),
      batchId: this.idOf(pile.batch),
    };
    await this.call("stockTransfer", {
      lines: [{ ...line, destination: this.place(), quantity: this.some(pile.units) }],
    });
  }
  async setState(): Promise<void> {
    const { id } = this.random.oneOf(this.#books.facts.bins);
    const stockState = this.random.oneOf(["sellable", "sellable", "quality_control", "damaged"]);
    await this.call("binLocationUpdate", { id: gid("BinLocation", id), stockState });
  }
  async hold(): Promise<void> {
    const batch = this.one(this.#books.facts.batches);
    if (!batch) return;
    const id = gid("Batch", batch.id);
    const what = this.random.below(6);
    if (what < 2)
      await this.call("batchHold", {
        ids: [id],
        stockState: this.random.oneOf(["quality_control", "damaged"]),
      });
    else if (what < 5) await this.call("batchRelease", { ids: [id] });
    else
      await this.call("batchUpdate", {
        id,
        bestBeforeDate: this.random.oneOf(["2020-01-01", "2099-01-01", null]),
      });
  }
  async keepSafety(): Promise<void> {
    const input = {
      productId: gid("Product", this.product().id),
      warehouseId: gid("Warehouse", this.warehouse().id),
    };
    await this.call("productWarehouseConfigurationSet", {
      ...input,
      safetyStock: this.random.oneOf([0, 1, 3]),
    });
  }
  async openOrClose(): Promise<void> {
    await this.call("warehouseUpdate", {
      id: gid("Warehouse", this.warehouse().id),
      isStockAvailableForSale: !this.chance(3),
    });
  }
  async replaceThings(): Promise<void> {
    const name = `new-${++this.#number}`;
    if (this.chance(3)) {
      const bin = this.random.oneOf(this.#books.facts.bins);
      await this.call("binLocationDelete", { id: gid("BinLocation", bin.id) });
      await this.call("binLocationCreate", {
        warehouseId: gid("Warehouse", this.warehouse().id),
        code: name,
      });
    } else if (this.chance(2)) {
      await this.sql("delete from erp.product where id = $1", this.product().id);
      await this.call("productsUpsert", {
        products: [{ productNumber: name, isBatchManaged: this.chance(3) }],
      });
    } else {
      const product = gid("Product", this.product().id);
      await this.call("batchesUpsert", { batches: [{ productId: product, number: name }] });
    }
  }

  // Orders

  async order(): Promise<void> {
    const open = this.one(this.#books.facts.orders, ({ state }) => ["open", "in_progress"].includes(state));
    if (open && this.chance(4)) return await this.changeOrder(open);
    const lineItems = Array.from({ length: this.some(3) }, (_, position) => {
      const { id } = this.product();
      return {
        productId: gid("Product", id),
        quantity: this.some(6),
        label: "x",
        identifier: `${position}`,
        position,
        unitPrice: 3,
        taxRate: 19,
      };
    });
    const orderNumber = `N-${++this.#number}`;
    const currencyId = this.shop.id.EUR;
    await this.call("ordersUpsert", {
      orders: [{ orderNumber, currencyId, lineItems, shippingAddress: { countryIso: "DE" } }],
    });
  }
  async changeOrder({ id }: Row): Promise<void> {
    const lines = this.#books.facts.lines.filter((line) => line.order === id);
    const kept = lines
      .filter(() => !this.chance(6))
      .map((line) => ({
        id: gid("OrderLineItem", line.id),
        ...(this.chance(10) && { productId: gid("Product", this.product().id) }),
        quantity: this.chance(2)
          ? line.quantity
          : Math.max(1, line.shipped, line.quantity + this.random.below(7) - 4),
      }));
    const { id: productId } = this.product();
    const added = {
      productId: gid("Product", productId),
      quantity: this.some(4),
      label: "more",
      identifier: `m${++this.#number}`,
      unitPrice: 3,
    };
    await this.call("ordersUpsert", {
      orders: [{ id: gid("Order", id), lineItems: this.chance(3) ? [...kept, added] : kept }],
    });
  }
  async endOrReopen(): Promise<void> {
    const order = this.one(this.#books.facts.orders);
    if (order)
      await this.call(this.chance(2) ? "orderCancel" : "orderReopen", { id: gid("Order", order.id) });
  }
  async ship(): Promise<void> {
    const order = this.one(
      this.#books.facts.orders,
      ({ state }) => ["open", "in_progress"].includes(state) || this.chance(30),
    );
    if (!order) return;
    const warehouseId = this.chance(3) ? gid("Warehouse", this.warehouse().id) : undefined;
    await this.call("orderShipmentComplete", { orderId: gid("Order", order.id), warehouseId });
  }
  async assign(): Promise<void> {
    const { facts } = this.#books;
    const line = this.one(facts.lines, (one) => this.#books.uncovered(one) > 0) ?? this.one(facts.lines);
    if (!line) return;
    const orderId = gid("Order", line.order);
    const warehouseId = gid("Warehouse", this.warehouse().id);
    const lines = [
      { orderLineItemId: gid("OrderLineItem", line.id), quantity: this.some(this.#books.uncovered(line)) },
    ];
    const more = this.random.oneOf([{}, {}, { warehouseId }, { warehouseId, lines }]);
    await this.call("fulfillmentOrderCreate", { orderId, ...more });
  }
  async handle(): Promise<void> {
    const { facts } = this.#books;
    const one = this.one(facts.fulfillmentOrders, (some) => isOpen(some) || this.chance(20));
    if (!one) return;
    const id = gid("FulfillmentOrder", one.id);
    const its = facts.assigned.filter(
      ({ owner, quantity, fulfilled }) => owner === one.id && quantity > fulfilled,
    );
    const part = this.one(its);
    const lines = part && [
      {
        fulfillmentOrderLineItemId: gid("FulfillmentOrderLineItem", part.id),
        quantity: this.some(part.quantity - part.fulfilled),
      },
    ];
    const warehouseId = gid("Warehouse", this.warehouse().id);
    const inputs: Record<string, object> = {
      fulfillmentOrderMove: this.random.oneOf([{ id }, { id, warehouseId }, { id, warehouseId, lines }]),
      fulfillmentOrderSplit: { id, lines: lines ?? [] },
      fulfillmentOrderHold: { id },
      fulfillmentOrderReleaseHold: { id },
      fulfillmentOrderStart: { id },
      fulfillmentOrderCancel: { id },
      fulfillmentCreate: { fulfillmentOrderId: id, lines },
    };
    const often = ["fulfillmentOrderMove", "fulfillmentOrderSplit", "fulfillmentCreate", "fulfillmentCreate"];
    const name = this.random.oneOf([...Object.keys(inputs), ...often]);
    if (lines || !/Split|Create/.test(name)) await this.call(name, inputs[name]!);
  }
  async cancelShipment(): Promise<void> {
    const shipped = this.one(this.#books.facts.shipped, ({ state }) => state === "Fulfilled");
    if (shipped) await this.call("fulfillmentCancel", { id: gid("Fulfillment", shipped.fulfillment) });
  }
  async source(): Promise<void> {
    const rules = this.random.oneOf([
      [],
      ["priority", "fullest"],
      ["split_least"],
      ["do_not_split", "fullest"],
      ["fullest"],
      ["same_country"],
    ]);
    const { rows } = await this.shop.owner.query("select id from erp.location order by name");
    const locationIds = [gid("Location", this.random.oneOf(rows as Row[]).id)];
    await this.call("sourcingRulesSet", { rules, ...(rules.includes("priority") && { locationIds }) });
  }

  // Promises

  async reserve(): Promise<void> {
    const { facts } = this.#books;
    const lines = Array.from({ length: this.some(2) }, () => {
      const line = this.chance(2)
        ? this.one(facts.lines, (one) => this.#books.uncovered(one) > 0)
        : undefined;
      const pile = this.chance(6) ? undefined : this.pile();
      const product = line
        ? this.#books.row(line.product)
        : pile
          ? this.#books.row(pile.product)
          : this.product();
      const isThere = pile?.product === product.id;
      return {
        productId: gid("Product", product.id),
        place: isThere && this.chance(2) ? this.placeOf(pile!) : this.place(),
        batchId:
          isThere && this.chance(2) ? this.idOf(pile!.batch) : this.chance(3) ? this.batchOf(product) : null,
        quantity: this.some(line ? this.#books.uncovered(line) : 6),
        ...(line && { orderLineItemId: gid("OrderLineItem", line.id) }),
      };
    });
    const expiresAt = this.chance(2) ? "2098-01-01T00:00:00Z" : undefined;
    await this.call("stockReserve", { lines, expiresAt });
  }
  async endPromise(): Promise<void> {
    const { facts } = this.#books;
    const one = this.one(facts.reservations, ({ open }) => open > 0 || this.chance(20));
    if (!one) return;
    const what = this.random.below(4);
    if (what === 0)
      await this.sql(
        "update erp.stock_reservation set expires_at = now() - interval '1 second' where id = $1",
        one.id,
      );
    else if (what === 1) await this.sql("select ledger.expire_reservations()");
    else
      await this.call("stockRelease", {
        lines: [
          { id: gid("StockReservation", one.id), ...(this.chance(2) && { quantity: this.some(one.open) }) },
        ],
      });
  }
  async allowBackorders(): Promise<void> {
    await this.sql(
      "update erp.product set allows_backorders = $2 where id = $1",
      this.product().id,
      this.chance(3),
    );
  }

  // Returns

  async announce(): Promise<void> {
    const { facts } = this.#books;
    const shipped = this.one(facts.lines, (line) => line.shipped > line.returned && line.product !== null);
    const line =
      shipped && !this.chance(5)
        ? {
            orderLineItemId: gid("OrderLineItem", shipped.id),
            quantity: this.some(shipped.shipped - shipped.returned),
          }
        : { productId: gid("Product", this.product().id), quantity: this.some(3) };
    const orderId = "orderLineItemId" in line ? gid("Order", shipped!.order) : undefined;
    await this.call("returnOrderCreate", { orderId, lineItems: [line], isApproved: this.chance(2) });
  }
  async decide(): Promise<void> {
    const one = this.one(this.#books.facts.returns);
    if (!one) return;
    const line = this.one(
      this.#books.facts.returnLines,
      (some) => some.return === one.id && some.line === null,
    );
    const sold =
      line && this.one(this.#books.facts.lines, (some) => some.product === line.product && some.shipped > 0);
    if (sold && this.chance(2)) {
      const lineItems = [
        { id: gid("ReturnOrderLineItem", line!.id), orderLineItemId: gid("OrderLineItem", sold.id) },
      ];
      return void (await this.call("returnOrderUpdate", {
        id: gid("ReturnOrder", one.id),
        orderId: gid("Order", sold.order),
        lineItems,
      }));
    }
    const name = this.random.oneOf([
      "Approve",
      "Approve",
      "Refuse",
      "Cancel",
      "Close",
      "Close",
      "Refund",
      "Refund",
    ]);
    await this.call(`returnOrder${name}`, {
      id: gid("ReturnOrder", one.id),
      ...(name === "Refuse" && { refusalReason: "No" }),
    });
  }
  async parcel(): Promise<void> {
    const line = this.one(this.#books.facts.returnLines, ({ product }) => product !== null);
    if (!line) return;
    const product = this.#books.row(line.product);
    const its = line.line && this.#books.row(line.line).order;
    const pile =
      its && this.one(this.#books.piles, (one) => one.place === `order:${its}` && one.product === product.id);
    const quantity = this.some(line.quantity + (this.chance(4) ? 1 : 0));
    const warehouseId = gid("Warehouse", this.warehouse().id);
    const batchId = pile ? this.idOf(pile.batch) : this.batchOf(product);
    const lineItem = {
      productId: gid("Product", product.id),
      quantity,
      batchId,
      returnOrderLineItemId: gid("ReturnOrderLineItem", line.id),
    };
    const plannedDisposalQuantity = this.chance(3) ? this.some(quantity) : 0;
    await this.call("goodsReceiptCreate", {
      type: "Customer",
      warehouseId,
      lineItems: [{ ...lineItem, plannedDisposalQuantity }],
    });
  }
  async receive(): Promise<void> {
    const { facts } = this.#books;
    const one = this.one(facts.receipts, ({ state }) => state !== "completed");
    if (!one) return;
    const id = gid("GoodsReceipt", one.id);
    if (this.chance(10)) return void (await this.call("goodsReceiptDelete", { id }));
    if (one.state === "created") return void (await this.call("goodsReceiptApprove", { id }));
    const [line] = facts.receiptLines.filter(({ receipt }) => receipt === one.id);
    if (!line || this.chance(3)) return void (await this.call("goodsReceiptComplete", { id }));
    const { rows } = await this.shop.owner.query("select warehouse_id from erp.goods_receipt where id = $1", [
      one.id,
    ]);
    const goodsReceiptLineItemId = gid("GoodsReceiptLineItem", line.id);
    const rest = line.quantity - line.disposal;
    const first = rest > 1 ? this.some(rest - 1) : rest;
    const put = (quantity: number) =>
      this.chance(5)
        ? { goodsReceiptLineItemId, quantity, outcome: "dispose" }
        : { goodsReceiptLineItemId, quantity, place: this.place(rows[0].warehouse_id) };
    const putAway = [first, rest - first].filter((units) => units > 0).map(put);
    await this.call("goodsReceiptComplete", { id, ...(putAway.length > 0 && { putAway }) });
  }

  // Counts

  async count(): Promise<void> {
    const { facts } = this.#books;
    const running = this.one(facts.stocktakes, ({ state }) => !["approved", "cancelled"].includes(state));
    if (!running) {
      const productIds = [gid("Product", this.product().id), gid("Product", this.product().id)];
      const warehouseId = gid("Warehouse", this.warehouse().id);
      await this.call("stocktakeCreate", {
        warehouseId,
        sheets: this.some(2),
        ...(this.chance(2) && { productIds: [...new Set(productIds)] }),
      });
      return;
    }
    const id = gid("Stocktake", running.id);
    const sheet = this.one(facts.sheets, (one) => one.stocktake === running.id && !one.isComplete);
    if (this.chance(12)) return void (await this.call("stocktakeCancel", { id }));
    if (!sheet || this.chance(6)) {
      const name = sheet || !this.chance(4) ? "Approve" : "Recount";
      return void (await this.call(`stocktake${name}`, { id }, this.#approver));
    }
    const lines = facts.counts
      .filter((one) => one.sheet === sheet.id && one.quantity === null && !this.chance(4))
      .map((one) => {
        const place = this.placeOf(one as { warehouse: string; bin: string | null });
        if (one.product === null) return { place, isEmpty: true };
        // Counted a while ago, and written down only now
        const then = this.chance(2) ? this.#books : (this.#earlier.at(-this.some(8)) ?? this.#books);
        const there = then.unitsAt(
          one.product,
          one.bin ? `bin_location:${one.bin}` : `warehouse:${one.warehouse}`,
          one.batch ?? "-",
        );
        const quantity = Math.max(0, there + (this.chance(3) ? this.random.below(5) - 2 : 0));
        const countedAt =
          then === this.#books || then.facts.clock[0]!.now < running.createdAt
            ? undefined
            : then.facts.clock[0]!.now;
        return {
          place,
          productId: gid("Product", one.product),
          batchId: one.batch && gid("Batch", one.batch),
          quantity,
          countedAt,
        };
      });
    await this.call("stocktakeSheetSubmit", {
      sheetId: gid("StocktakeSheet", sheet.id),
      counterName: "Ann",
      lines,
      isComplete: this.chance(2),
    });
  }

  /** Does something. What happens more often has more of the dice. */
  async act(): Promise<void> {
    const acts: [number, () => Promise<void>][] = [
      [7, () => this.order()],
      [9, () => this.reserve()],
      [4, () => this.endPromise()],
      [7, () => this.assign()],
      [8, () => this.handle()],
      [6, () => this.ship()],
      [2, () => this.cancelShipment()],
      [4, () => this.endOrReopen()],
      [2, () => this.source()],
      [5, () => this.adjust()],
      [2, () => this.set()],
      [4, () => this.transfer()],
      [3, () => this.setState()],
      [3, () => this.hold()],
      [1, () => this.keepSafety()],
      [1, () => this.openOrClose()],
      [1, () => this.replaceThings()],
      [1, () => this.allowBackorders()],
      [6, () => this.announce()],
      [5, () => this.decide()],
      [6, () => this.parcel()],
      [8, () => this.receive()],
      [7, () => this.count()],
    ];
    let left = this.random.below(sum(acts, ([weight]) => weight));
    for (const [weight, act] of acts) if ((left -= weight) < 0) return await act();
  }
}
